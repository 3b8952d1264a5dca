/* SPDX-License-Identifier: MIT
 *
 * debug_files.h: decides which other files libdwfl and libdw may open because an ELF file names
 * them: separate and shared debugging information. (Split units are never looked for: object.c.)
 * They open these like any other, even pipes, on which a command would wait forever, and devices.
 * So such a file is used only if nobody but the caller, the caller's group and root can have put it
 * there: it is a regular file that belongs to the caller or root, as does its directory, and nobody
 * but the caller's group may write to either. Supplementary groups do not count: they may have many
 * members. A missing file is harmless if nobody else can create it.
 */
#ifndef PROBITY_SYMBOLS_DEBUG_FILES_H
#define PROBITY_SYMBOLS_DEBUG_FILES_H

#include <limits.h>

#include "symbols/elfutils.h"

struct symbols_debug_files {
    char path[PATH_MAX];     /* of the ELF file; without links if it is trusted */
    int is_trusted;          /* it may name files; otherwise only those of root are used, which are
                              * found by its build id in /usr/lib/debug */
    int is_refused;          /* a file that is named may not be opened */
    char why[PATH_MAX + 64]; /* the reason, a clause */
};

/* An opened ELF file. path: as it was opened. */
void symbols_debug_files_init(struct symbols_debug_files *files, const char *path, int descriptor);

/* For Dwfl_Callbacks; *data is a struct symbols_debug_files. */
int symbols_debug_files_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                             const char *file, const char *link, GElf_Word checksum,
                             char **ret_file);

#endif
