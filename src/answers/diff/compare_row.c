/* SPDX-License-Identifier: MIT
 *
 * compare_row.c: a row's values, the patterns that match it, and the names of verdicts.
 */
#include "answers/diff/compare_row.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>

#include "probity.h"

const char *probity_compare_verdict_name(enum probity_compare_verdict verdict,
                                         enum probity_compare_statistic statistic)
{
    static const char *const names[] = {"inconclusive", "same", "faster",
                                        "slower",       "gone", "added"};

    if (statistic == PROBITY_COMPARE_CALLS && verdict == PROBITY_COMPARE_LESS)
        return "fewer";
    if (statistic == PROBITY_COMPARE_CALLS && verdict == PROBITY_COMPARE_MORE)
        return "more";
    return names[verdict];
}

void probity_compare_row_release(struct probity_compare_row *row)
{
    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++) {
        free(row->results[i].values[0]);
        free(row->results[i].values[1]);
    }
    probity_compare_item_release(&row->item);
}

/* Until finish, result->runs is the number of runs allocated. */
int probity_compare_reserve(struct probity_compare_result *result, int side, size_t runs)
{
    if (result->runs[side] >= runs)
        return 0;
    double *values = realloc(result->values[side], runs * sizeof *values);
    if (values == NULL)
        return PROBITY_ERROR_MEMORY;
    result->values[side] = values;
    while (result->runs[side] < runs)
        values[result->runs[side]++] = NAN;
    return 0;
}

int probity_compare_is_like(const struct probity_compare_row *row, const char *pattern)
{
    return fnmatch(pattern, row->item.name, 0) == 0 ||
           fnmatch(pattern, row->item.signature, 0) == 0;
}

int probity_compare_is_like_any(const struct probity_compare_row *row, const char *const *patterns)
{
    for (; *patterns != NULL; patterns++) {
        if (probity_compare_is_like(row, *patterns))
            return 1;
    }
    return 0;
}

int probity_compare_exists(enum probity_compare_kind kind, int statistic)
{
    return kind == PROBITY_COMPARE_FUNCTION ||
           (statistic != PROBITY_COMPARE_SELF &&
            (kind == PROBITY_COMPARE_BLOCK || statistic != PROBITY_COMPARE_CPU));
}
