/* SPDX-License-Identifier: MIT
 *
 * compare.h: two sets of runs, function by function and block by block. A run is the unit of
 * observation: calls within one run share its machine, its memory layout and its luck, and are not
 * independent of each other. So each run gives one value of each statistic, and the values of the
 * runs are compared, by rank. Memory: functions and blocks times runs. Prints nothing. Needs libm.
 *
 *     runs (compare_run.h) ──► take ──► rows ──► finish: effect, interval, verdict
 */
#ifndef PROBITY_ANALYSIS_COMPARE_H
#define PROBITY_ANALYSIS_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/compare_run.h"

enum { PROBITY_COMPARE_BASE, PROBITY_COMPARE_NEW, PROBITY_COMPARE_SIDES };

enum probity_compare_verdict {
    PROBITY_COMPARE_UNKNOWN, /* cannot tell */
    PROBITY_COMPARE_SAME,    /* the interval lies within the tolerance */
    PROBITY_COMPARE_LESS,    /* established: faster, or fewer calls */
    PROBITY_COMPARE_MORE,
    PROBITY_COMPARE_GONE,    /* in no run of the new side */
    PROBITY_COMPARE_ADDED    /* in no run of the base side */
};

/* "cannot tell", "same", "faster", ...; of calls "fewer" and "more". */
const char *probity_compare_verdict_name(enum probity_compare_verdict verdict,
                                         enum probity_compare_statistic statistic);

/* One statistic of one row. Ratios are new to base. */
struct probity_compare_result {
    double *values[PROBITY_COMPARE_SIDES]; /* by run; NAN where the run has none */
    size_t runs[PROBITY_COMPARE_SIDES];    /* that have one */
    double median[PROBITY_COMPARE_SIDES];  /* over runs; NAN without */
    double ratio, low, high;               /* ratio: NAN where a side has no run */
    int has_interval;
    int is_tested;     /* 0: all runs are equal, or it was not asked for */
    double p;          /* of the rank-sum test, two-sided */
    double p_adjusted; /* for the number of tests */
    size_t runs_needed;
    enum probity_compare_verdict verdict;
};

struct probity_compare_row {
    struct probity_compare_item item; /* as the newest run has it; its values are nobody's */
    double quantile_error; /* of ratios of medians and of p99: how far they may be off, relative */
    struct probity_compare_result results[PROBITY_COMPARE_STATISTICS];
    uint32_t exceeds;  /* bit i: a change beyond limit i is established */
};

/* A bound that a change of some rows must not exceed. */
struct probity_compare_limit {
    int is_of_kind;           /* 0: rows of both kinds */
    enum probity_compare_kind kind;
    const char *pattern;      /* only rows like it; NULL: all */
    enum probity_compare_statistic statistic;
    int is_below;   /* 1: "<", the ratio must not fall below it */
    double percent; /* of the base: +5 is a ratio of 1.05 */
    const char *text;
};

enum {
    PROBITY_COMPARE_LIMITS_MAX = 32,
    PROBITY_COMPARE_BLOCKS_MAX = 50000 /* compared at most; some KiB each while runs are read */
};

struct probity_compare_options {
    double confidence;        /* of intervals; 1 - confidence is the level of all tests */
    double tolerance_percent; /* differences within it count as same */
    unsigned statistics;      /* bit i: statistic i is tested; 0: all */
    /* Only rows whose name or signature is like it; NULL: none where the other kind has one, else
     * all. */
    const char *patterns[PROBITY_COMPARE_KINDS];
    const struct probity_compare_limit *limits;
    size_t limit_count;
    size_t blocks_max; /* 0: PROBITY_COMPARE_BLOCKS_MAX */
};

/* Something that should be the same in all runs, and is not: from one side to the other, or, what
 * is worse, within a side. */
struct probity_compare_difference {
    const char *what; /* "CPU model" */
    int sides[2];     /* of the two runs */
    const char *texts[2], *paths[2];
};

struct probity_compare;

/* The options' texts and limits must stay. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_compare_open(const struct probity_compare_options *options,
                         struct probity_compare **ret_compare);

/* Adds a run and keeps what it holds: the caller's is empty afterwards, also on failure. Returns 0
 * or PROBITY_ERROR_MEMORY. */
int probity_compare_take(struct probity_compare *compare, int side,
                         struct probity_compare_run *run);

/* A run of the side that is the same as this one, or NULL: it would count twice. */
const struct probity_compare_run *probity_compare_twin(const struct probity_compare *compare,
                                                       int side,
                                                       const struct probity_compare_run *run);

/* Behind the last run, once. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_compare_finish(struct probity_compare *compare);

enum probity_compare_order {
    /* By how much self time changed; of blocks, their time. */
    PROBITY_COMPARE_BY_IMPACT = PROBITY_COMPARE_STATISTICS,
    PROBITY_COMPARE_BY_CHANGE, /* by the largest ratio that is established */
    PROBITY_COMPARE_BY_NAME,
    PROBITY_COMPARE_ORDERS
};

/* Behind finish: by one of these, or by a statistic; largest first, names ascending. */
void probity_compare_sort(struct probity_compare *compare, int order);

/* All valid until close. */
const struct probity_compare_row *probity_compare_rows(const struct probity_compare *compare,
                                                       size_t *ret_count);
const struct probity_compare_run *probity_compare_runs(const struct probity_compare *compare,
                                                       int side, size_t *ret_count);
const struct probity_compare_difference *
probity_compare_differences(const struct probity_compare *compare, size_t *ret_count);
const struct probity_compare_options *probity_compare_settings(
    const struct probity_compare *compare);

/* Whether a statistic means something for rows of a kind, and was asked for. */
int probity_compare_is_chosen(const struct probity_compare *compare, enum probity_compare_kind kind,
                              int statistic);

/* How many tests the p values are adjusted for: of verdicts, and of limits. */
size_t probity_compare_tests(const struct probity_compare *compare);
size_t probity_compare_limit_tests(const struct probity_compare *compare);

/* Runs a side without which no interval and no change is possible, whatever they say. */
size_t probity_compare_least_runs(const struct probity_compare *compare);

/* Runs a side without which no limit can be established, whatever they say. */
size_t probity_compare_limit_runs(const struct probity_compare *compare);

/* How many functions and blocks a limit is about: 0 where it is about none that is compared. */
size_t probity_compare_limited(const struct probity_compare *compare, size_t limit);

/* Blocks that are not among the rows, for there are too many: those that took least time. */
size_t probity_compare_left_out(const struct probity_compare *compare);

void probity_compare_close(struct probity_compare *compare);

#endif
