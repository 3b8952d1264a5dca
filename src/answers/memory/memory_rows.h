/* SPDX-License-Identifier: MIT
 *
 * memory_rows.h: the rows of the answer. A row sums leaves that a user cannot distinguish, by call
 * path, by function or by call.
 */
#ifndef PROBITY_ANSWERS_MEMORY_MEMORY_ROWS_H
#define PROBITY_ANSWERS_MEMORY_MEMORY_ROWS_H

#include "answers/memory/memory.h"

enum probity_memory_by {
    PROBITY_MEMORY_BY_PATH,     /* call path, call and place */
    PROBITY_MEMORY_BY_FUNCTION, /* innermost open scope, or the symbol of the place */
    PROBITY_MEMORY_BY_CALL      /* malloc, mmap ... */
};

enum probity_memory_key {
    PROBITY_MEMORY_PEAK,
    PROBITY_MEMORY_LIVE,
    PROBITY_MEMORY_BYTES,
    PROBITY_MEMORY_ALLOCATIONS,
    PROBITY_MEMORY_FREES,
    PROBITY_MEMORY_LIFETIME, /* mean of the blocks that were freed */
    PROBITY_MEMORY_NAME,     /* only for sorting */
    PROBITY_MEMORY_KEYS
};

/* Writes the name of a place, or "" if it is unknown. */
typedef void probity_memory_namer(void *context, const struct probity_memory_leaf *leaf,
                                  char *ret_text, size_t bytes);

enum { PROBITY_MEMORY_PLACE_BYTES = 512 };

struct probity_memory_row {
    struct probity_link link;
    const struct probity_memory_leaf *leaf; /* any one of them */
    char *text;  /* text that distinguishes it from other rows */
    char *place; /* by path, or if no scope was open; else "" */
    struct probity_memory_sums sums;
};

struct probity_memory_rows {
    struct probity_memory_row **rows;
    size_t count, capacity;
    struct probity_hashtable table;
};

/* Adds the leaves to the rows, which must be all zero at first. The caller releases the rows, also
 * on failure. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_memory_rows_make(struct probity_memory_rows *rows, const struct probity_memory *memory,
                             enum probity_memory_by by, probity_memory_namer *namer,
                             void *context);

/* Removes rows without blocks that are live at the end. */
void probity_memory_rows_keep_live(struct probity_memory_rows *rows);

/* Sorts the rows, largest first, or by name. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_memory_rows_sort(struct probity_memory_rows *rows, enum probity_memory_key key);

/* Returns PROBITY_MEMORY_KEYS if the name is unknown. */
enum probity_memory_key probity_memory_key_parse(const char *name);

void probity_memory_rows_release(struct probity_memory_rows *rows);

#endif
