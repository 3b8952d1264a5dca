/* SPDX-License-Identifier: MIT
 *
 * debug_files.h: decides which other files libdwfl and libdw may open because an ELF file names
 * them: separate and shared debugging information. (Split units are never looked for: object.c.)
 * They open these like any other, even pipes, on which a command would wait forever, and devices.
 * So such a file is used only if nobody but the caller, the caller's group and root can have put it
 * there: it is a regular file that belongs to the caller or root, as do its directory and that of
 * each symbolic link through which it is opened, and nobody but the caller's group may write to
 * these. Supplementary groups do not count: they may have many members. A missing file is harmless
 * if nobody else can create it.
 */
#ifndef PROBITY_SYMBOLS_DEBUG_FILES_H
#define PROBITY_SYMBOLS_DEBUG_FILES_H

#include <limits.h>

#include "symbols/elfutils.h"

struct symbols_debug_files {
    char path[PATH_MAX];     /* path of the ELF file; without links if it is trusted */
    int is_trusted;          /* files that it names may be used; otherwise, only root's files in
                              * /usr/lib/debug, found by its build id */
    int is_refused;          /* a file that it names may not be opened */
    char why[PATH_MAX + 64]; /* the reason, as a clause for the end of a message */
};

/* An opened ELF file. path: the one with which it was opened. */
void symbols_debug_files_init(struct symbols_debug_files *files, const char *path, int descriptor);

/* For Dwfl_Callbacks; *data is a struct symbols_debug_files. */
int symbols_debug_files_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                             const char *file, const char *link, GElf_Word checksum,
                             char **ret_file);

#endif
