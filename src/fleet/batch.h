/* SPDX-License-Identifier: MIT
 *
 * batch.h: rows of one table, by column, and their bytes in ClickHouse's format Native. Rows come
 * from a trace, so texts may contain any bytes. Does no I/O.
 */
#ifndef PROBITY_FLEET_BATCH_H
#define PROBITY_FLEET_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "fleet/schema.h"

struct probity_fleet_bytes {
    uint8_t *items;
    size_t count, room;
};

/* All zero except `table`: empty. */
struct probity_fleet_batch {
    const struct probity_fleet_table *table;
    size_t rows, column; /* column: that of the next value */
    size_t bytes; /* size of all values */
    int error;    /* PROBITY_ERROR_MEMORY: some value is missing */
    struct probity_fleet_bytes columns[PROBITY_FLEET_COLUMNS_MAX];
    struct probity_fleet_bytes ends[PROBITY_FLEET_COLUMNS_MAX]; /* ends of arrays */
};

/* Add the next value of a row, in the order of the columns. probity_fleet_put(): an integer or a
 * time, of any size. */
void probity_fleet_put(struct probity_fleet_batch *batch, uint64_t value);
void probity_fleet_put_text(struct probity_fleet_batch *batch, const char *text, size_t length);
/* items: each of the size of the column's type. */
void probity_fleet_put_array(struct probity_fleet_batch *batch, const void *items, size_t count);

/* Adds a complete row of a table that has neither texts nor arrays. */
void probity_fleet_put_row(struct probity_fleet_batch *batch, const uint64_t *values);

/* Writes the rows as one block. Returns 0 or PROBITY_ERROR_MEMORY. Replaces ret_bytes, reusing its
 * memory. */
int probity_fleet_batch_encode(const struct probity_fleet_batch *batch,
                               struct probity_fleet_bytes *ret_bytes);

/* Removes the rows, but keeps the memory. */
void probity_fleet_batch_clear(struct probity_fleet_batch *batch);
void probity_fleet_batch_release(struct probity_fleet_batch *batch);

#endif
