/* SPDX-License-Identifier: MIT
 *
 * elf_file.c: see elf_file.h.
 */
#include "symbols/elf_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"

/* libdwfl would decompress any other file into memory, however large. */
static int is_elf(int file)
{
    char magic[SELFMAG];

    return pread(file, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Reading a kernel file, whose size is 0, may have side effects. Returns -1 on failure. */
static int open_elf(const char *path)
{
    int file = probity_os_open_regular(AT_FDCWD, path, O_RDONLY);
    struct stat status;

    if (file >= 0 && (fstat(file, &status) != 0 || status.st_size == 0 || !is_elf(file))) {
        close(file);
        return -1;
    }
    return file;
}

/* The caller's own group may write: many systems create everything so. */
static int is_ours(const struct stat *status)
{
    mode_t others = status->st_gid == getegid() ? S_IWOTH : S_IWOTH | S_IWGRP;

    return (status->st_uid == geteuid() || status->st_uid == 0) &&
           (status->st_mode & others) == 0;
}

/* Whether only the caller, that group and root may write to the file and to its directory, where
 * files that it names are looked for. Replaces the path by the file's own, without links. */
static int is_trusted(int file, char path[PATH_MAX])
{
    char link[48];
    struct stat status;

    if (fstat(file, &status) != 0 || !is_ours(&status))
        return 0;
    snprintf(link, sizeof link, "%s/%d", probity_os_descriptors(), file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0 || path[0] != '/')
        return 0;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    *slash = '\0';
    int is = stat(slash > path ? path : "/", &status) == 0 && is_ours(&status);
    *slash = '/';
    return is;
}

void symbols_elf_file_open(const char *path, struct symbols_elf_file *ret_file)
{
    int descriptor = open_elf(path);
    char own[PATH_MAX];

    *ret_file = (struct symbols_elf_file){NULL, NULL, 0};
    if (descriptor < 0)
        return;
    ret_file->has_own = !is_trusted(descriptor, own);
    ret_file->session = symbols_begin_offline(!ret_file->has_own);
    if (ret_file->session != NULL)
        ret_file->module = dwfl_report_offline(ret_file->session, "",
                                               ret_file->has_own ? path : own, descriptor);
    if (ret_file->module == NULL)
        close(descriptor);
    else
        dwfl_report_end(ret_file->session, NULL, NULL);
}

void symbols_elf_file_close(struct symbols_elf_file *file)
{
    if (file->session != NULL)
        dwfl_end(file->session);
}

static int has_section(Elf *elf, const char *wanted)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;

    if (elf == NULL || elf_getshdrstrndx(elf, &names) != 0)
        return 1;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *name = gelf_getshdr(section, &header) != NULL
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;
        if (name != NULL && strcmp(name, wanted) == 0)
            return 1;
    }
    return 0;
}

/* Without a place for the other half, a split unit is not looked for. */
static int has_split_units(Dwarf *dwarf)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Half version;
    uint8_t kind;

    while (dwarf_get_units(dwarf, unit, &unit, &version, &kind, NULL, NULL) == 0) {
        if (kind == DW_UT_skeleton)
            return 1;
    }
    return 0;
}

Dwarf *symbols_elf_file_dwarf(const struct symbols_elf_file *file)
{
    GElf_Addr bias;

    if (file->module == NULL ||
        (file->has_own &&
         has_section(dwfl_module_getelf(file->module, &bias), ".gnu_debugaltlink")))
        return NULL;
    Dwarf *dwarf = dwfl_module_getdwarf(file->module, &bias);
    return dwarf != NULL && file->has_own && has_split_units(dwarf) ? NULL : dwarf;
}
