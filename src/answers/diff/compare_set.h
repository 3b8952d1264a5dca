/* SPDX-License-Identifier: MIT
 *
 * compare_set.h: internal to the implementation files of compare.h.
 */
#ifndef PROBITY_ANSWERS_DIFF_COMPARE_SET_H
#define PROBITY_ANSWERS_DIFF_COMPARE_SET_H

#include "analysis/statistics.h"
#include "answers/diff/compare.h"
#include "answers/diff/compare_bound.h"

struct probity_compare {
    struct probity_compare_options options;
    struct probity_compare_run *runs[PROBITY_COMPARE_SIDES]; /* without their items */
    size_t side_counts[PROBITY_COMPARE_SIDES];
    /* The first difference within each side and between the sides. */
    struct probity_compare_difference differences[3 * PROBITY_COMPARE_ENVIRONMENTS];
    size_t difference_count;
    struct probity_compare_table all; /* all rows, until finish */
    struct probity_compare_left left;
    size_t without_requests; /* number of runs whose requests are unknown */
    size_t requests_left;
    struct probity_compare_row *rows; /* set by finish: the matching rows, in order */
    size_t row_count;
    size_t tests, limit_tests;
    struct probity_rank_null null;
};

/* Part of finish: makes arrays of the runs and of the requested rows. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_compare_collect(struct probity_compare *compare);

#endif
