/* SPDX-License-Identifier: MIT
 *
 * compare_set.h: what the files of compare.h share, and nobody else sees.
 */
#ifndef PROBITY_ANALYSIS_COMPARE_SET_H
#define PROBITY_ANALYSIS_COMPARE_SET_H

#include "analysis/compare.h"
#include "analysis/statistics.h"

/* Blocks that are left out, by their keys' hashes. */
struct probity_compare_left {
    uint64_t *hashes; /* a set with open addressing; at most half full. 0: free */
    size_t count, room;
};

struct probity_compare {
    struct probity_compare_options options;
    struct probity_compare_run *runs[PROBITY_COMPARE_SIDES]; /* without their items */
    size_t side_counts[PROBITY_COMPARE_SIDES];
    /* Within each side, and between them. */
    struct probity_compare_difference differences[3 * PROBITY_COMPARE_ENVIRONMENTS];
    size_t difference_count;
    void *tree; /* of tsearch(): rows by name; they belong to `all` */
    struct probity_compare_row **all;
    size_t row_count, row_room;
    size_t block_count; /* of the rows */
    struct probity_compare_left left;
    struct probity_compare_row *rows; /* of finish: those that match, in order */
    size_t tests, limit_tests;
    struct probity_rank_null null;
};

/* How far a ratio of values of runs may be off. More runs do not help: all may be off alike. */
static inline double probity_compare_error_of(const struct probity_compare_row *row, int statistic)
{
    int is_quantile = statistic == PROBITY_COMPARE_MEDIAN || statistic == PROBITY_COMPARE_P99;

    return is_quantile ? row->quantile_error : 0;
}

/* Whether a pattern of options means the row. */
int probity_compare_is_like(const struct probity_compare_row *row, const char *pattern);

/* Room for the side's runs; those that did not have the row have no value. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_compare_reserve(struct probity_compare_result *result, int side, size_t runs);

/* For finish: makes arrays of runs and rows, leaving out rows that were not asked for. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_compare_collect(struct probity_compare *compare);

/* Takes a row out of the tree and frees it. */
void probity_compare_forget(struct probity_compare *compare, struct probity_compare_row *row);

/* In compare_bound.c. Whether a block has been left out. */
int probity_compare_is_left(const struct probity_compare *compare,
                            const struct probity_compare_item *item);

/* Where there are more than `times` as many blocks as may be compared: leaves out those that took
 * least in all runs so far. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_compare_bound(struct probity_compare *compare, size_t times);

#endif
