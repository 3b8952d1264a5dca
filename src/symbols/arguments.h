/* SPDX-License-Identifier: MIT
 *
 * arguments.h: describes arguments and results of functions, from the DWARF of the executables and
 * shared libraries that contain them, for `probity record --args`. Only for the machine
 * that the tool runs on.
 */
#ifndef PROBITY_SYMBOLS_ARGUMENTS_H
#define PROBITY_SYMBOLS_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

struct symbols_arguments;

/* Selects functions by rules in the syntax of probity-functions(7); NULL: none. is_any: also
 * selects functions of a file that does not seem to have hooks. */
struct symbols_wanted {
    const char *arguments, *results;
    int is_any;
};

struct symbols_found {
    uint32_t functions;      /* functions that match */
    uint32_t described;      /* matching functions that DWARF describes and that have values */
    uint32_t undescribed;    /* matching functions without DWARF */
    int is_unused;           /* the file has DWARF that may not be used (elf_file.h) */
    int is_readable;         /* 0: not an executable or shared library of this machine */
};

/* Returns NULL if out of memory. */
struct symbols_arguments *symbols_arguments_new(void);

/* Adds the functions of one file. */
void symbols_arguments_add(struct symbols_arguments *arguments, const char *path,
                           const struct symbols_wanted *wanted, struct symbols_found *ret_found);

/* malloc'ed; NULL if out of memory or if there are too many functions. */
uint8_t *symbols_arguments_bytes(const struct symbols_arguments *arguments, size_t *ret_bytes);

void symbols_arguments_release(struct symbols_arguments *arguments);

#endif
