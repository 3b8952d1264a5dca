/* SPDX-License-Identifier: MIT
 *
 * compare_row.h: one function, span or kind of request in a comparison, with its values in all runs
 * of both sides and, after the tests, its results.
 */
#ifndef PROBITY_ANSWERS_DIFF_COMPARE_ROW_H
#define PROBITY_ANSWERS_DIFF_COMPARE_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "answers/diff/compare_run.h"

enum { PROBITY_COMPARE_BASE, PROBITY_COMPARE_NEW, PROBITY_COMPARE_SIDES };

enum probity_compare_verdict {
    PROBITY_COMPARE_UNKNOWN, /* inconclusive */
    PROBITY_COMPARE_SAME,    /* the interval is within the tolerance */
    PROBITY_COMPARE_LESS,    /* significant: faster, or fewer calls */
    PROBITY_COMPARE_MORE,
    PROBITY_COMPARE_GONE,    /* absent from all runs of the new side */
    PROBITY_COMPARE_ADDED    /* absent from all runs of the base side */
};

/* Returns "inconclusive", "same", "faster", ..., or for calls "fewer" and "more". */
const char *probity_compare_verdict_name(enum probity_compare_verdict verdict,
                                         enum probity_compare_statistic statistic);

/* One statistic of one row. Ratios are new over base. */
struct probity_compare_result {
    double *values[PROBITY_COMPARE_SIDES]; /* by run; NAN if the run has no value */
    size_t runs[PROBITY_COMPARE_SIDES];    /* number of runs with a value */
    double median[PROBITY_COMPARE_SIDES];  /* over the runs; NAN if there are none */
    double ratio, low, high;               /* ratio: NAN if a side has no run */
    int has_interval;
    int is_tested;     /* 0: all runs are equal, or no test was requested */
    double p;          /* of the two-sided rank-sum test */
    double p_adjusted; /* adjusted for the number of tests */
    size_t runs_needed;
    enum probity_compare_verdict verdict;
};

struct probity_compare_row {
    struct probity_compare_item item; /* from the newest run, without its values */
    double quantile_error; /* maximum relative error of ratios of medians and p99 */
    struct probity_compare_result results[PROBITY_COMPARE_STATISTICS];
    uint32_t exceeds;  /* bit i: limit i is exceeded significantly */
};

/* Whether a row matches a pattern, or one in a NULL-terminated list. */
int probity_compare_is_like(const struct probity_compare_row *row, const char *pattern);
int probity_compare_is_like_any(const struct probity_compare_row *row, const char *const *patterns);

/* Whether rows of this kind have this statistic. */
int probity_compare_exists(enum probity_compare_kind kind, int statistic);

/* Maximum relative error of the ratio of two runs' values. More runs do not reduce it, because all
 * may be off in the same direction. */
static inline double probity_compare_error_of(const struct probity_compare_row *row, int statistic)
{
    int is_quantile = statistic == PROBITY_COMPARE_MEDIAN || statistic == PROBITY_COMPARE_P99;

    return is_quantile ? row->quantile_error : 0;
}

/* Makes room for more runs of a side; runs without the row have no value. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_compare_reserve(struct probity_compare_result *result, int side, size_t runs);

/* Frees its contents. */
void probity_compare_row_release(struct probity_compare_row *row);

#endif
