/* SPDX-License-Identifier: MIT
 *
 * compare_table.h: the rows of a comparison, which are found by the properties that identify a
 * function, block or kind of request across runs.
 */
#ifndef PROBITY_ANSWERS_DIFF_COMPARE_TABLE_H
#define PROBITY_ANSWERS_DIFF_COMPARE_TABLE_H

#include "answers/diff/compare_row.h"

struct probity_compare_table {
    void *tree; /* tsearch() tree by name; `all` owns the rows */
    struct probity_compare_row **all;
    size_t count, room;
    size_t block_count; /* how many of the rows are blocks */
};

/* Finds or adds a row, which takes ownership of the item's texts. Returns NULL if out of memory. */
struct probity_compare_row *probity_compare_table_at(struct probity_compare_table *table,
                                                     struct probity_compare_item *item);

/* Removes a row from the tree and frees it. */
void probity_compare_table_forget(struct probity_compare_table *table,
                                  struct probity_compare_row *row);

/* Removes all rows from the tree, without freeing them. */
void probity_compare_table_unlink(struct probity_compare_table *table);

/* Frees the table and all its rows. */
void probity_compare_table_release(struct probity_compare_table *table);

#endif
