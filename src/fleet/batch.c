/* SPDX-License-Identifier: MIT
 *
 * batch.c: appends values to their columns in the form in which they are sent, so that encoding a
 * block only copies the columns.
 */
#include "fleet/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

enum { LENGTH_BYTES_MAX = 10 };

/* Returns room for `count` bytes, or NULL. */
static uint8_t *reserve(struct probity_fleet_bytes *bytes, size_t count)
{
    uint8_t *items = probity_array_fit(bytes->items, 1, bytes->count + count, &bytes->room);

    if (items == NULL)
        return NULL;
    bytes->items = items;
    bytes->count += count;
    return items + bytes->count - count;
}

static int append(struct probity_fleet_bytes *bytes, const void *items, size_t count)
{
    if (count == 0)
        return 0;
    uint8_t *at = reserve(bytes, count);

    if (at == NULL)
        return PROBITY_ERROR_MEMORY;
    memcpy(at, items, count);
    return 0;
}

/* Appends a length, seven bits per byte, lowest first (LEB128). */
static int append_length(struct probity_fleet_bytes *bytes, uint64_t length)
{
    uint8_t digits[LENGTH_BYTES_MAX];
    size_t count = 0;

    for (; length >= 0x80; length >>= 7)
        digits[count++] = (uint8_t)(length | 0x80);
    digits[count++] = (uint8_t)length;
    return append(bytes, digits, count);
}

static int append_text(struct probity_fleet_bytes *bytes, const char *text, size_t length)
{
    int error = append_length(bytes, length);

    return error == 0 ? append(bytes, text, length) : error;
}

static void advance(struct probity_fleet_batch *batch, size_t bytes, int error)
{
    batch->bytes += bytes;
    batch->error = error != 0 ? error : batch->error;
    if (++batch->column == batch->table->column_count) {
        batch->column = 0;
        batch->rows++;
    }
}

void probity_fleet_put(struct probity_fleet_batch *batch, uint64_t value)
{
    size_t bytes = probity_fleet_type_bytes(batch->table->columns[batch->column].type);

    probity_assert(bytes > 0);
    advance(batch, bytes, append(&batch->columns[batch->column], &value, bytes));
}

void probity_fleet_put_text(struct probity_fleet_batch *batch, const char *text, size_t length)
{
    probity_assert(batch->table->columns[batch->column].type == PROBITY_FLEET_TEXT);
    advance(batch, length + 1, append_text(&batch->columns[batch->column], text, length));
}

void probity_fleet_put_array(struct probity_fleet_batch *batch, const void *items, size_t count)
{
    size_t one = probity_fleet_type_bytes(batch->table->columns[batch->column].type);
    struct probity_fleet_bytes *column = &batch->columns[batch->column];
    int error = append(column, items, count * one);
    uint64_t end = column->count / one;

    if (error == 0)
        error = append(&batch->ends[batch->column], &end, sizeof end);
    advance(batch, count * one + sizeof end, error);
}

void probity_fleet_put_row(struct probity_fleet_batch *batch, const uint64_t *values)
{
    const struct probity_fleet_table *table = batch->table;

    probity_assert(batch->column == 0);
    for (size_t i = 0; i < table->column_count; i++) {
        size_t bytes = probity_fleet_type_bytes(table->columns[i].type);
        uint8_t *at = reserve(&batch->columns[i], bytes);
        if (at == NULL) {
            batch->error = PROBITY_ERROR_MEMORY;
            return;
        }
        memcpy(at, &values[i], bytes);
        batch->bytes += bytes;
    }
    batch->rows++;
}

static int append_column(const struct probity_fleet_batch *batch, size_t number,
                         struct probity_fleet_bytes *bytes)
{
    const struct probity_fleet_column *column = &batch->table->columns[number];
    const char *type = probity_fleet_type_name(column->type);
    int error = append_text(bytes, column->name, strlen(column->name));

    if (error != 0)
        return error;
    error = append_text(bytes, type, strlen(type));
    if (error != 0)
        return error;
    error = append(bytes, batch->ends[number].items, batch->ends[number].count);
    if (error != 0)
        return error;
    return append(bytes, batch->columns[number].items, batch->columns[number].count);
}

int probity_fleet_batch_encode(const struct probity_fleet_batch *batch,
                               struct probity_fleet_bytes *ret_bytes)
{
    const struct probity_fleet_table *table = batch->table;

    probity_assert(batch->column == 0);
    ret_bytes->count = 0;
    int error = append_length(ret_bytes, table->column_count);
    if (error == 0)
        error = append_length(ret_bytes, batch->rows);
    for (size_t i = 0; error == 0 && i < table->column_count; i++)
        error = append_column(batch, i, ret_bytes);
    return error;
}

void probity_fleet_batch_clear(struct probity_fleet_batch *batch)
{
    for (size_t i = 0; i < PROBITY_FLEET_COLUMNS_MAX; i++)
        batch->columns[i].count = batch->ends[i].count = 0;
    batch->rows = batch->column = batch->bytes = 0;
}

void probity_fleet_batch_release(struct probity_fleet_batch *batch)
{
    for (size_t i = 0; i < PROBITY_FLEET_COLUMNS_MAX; i++) {
        free(batch->columns[i].items);
        free(batch->ends[i].items);
    }
    *batch = (struct probity_fleet_batch){.table = batch->table};
}
