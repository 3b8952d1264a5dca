/* SPDX-License-Identifier: MIT
 *
 * symbol_table.h: names of functions from the symbol table (ELF) of the file that an executable or
 * a shared library was loaded from. The file is not trusted: it may have been replaced or damaged.
 */
#ifndef PROBITY_FUNCTIONS_SYMBOL_TABLE_H
#define PROBITY_FUNCTIONS_SYMBOL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/objects.h"

struct probity_symbol {
    uint64_t address, bytes; /* as linked */
    const char *name;
    const char *file; /* source of a static function, without directory; else "" */
    uint32_t rank;    /* if a function has several names, the lowest is used */
    uint32_t source;  /* an enum probity_source */
};

/* Whether a function's source file is one of those searched for. */
enum probity_source { PROBITY_SOURCE_UNKNOWN, PROBITY_SOURCE_WANTED, PROBITY_SOURCE_OTHER };

/* A file and its state, which is unchanged if nothing was written to the file. */
struct probity_file_id {
    uint64_t device, inode, bytes, changed_ns;
};

struct probity_symbol_table {
    struct probity_file_id file; /* zeros: none was read */
    struct probity_symbol *symbols; /* sorted by address; one per address */
    size_t count;
    size_t sources; /* number of symbols with a known source */
};

/* Identifies the file at the path; zeros if there is no regular one. */
struct probity_file_id probity_file_id_of(const char *path);
int probity_file_is_same(const struct probity_file_id *one, const struct probity_file_id *other);

/* Reads the symbol table, or the dynamic one if the file was stripped, of the file that the object
 * was loaded from; a file with different program headers or a different build id is a different
 * one. The result is never freed; without symbols, count is 0. Any thread, async-signal-safe;
 * preserves errno. */
void probity_symbol_table_read(const char *path, const struct probity_object *object,
                               struct probity_symbol_table *ret_table);

/* Finds a section by its name, in the file that the object was loaded from. Its address, as linked,
 * and size are not checked. Returns 0, or -1. Any thread, async-signal-safe; preserves errno. */
int probity_section_find(const char *path, const struct probity_object *object, const char *name,
                         uint64_t *ret_address, uint64_t *ret_bytes);

/* Returns the contents of a section that is not loaded with the object, such as debugging
 * information. The caller unmaps them with probity_arena_unmap(). NULL if the file has none, or it
 * is compressed. Any thread, async-signal-safe; preserves errno. */
uint8_t *probity_section_load(const char *path, const struct probity_object *object,
                              const char *name, size_t *ret_bytes);

/* Returns the symbol of the function that contains the address; NULL if there is none. */
const struct probity_symbol *probity_symbol_find(const struct probity_symbol_table *table,
                                                 uint64_t address);

#endif
