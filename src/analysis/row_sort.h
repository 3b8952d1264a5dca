/* SPDX-License-Identifier: MIT
 *
 * row_sort.h: sorts the rows of an answer by value, largest first, then by name. Values are
 * computed once per row, before the sort. Independent of traces.
 */
#ifndef PROBITY_ANALYSIS_ROW_SORT_H
#define PROBITY_ANALYSIS_ROW_SORT_H

#include <stddef.h>

struct probity_row_sort_item {
    double value;
    const char *name;
    size_t place; /* original index of the row */
};

/* Rows with equal value and name keep their order. */
void probity_row_sort(struct probity_row_sort_item *items, size_t count);

/* Moves elements of `bytes` bytes into the order of the sorted items. If out of memory, they are
 * not moved. */
void probity_row_sort_arrange(void *elements, size_t bytes,
                              const struct probity_row_sort_item *items, size_t count);

#endif
