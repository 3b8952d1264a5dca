/* SPDX-License-Identifier: MIT
 *
 * compare_set.h: what the files of compare.h share, and nobody else sees.
 */
#ifndef PROBITY_ANALYSIS_COMPARE_SET_H
#define PROBITY_ANALYSIS_COMPARE_SET_H

#include "analysis/compare.h"
#include "analysis/statistics.h"

enum { PROBITY_COMPARE_ENVIRONMENTS = 9 };

struct probity_compare_run_item {
    struct probity_compare_run run;
    int side;
    char *environment[PROBITY_COMPARE_ENVIRONMENTS];
};

struct probity_compare {
    struct probity_compare_options options;
    struct probity_compare_run_item *runs; /* in the order of adding */
    size_t run_count;
    size_t side_counts[PROBITY_COMPARE_SIDES];
    struct probity_compare_run *side_runs[PROBITY_COMPARE_SIDES]; /* of finish */
    struct probity_compare_difference differences[PROBITY_COMPARE_ENVIRONMENTS];
    size_t difference_count;
    void *tree; /* of tsearch(): rows by name; they belong to `all` */
    struct probity_compare_row **all;
    size_t row_count, row_room;
    struct probity_compare_row *rows; /* of finish: those that match, in order */
    size_t tests, limit_tests;
    struct probity_rank_null null;
};

static inline int probity_compare_is_chosen(const struct probity_compare *compare, int statistic)
{
    unsigned chosen = compare->options.statistics;

    return chosen == 0 || (chosen >> statistic & 1) != 0;
}

/* How far a value of one run may be off. More runs do not help: all may be off alike. */
static inline double probity_compare_error_of(const struct probity_compare *compare, int statistic)
{
    int is_quantile = statistic == PROBITY_COMPARE_MEDIAN || statistic == PROBITY_COMPARE_P99;

    return is_quantile ? compare->options.quantile_error : 0;
}

/* Room for the side's runs; those that did not have the row have no value. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_compare_reserve(struct probity_compare_result *result, int side, size_t runs);

/* For finish: makes arrays of runs and rows, leaving out rows that were not asked for. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_compare_collect(struct probity_compare *compare);

#endif
