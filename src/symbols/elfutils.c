/* SPDX-License-Identifier: MIT
 *
 * elfutils.c: see elfutils.h.
 */
#include "symbols/elfutils.h"

#include "symbols/debug_files.h"

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

static int section_address(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                           const char *section, GElf_Word index, const GElf_Shdr *header,
                           Dwarf_Addr *ret_address)
{
    return dwfl_offline_section_address(module, data, name, base, section, index, header,
                                        ret_address);
}

Dwfl *symbols_begin_offline(void)
{
    static char places[] = ":.debug:/usr/lib/debug", *path = places; /* see debug_files.c */
    static const Dwfl_Callbacks callbacks = {.find_debuginfo = symbols_debug_files_find,
                                             .section_address = section_address,
                                             .debuginfo_path = &path};

    return dwarf_load() == 0 ? dwfl_begin(&callbacks) : NULL;
}
