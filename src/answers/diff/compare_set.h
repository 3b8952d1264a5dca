/* SPDX-License-Identifier: MIT
 *
 * compare_set.h: internal to the implementation files of compare.h.
 */
#ifndef PROBITY_ANSWERS_DIFF_COMPARE_SET_H
#define PROBITY_ANSWERS_DIFF_COMPARE_SET_H

#include "analysis/statistics.h"
#include "answers/diff/compare.h"

/* The blocks left out, as a set of hashes of their keys. */
struct probity_compare_left {
    uint64_t *hashes; /* open addressing, at most half full; 0: free */
    size_t count, room;
};

struct probity_compare {
    struct probity_compare_options options;
    struct probity_compare_run *runs[PROBITY_COMPARE_SIDES]; /* without items */
    size_t side_counts[PROBITY_COMPARE_SIDES];
    /* The first difference within each side, and between them. */
    struct probity_compare_difference differences[3 * PROBITY_COMPARE_ENVIRONMENTS];
    size_t difference_count;
    void *tree; /* tsearch() tree by name; `all` owns the rows */
    struct probity_compare_row **all;
    size_t row_count, row_room;
    size_t block_count; /* how many of the rows are blocks */
    struct probity_compare_left left;
    size_t without_requests; /* number of runs whose requests are unknown */
    size_t requests_left;
    struct probity_compare_row *rows; /* set by finish: the matching rows, in order */
    size_t tests, limit_tests;
    struct probity_rank_null null;
};

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

/* Part of finish: makes arrays of the runs and of the requested rows. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_compare_collect(struct probity_compare *compare);

/* Removes a row from the tree and frees it. */
void probity_compare_forget(struct probity_compare *compare, struct probity_compare_row *row);

/* Whether a block has been left out (compare_bound.c). */
int probity_compare_is_left(const struct probity_compare *compare,
                            const struct probity_compare_item *item);

/* If there are more than `times` times the maximum number of blocks, leaves out those that took the
 * least time in all runs so far. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_compare_bound(struct probity_compare *compare, size_t times);

#endif
