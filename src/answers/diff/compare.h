/* SPDX-License-Identifier: MIT
 *
 * compare.h: compares two sets of runs by function, block and kind of request. The run is the unit
 * of observation, because calls within one run share its machine and memory layout and are not
 * independent samples. So each run gives one value of each statistic, and the values of the runs
 * are compared by rank. Memory: functions, blocks and kinds of requests times runs. Prints nothing.
 * Needs libm.
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
    double percent; /* relative to base: +5 is a ratio of 1.05 */
    const char *text;
};

enum {
    PROBITY_COMPARE_LIMITS_MAX = 32,
    PROBITY_COMPARE_BLOCKS_MAX = 50000 /* compared; each takes a few KiB while runs are read */
};

struct probity_compare_options {
    double confidence;        /* of intervals; all tests use 1 - confidence */
    double tolerance_percent; /* smaller differences count as none */
    unsigned statistics;      /* bit i: statistic i is tested; 0: all */
    /* Only rows whose name or signature matches a pattern. Each list ends with NULL. Without a
     * list, no rows of this kind if another kind has one, else all. */
    const char *const *patterns[PROBITY_COMPARE_KINDS];
    const struct probity_compare_limit *limits;
    size_t limit_count;
    size_t blocks_max; /* 0: PROBITY_COMPARE_BLOCKS_MAX */
};

/* An environment value that should be the same in all runs, but differs between the sides or, which
 * is worse, within one. */
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

/* Adds a run and takes over its contents: even on failure, the caller's run is empty afterwards.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_compare_take(struct probity_compare *compare, int side,
                         struct probity_compare_run *run);

/* Returns a run of this side that is identical, and so would count twice, or NULL. */
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

/* After finish: sorts by one of these or by a statistic, largest first; by name, ascending. Returns
 * 0 or PROBITY_ERROR_MEMORY. */
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

/* Whether rows of this kind have this statistic, and it was requested. */
int probity_compare_is_chosen(const struct probity_compare *compare, enum probity_compare_kind kind,
                              int statistic);

/* Number of tests for which p-values are adjusted: of verdicts, and of limits. */
size_t probity_compare_tests(const struct probity_compare *compare);
size_t probity_compare_limit_tests(const struct probity_compare *compare);

/* Minimum number of runs per side to make an interval or a significant change possible. */
size_t probity_compare_least_runs(const struct probity_compare *compare);

/* Minimum number of runs per side to make a significantly exceeded limit possible. */
size_t probity_compare_limit_runs(const struct probity_compare *compare);

/* Number of compared functions, blocks and kinds of requests to which a limit applies. */
size_t probity_compare_limited(const struct probity_compare *compare, size_t limit);

/* Number of blocks left out because there are too many: those that took least time. */
size_t probity_compare_left_out(const struct probity_compare *compare);

/* Number of kinds of requests left out because the requests of some other run are unknown. */
size_t probity_compare_requests_left_out(const struct probity_compare *compare);

/* The first run whose requests are unknown, and how many there are: if there is one, requests are
 * not compared. NULL: none. */
const struct probity_compare_run *
probity_compare_without_requests(const struct probity_compare *compare, size_t *ret_count);

void probity_compare_close(struct probity_compare *compare);

#endif
