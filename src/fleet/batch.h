/* SPDX-License-Identifier: MIT
 *
 * batch.h: rows of one table, by column, and their bytes in ClickHouse's format Native. Rows come
 * from a trace, so texts may have any bytes. Does no I/O.
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

/* All zero but `table`: empty. */
struct probity_fleet_batch {
    const struct probity_fleet_table *table;
    size_t rows, column; /* column: index of the next value's column */
    size_t bytes; /* of all values */
    int error;    /* PROBITY_ERROR_MEMORY: some value was not added */
    struct probity_fleet_bytes columns[PROBITY_FLEET_COLUMNS_MAX];
    struct probity_fleet_bytes ends[PROBITY_FLEET_COLUMNS_MAX]; /* of arrays */
};

/* Add the next value of a row, in the order of the columns. An integer or a time, of any size: */
void probity_fleet_put(struct probity_fleet_batch *batch, uint64_t value);
void probity_fleet_put_text(struct probity_fleet_batch *batch, const char *text, size_t length);
/* items: each has the size of the column's type. */
void probity_fleet_put_array(struct probity_fleet_batch *batch, const void *items, size_t count);

/* Adds a whole row of a table that has neither texts nor arrays. */
void probity_fleet_put_row(struct probity_fleet_batch *batch, const uint64_t *values);

/* Writes the rows as one block. Returns 0 or PROBITY_ERROR_MEMORY. ret_bytes is replaced, and its
 * memory is kept. */
int probity_fleet_batch_encode(const struct probity_fleet_batch *batch,
                               struct probity_fleet_bytes *ret_bytes);

/* Removes the rows and keeps the memory. */
void probity_fleet_batch_clear(struct probity_fleet_batch *batch);
void probity_fleet_batch_release(struct probity_fleet_batch *batch);

#endif
