/* SPDX-License-Identifier: MIT
 *
 * order.h: the order of an answer's rows: by value, largest first, then by name. Values are worked
 * out once for each row, before the sort. Knows nothing of traces.
 */
#ifndef PROBITY_ANALYSIS_ORDER_H
#define PROBITY_ANALYSIS_ORDER_H

#include <stddef.h>

struct probity_order_item {
    double value;
    const char *name;
    size_t place; /* of the row, before */
};

/* Rows of equal value and name stay in the order of their places. */
void probity_order_sort(struct probity_order_item *items, size_t count);

/* Moves elements of so many bytes to where sorted items want them. Without memory they stay as they
 * are. */
void probity_order_arrange(void *elements, size_t bytes, const struct probity_order_item *items,
                           size_t count);

#endif
