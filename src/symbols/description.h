/* SPDX-License-Identifier: MIT
 *
 * description.h: makes the bytes of a description of arguments (doc/arguments.md), table by table.
 * Returns no bytes if it ever ran out of memory.
 */
#ifndef PROBITY_SYMBOLS_DESCRIPTION_H
#define PROBITY_SYMBOLS_DESCRIPTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/arguments.h"

struct symbols_table {
    uint8_t *bytes;
    size_t used, room;
};

struct symbols_description {
    struct symbols_table objects, functions, values, enumerators, texts;
    int is_short; /* ran out of memory */
};

void symbols_table_add(struct symbols_description *description, struct symbols_table *table,
                       const void *bytes, size_t count);

/* Returns the number of the text in the description. */
uint32_t symbols_description_text(struct symbols_description *description, const char *text);

static inline uint32_t symbols_description_count(const struct symbols_table *table,
                                                 size_t item_bytes)
{
    return (uint32_t)(table->used / item_bytes);
}

/* malloc'ed; NULL if out of memory, or if the description is larger than the library accepts. */
uint8_t *symbols_description_bytes(const struct symbols_description *description,
                                   size_t *ret_bytes);

void symbols_description_release(struct symbols_description *description);

#endif
