/* SPDX-License-Identifier: MIT
 *
 * compare_sort.c: sorts the rows.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/row_sort.h"
#include "answers/diff/compare_set.h"

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
        int is_reported = verdict == PROBITY_COMPARE_LESS || verdict == PROBITY_COMPARE_MORE;
        if (probity_compare_is_chosen(compare, row->item.kind, i) && is_reported &&
            change > largest) largest = change;
    }
    return largest;
}

static double order_value(const struct probity_compare *compare,
                          const struct probity_compare_row *row, int order)
{
    int own = row->item.kind == PROBITY_COMPARE_FUNCTION ? PROBITY_COMPARE_SELF
                                                         : PROBITY_COMPARE_TOTAL;
    const double *time = row->results[own].median;

    if (order == PROBITY_COMPARE_BY_IMPACT)
        return fabs(known(time[PROBITY_COMPARE_NEW]) - known(time[PROBITY_COMPARE_BASE]));
    if (order == PROBITY_COMPARE_BY_CHANGE)
        return change_of(compare, row);
    if (order >= PROBITY_COMPARE_STATISTICS)
        return 0;
    const double *median = row->results[order].median;
    return fmax(known(median[PROBITY_COMPARE_NEW]), known(median[PROBITY_COMPARE_BASE]));
}

int probity_compare_sort(struct probity_compare *compare, int order)
{
    struct probity_row_sort_item *items = calloc(compare->row_count + 1, sizeof *items);

    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < compare->row_count; i++)
        items[i] = (struct probity_row_sort_item){order_value(compare, &compare->rows[i], order),
                                                  compare->rows[i].item.name, i};
    probity_row_sort(items, compare->row_count);
    int error =
        probity_row_sort_arrange(compare->rows, sizeof *compare->rows, items, compare->row_count);
    free(items);
    return error;
}
