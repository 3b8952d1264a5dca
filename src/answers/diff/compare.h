/* SPDX-License-Identifier: MIT
 *
 * compare.h: compares two sets of runs by function, block and kind of request. The unit of
 * observation is the run: calls within a run share its machine and memory layout, so they are not
 * independent samples. Each run gives one value of each statistic, and the values of the runs are
 * compared by rank. Memory: one entry per run and function, block or kind of request. Prints
 * nothing. Needs libm.
 *
 *     runs (compare_run.h) ──► take ──► rows ──► finish: effect, interval, verdict
 */
#ifndef PROBITY_ANSWERS_DIFF_COMPARE_H
#define PROBITY_ANSWERS_DIFF_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "answers/diff/compare_row.h"

/* A limit on the change of all matching rows. */
struct probity_compare_limit {
    int is_of_kind;           /* 0: rows of all kinds */
    enum probity_compare_kind kind;
    const char *pattern;      /* only rows that match it; NULL: all */
    enum probity_compare_statistic statistic;
    int is_below;   /* 1: "<", a lower limit for the ratio */
    double percent; /* relative to the base: +5 is a ratio of 1.05 */
    const char *text;
};

enum {
    PROBITY_COMPARE_LIMITS_MAX = 32,
    PROBITY_COMPARE_BLOCKS_MAX = 50000 /* each takes a few KiB while runs are read */
};

struct probity_compare_options {
    double confidence;        /* of the intervals; the tests use 1 - confidence */
    double tolerance_percent; /* smaller changes count as none */
    unsigned statistics;      /* bit i: statistic i is tested; 0: all */
    /* Patterns for names or signatures, ending with NULL: only rows that match one are compared. A
     * kind without patterns has no rows if another kind has patterns, else all. */
    const char *const *patterns[PROBITY_COMPARE_KINDS];
    const struct probity_compare_limit *limits;
    size_t limit_count;
    size_t blocks_max; /* 0: PROBITY_COMPARE_BLOCKS_MAX */
};

/* An environment value that should be the same in all runs, but differs between the sides or,
 * worse, within one. */
struct probity_compare_difference {
    const char *what; /* "CPU model" */
    int sides[2];     /* sides of the two runs */
    const char *texts[2], *paths[2];
};

struct probity_compare;

/* The texts and limits in the options must stay valid until close. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_compare_open(const struct probity_compare_options *options,
                         struct probity_compare **ret_compare);

/* Adds a run and takes ownership of its contents: even on failure, the caller's run is empty
 * afterwards. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_compare_take(struct probity_compare *compare, int side,
                         struct probity_compare_run *run);

/* Returns an identical run of this side, which would be counted twice, or NULL. */
const struct probity_compare_run *probity_compare_twin(const struct probity_compare *compare,
                                                       int side,
                                                       const struct probity_compare_run *run);

/* Call once, after the last run. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_compare_finish(struct probity_compare *compare);

enum probity_compare_order {
    /* change of a function's self time, or of the time of a block or request */
    PROBITY_COMPARE_BY_IMPACT = PROBITY_COMPARE_STATISTICS,
    PROBITY_COMPARE_BY_CHANGE, /* the largest significant ratio */
    PROBITY_COMPARE_BY_NAME,
    PROBITY_COMPARE_ORDERS
};

/* After finish: sorts by an order or a statistic, largest first, or by name, ascending. Returns 0
 * or PROBITY_ERROR_MEMORY. */
int probity_compare_sort(struct probity_compare *compare, int order);

/* Results are valid until close. */
const struct probity_compare_row *probity_compare_rows(const struct probity_compare *compare,
                                                       size_t *ret_count);
const struct probity_compare_run *probity_compare_runs(const struct probity_compare *compare,
                                                       int side, size_t *ret_count);
const struct probity_compare_difference *
probity_compare_differences(const struct probity_compare *compare, size_t *ret_count);
const struct probity_compare_options *probity_compare_settings(
    const struct probity_compare *compare);

/* Whether rows of this kind have this statistic and it was requested. */
int probity_compare_is_chosen(const struct probity_compare *compare, enum probity_compare_kind kind,
                              int statistic);

/* Returns the number of tests for which p-values are adjusted: for verdicts and for limits. */
size_t probity_compare_tests(const struct probity_compare *compare);
size_t probity_compare_limit_tests(const struct probity_compare *compare);

/* Returns the minimum number of runs per side for an interval or a significant change. */
size_t probity_compare_least_runs(const struct probity_compare *compare);

/* Returns the minimum number of runs per side for a limit to be exceeded significantly. */
size_t probity_compare_limit_runs(const struct probity_compare *compare);

/* Returns the number of compared functions, blocks and kinds of requests to which a limit
 * applies. */
size_t probity_compare_limited(const struct probity_compare *compare, size_t limit);

/* Returns the number of blocks left out because there were too many: those that took the least
 * time. */
size_t probity_compare_left_out(const struct probity_compare *compare);

/* Returns the number of kinds of requests left out because the requests of another run are
 * unknown. */
size_t probity_compare_requests_left_out(const struct probity_compare *compare);

/* Returns the first run whose requests are unknown, and the number of such runs. If there is one,
 * requests are not compared. Returns NULL if there is none. */
const struct probity_compare_run *
probity_compare_without_requests(const struct probity_compare *compare, size_t *ret_count);

void probity_compare_close(struct probity_compare *compare);

#endif
