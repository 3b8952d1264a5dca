/* SPDX-License-Identifier: MIT
 *
 * elfutils.c: see elfutils.h.
 */
#include "symbols/elfutils.h"

#ifdef PROBITY_WITHOUT_DLOPEN

static int dwarf_load(void)
{
    return 0;
}

#else

struct symbols_elf symbols_elf;
struct symbols_dwarf symbols_dwarf;

int symbols_elf_load(void)
{
    static const char *const names[] = {SYMBOLS_ELF_FUNCTIONS(PROBITY_LIBRARY_NAME)};
    static struct probity_library library = {.file = "libelf.so.1", .project = "elfutils",
                                             .names = names, .count = sizeof names / sizeof *names,
                                             .functions = &symbols_elf};
    _Static_assert(sizeof names == sizeof symbols_elf, "a pointer for each name");

    return probity_library_load(&library);
}

static int dwarf_load(void)
{
    static const char *const names[] = {SYMBOLS_DWARF_FUNCTIONS(PROBITY_LIBRARY_NAME)};
    static struct probity_library library = {.file = "libdw.so.1", .project = "elfutils",
                                             .names = names, .count = sizeof names / sizeof *names,
                                             .functions = &symbols_dwarf};
    _Static_assert(sizeof names == sizeof symbols_dwarf, "a pointer for each name");

    return symbols_elf_load() == 0 ? probity_library_load(&library) : -1;
}

#endif

static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word checksum, char **ret_file)
{
    return dwfl_standard_find_debuginfo(module, data, name, base, file, link, checksum, ret_file);
}

/* Looks for nothing. */
static int find_none(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                     const char *file, const char *link, GElf_Word checksum, char **ret_file)
{
    (void)module;
    (void)data;
    (void)name;
    (void)base;
    (void)file;
    (void)link;
    (void)checksum;
    *ret_file = NULL;
    return -1;
}

static int section_address(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                           const char *section, GElf_Word index, const GElf_Shdr *header,
                           Dwarf_Addr *ret_address)
{
    return dwfl_offline_section_address(module, data, name, base, section, index, header,
                                        ret_address);
}

Dwfl *symbols_begin_offline(int finds_others)
{
    static const Dwfl_Callbacks alone = {.find_debuginfo = find_none,
                                         .section_address = section_address};
    static const Dwfl_Callbacks others = {.find_debuginfo = find_debuginfo,
                                          .section_address = section_address};

    return dwarf_load() == 0 ? dwfl_begin(finds_others ? &others : &alone) : NULL;
}
