/* SPDX-License-Identifier: MIT
 *
 * compare_table.c: the table of rows. Functions are matched by properties that survive changes and
 * builds elsewhere: name, signature, and file without its directory, but not line. Blocks and
 * requests are matched by the numbers of their probes or the names of their sites.
 */
#include "answers/diff/compare_table.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "probity.h"

static int compare_keys(const void *left, const void *right)
{
    const struct probity_compare_item *a = &((const struct probity_compare_row *)left)->item;
    const struct probity_compare_item *b = &((const struct probity_compare_row *)right)->item;
    int order = a->kind < b->kind ? -1 : a->kind > b->kind;

    order = order != 0 ? order : strcmp(a->name, b->name);
    if (a->kind == PROBITY_COMPARE_FUNCTION)
        order = order != 0 ? order : strcmp(a->signature, b->signature);
    order = order != 0 ? order : strcmp(a->file, b->file);
    order = order != 0 ? order : strcmp(a->object, b->object);
    return order != 0 ? order : a->instance < b->instance ? -1 : a->instance > b->instance;
}

static int reserve_row(struct probity_compare_table *table)
{
    void *all = probity_array_room(table->all, sizeof *table->all, table->count, &table->room);

    if (all == NULL)
        return PROBITY_ERROR_MEMORY;
    table->all = all;
    return 0;
}

struct probity_compare_row *probity_compare_table_at(struct probity_compare_table *table,
                                                     struct probity_compare_item *item)
{
    const struct probity_compare_row key = {.item = *item};
    struct probity_compare_row **found = tfind(&key, &table->tree, compare_keys);

    if (found != NULL)
        return *found;
    struct probity_compare_row *row = reserve_row(table) == 0 ? calloc(1, sizeof *row) : NULL;
    if (row == NULL)
        return NULL;
    row->item = *item;
    if (tsearch(row, &table->tree, compare_keys) == NULL) {
        free(row);
        return NULL;
    }
    item->name = item->signature = item->file = item->object = NULL;
    table->all[table->count++] = row;
    table->block_count += row->item.kind == PROBITY_COMPARE_BLOCK;
    return row;
}

void probity_compare_table_forget(struct probity_compare_table *table,
                                  struct probity_compare_row *row)
{
    tdelete(row, &table->tree, compare_keys);
    probity_compare_row_release(row);
    free(row);
}

void probity_compare_table_unlink(struct probity_compare_table *table)
{
    while (table->tree != NULL)
        tdelete(*(struct probity_compare_row **)table->tree, &table->tree, compare_keys);
}

void probity_compare_table_release(struct probity_compare_table *table)
{
    probity_compare_table_unlink(table);
    for (size_t i = 0; i < table->count; i++) {
        probity_compare_row_release(table->all[i]);
        free(table->all[i]);
    }
    free(table->all);
}
