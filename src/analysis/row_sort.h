/* SPDX-License-Identifier: MIT
 *
 * row_sort.h: sorts an answer's rows by value, largest first, then by name. Values are computed
 * once per row, before sorting. Independent of traces.
 */
#ifndef PROBITY_ANALYSIS_ROW_SORT_H
#define PROBITY_ANALYSIS_ROW_SORT_H

#include <stddef.h>

struct probity_row_sort_item {
    double value;
    const char *name;
    size_t place; /* the row's original index */
};

/* Rows with equal values and names keep their order. */
void probity_row_sort(struct probity_row_sort_item *items, size_t count);

/* Arranges elements of size `bytes` in the order of the sorted items. Returns 0, or
 * PROBITY_ERROR_MEMORY with the elements unchanged. */
int probity_row_sort_arrange(void *elements, size_t bytes,
                             const struct probity_row_sort_item *items, size_t count);

#endif
