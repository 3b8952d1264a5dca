/* SPDX-License-Identifier: MIT
 *
 * elf_file.h: opens a file with libdwfl. Its name and contents may be hostile, and libdwfl and
 * libdw open the files that it names (separate and shared debugging information, split units) like
 * any other, even pipes and devices. So these are used only if nobody else can have written the
 * file; otherwise debugging information counts only if it is complete in the file itself.
 */
#ifndef PROBITY_SYMBOLS_ELF_FILE_H
#define PROBITY_SYMBOLS_ELF_FILE_H

#include "symbols/elfutils.h"

struct symbols_elf_file {
    Dwfl *session; /* NULL: there is nothing to close */
    Dwfl_Module *module; /* NULL: the file cannot be used */
    int has_own; /* only debugging information in the file itself may be used */
};

/* Opens a regular, uncompressed ELF file. */
void symbols_elf_file_open(const char *path, struct symbols_elf_file *ret_file);
void symbols_elf_file_close(struct symbols_elf_file *file);

/* The debugging information, or NULL if there is none that may be used. Then call no other function
 * that looks for some. */
Dwarf *symbols_elf_file_dwarf(const struct symbols_elf_file *file);

#endif
