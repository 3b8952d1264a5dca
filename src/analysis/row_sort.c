/* SPDX-License-Identifier: MIT
 *
 * row_sort.c: sorts small items, then moves each row once.
 */
#include "analysis/row_sort.h"

#include <stdlib.h>
#include <string.h>

#include "probity.h"

static int compare_items(const void *left, const void *right)
{
    const struct probity_row_sort_item *a = left, *b = right;

    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

void probity_row_sort(struct probity_row_sort_item *items, size_t count)
{
    if (count > 1)
        qsort(items, count, sizeof *items, compare_items);
}

int probity_row_sort_arrange(void *elements, size_t bytes,
                             const struct probity_row_sort_item *items, size_t count)
{
    char *from = elements, *copy = count > 0 ? malloc(count * bytes) : NULL;

    if (copy == NULL)
        return count > 0 ? PROBITY_ERROR_MEMORY : 0;
    for (size_t i = 0; i < count; i++)
        memcpy(copy + i * bytes, from + items[i].place * bytes, bytes);
    memcpy(elements, copy, count * bytes);
    free(copy);
    return 0;
}
