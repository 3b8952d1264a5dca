/* SPDX-License-Identifier: MIT
 *
 * elf_file.h: opens a file with libdwfl. Its name and contents may be hostile; debug_files.h
 * decides which of the files that it names are opened.
 */
#ifndef PROBITY_SYMBOLS_ELF_FILE_H
#define PROBITY_SYMBOLS_ELF_FILE_H

#include "symbols/debug_files.h"
#include "symbols/elfutils.h"

struct symbols_elf_file {
    Dwfl *session; /* NULL: there is nothing to close */
    Dwfl_Module *module; /* NULL: the file cannot be used */
    struct symbols_debug_files *files;
    int is_unused; /* it has debugging information that may not be used */
};

/* Opens a regular, uncompressed ELF file. */
void symbols_elf_file_open(const char *path, struct symbols_elf_file *ret_file);
void symbols_elf_file_close(struct symbols_elf_file *file);

/* The debugging information, or NULL if there is none that may be used. Call this before any other
 * function that looks for debugging information; if it returns NULL, call none of them. */
Dwarf *symbols_elf_file_dwarf(struct symbols_elf_file *file);

#endif
