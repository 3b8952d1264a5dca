/* SPDX-License-Identifier: MIT
 *
 * object.h: the functions described by the DWARF of one program or library, by name and by address.
 */
#ifndef PROBITY_SYMBOLS_OBJECT_H
#define PROBITY_SYMBOLS_OBJECT_H

#include <stddef.h>

#include "symbols/elf_file.h"

struct symbols_entry {
    const char *name; /* points into the mapped file */
    Dwarf_Off offset;
};

struct symbols_address {
    Dwarf_Addr low; /* address of the function's first instruction, as linked */
    Dwarf_Off offset;
};

struct symbols_object {
    char *path;
    struct symbols_elf_file file;
    Dwarf *dwarf; /* NULL: none that may be used */
    struct symbols_entry *entries; /* sorted by name */
    size_t count, capacity;
    struct symbols_address *addresses; /* the first call of symbols_object_at() sorts them */
    size_t address_count, address_capacity;
    int is_sorted;
    int is_short; /* the index is incomplete: out of memory */
    struct symbols_object *next;
};

/* Opens the file at path. Without such a file, or without DWARF, returns an object without
 * functions. Returns NULL if out of memory. */
struct symbols_object *symbols_object_open(const char *path);

/* Finds the function with this name that is declared in a file with the same last path component,
 * nearest above line. Returns 1 or 0. */
int symbols_object_find(const struct symbols_object *object, const char *name, const char *file,
                        int line, Dwarf_Die *ret_function);

/* Finds the function whose code begins at an address, as linked. Returns 1 or 0. */
int symbols_object_at(struct symbols_object *object, Dwarf_Addr address, Dwarf_Die *ret_function);

/* Returns the source file of a function, or NULL. */
const char *symbols_file_of(Dwarf_Die *function);

void symbols_object_close(struct symbols_object *object);

/* Writes a function's C prototype, such as "int SetRect(struct rect *rect, int left)", to ret_text,
 * truncated to `room` bytes including the terminating zero. DWARF may be damaged: types nested too
 * deeply are shown as "...". */
void symbols_prototype(Dwarf_Die *function, char *ret_text, size_t room);

#endif
