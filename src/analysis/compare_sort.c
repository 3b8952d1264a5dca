/* SPDX-License-Identifier: MIT
 *
 * compare_sort.c: the order of the rows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare_set.h"

struct sort_item {
    double value;
    const char *name;
    size_t place;
};

static int compare_items(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;

    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

static double known(double value)
{
    return isnan(value) ? 0 : value;
}

static double change_of(const struct probity_compare *compare,
                        const struct probity_compare_row *row)
{
    double largest = -1;

    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++) {
        enum probity_compare_verdict verdict = row->results[i].verdict;
        double change = fabs(log(row->results[i].ratio));
        int is_told = verdict == PROBITY_COMPARE_LESS || verdict == PROBITY_COMPARE_MORE;
        if (probity_compare_is_chosen(compare, i) && is_told && change > largest)
            largest = change;
    }
    return largest;
}

static double order_value(const struct probity_compare *compare,
                          const struct probity_compare_row *row, int order)
{
    const double *self = row->results[PROBITY_COMPARE_SELF].median;

    if (order == PROBITY_COMPARE_BY_IMPACT)
        return fabs(known(self[PROBITY_COMPARE_NEW]) - known(self[PROBITY_COMPARE_BASE]));
    if (order == PROBITY_COMPARE_BY_CHANGE)
        return change_of(compare, row);
    if (order >= PROBITY_COMPARE_STATISTICS)
        return 0;
    const double *median = row->results[order].median;
    return fmax(known(median[PROBITY_COMPARE_NEW]), known(median[PROBITY_COMPARE_BASE]));
}

/* Without memory the rows stay as they are. */
void probity_compare_sort(struct probity_compare *compare, int order)
{
    struct sort_item *items = calloc(compare->row_count + 1, sizeof *items);
    struct probity_compare_row *sorted = calloc(compare->row_count + 1, sizeof *sorted);

    if (items != NULL && sorted != NULL) {
        for (size_t i = 0; i < compare->row_count; i++)
            items[i] = (struct sort_item){order_value(compare, &compare->rows[i], order),
                                          compare->rows[i].name, i};
        qsort(items, compare->row_count, sizeof *items, compare_items);
        for (size_t i = 0; i < compare->row_count; i++)
            sorted[i] = compare->rows[items[i].place];
        memcpy(compare->rows, sorted, compare->row_count * sizeof *sorted);
    }
    free(items);
    free(sorted);
}
