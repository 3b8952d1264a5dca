/* SPDX-License-Identifier: MIT
 *
 * object.h: the functions that the DWARF of one program or library describes, by name.
 */
#ifndef PROBITY_SYMBOLS_OBJECT_H
#define PROBITY_SYMBOLS_OBJECT_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stddef.h>

struct symbols_entry {
    const char *name; /* in the file's mapping */
    Dwarf_Off offset;
};

struct symbols_object {
    char *path;
    Dwfl *session; /* NULL: nothing is known of it */
    Dwarf *dwarf;
    struct symbols_entry *entries; /* sorted by name */
    size_t count, capacity;
    int is_short; /* not all are in the index, for want of memory */
    struct symbols_object *next;
};

/* Opens what is at path. Returns NULL without memory; where there is no such file or no DWARF, an
 * object without functions. */
struct symbols_object *symbols_object_open(const char *path);

/* The function of this name that is declared in a file of this last name, nearest above line.
 * Returns 1 or 0. */
int symbols_object_find(const struct symbols_object *object, const char *name, const char *file,
                        int line, Dwarf_Die *ret_function);

void symbols_object_close(struct symbols_object *object);

#endif
