/* SPDX-License-Identifier: MIT
 *
 * compare.h: two sets of runs, function by function. A run is the unit of observation: calls within
 * one run share its machine, its memory layout and its luck, and are not independent of each other.
 * So each run gives one value of each statistic, and the values of the runs are compared, by rank.
 * Memory: functions times runs. Prints nothing. Needs libm.
 *
 *     report of a run ──► add_run, add_report ──► rows ──► finish: effect, interval, verdict
 */
#ifndef PROBITY_ANALYSIS_COMPARE_H
#define PROBITY_ANALYSIS_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/report.h"
#include "reader/reader.h"

enum { PROBITY_COMPARE_BASE, PROBITY_COMPARE_NEW, PROBITY_COMPARE_SIDES };

/* What a run tells of a function; but for calls, times in ns. */
enum probity_compare_statistic {
    PROBITY_COMPARE_CALLS,
    PROBITY_COMPARE_SELF,
    PROBITY_COMPARE_TOTAL,
    PROBITY_COMPARE_CPU, /* self */
    PROBITY_COMPARE_MEAN,
    PROBITY_COMPARE_MEDIAN,
    PROBITY_COMPARE_P99,
    PROBITY_COMPARE_STATISTICS
};

const char *probity_compare_statistic_name(enum probity_compare_statistic statistic);

/* The names above, and p50 for the median. PROBITY_COMPARE_STATISTICS where there is none. */
enum probity_compare_statistic probity_compare_statistic_parse(const char *name);

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
    char *name, *signature, *file, *object; /* file and object without their folders */
    uint32_t line;     /* of the newest run */
    uint32_t instance; /* scopes of one name in one file, by line, from 0 */
    struct probity_compare_result results[PROBITY_COMPARE_STATISTICS];
    uint32_t exceeds;  /* bit i: a change beyond limit i is established */
};

/* A bound that a change must not exceed. */
struct probity_compare_limit {
    enum probity_compare_statistic statistic;
    int is_below;   /* 1: "<", the ratio must not fall below it */
    double percent; /* of the base: +5 is a ratio of 1.05 */
    const char *text;
};

enum { PROBITY_COMPARE_LIMITS_MAX = 32 };

struct probity_compare_options {
    double confidence;        /* of intervals; 1 - confidence is the level of all tests */
    double tolerance_percent; /* differences within it count as same */
    double quantile_error;    /* of median and p99 of two runs, relative to each other; a run with
                               * what profile mode counted makes it larger */
    unsigned statistics;      /* bit i: statistic i is tested; 0: all */
    const char *pattern;      /* only rows whose name or signature is like it; NULL: all */
    const struct probity_compare_limit *limits;
    size_t limit_count;
};

/* What is known of a run beside its functions. */
struct probity_compare_run {
    char *path, *why;
    int is_complete;
};

/* Something that should be the same in all runs, and is not. */
struct probity_compare_difference {
    const char *what; /* "CPU model" */
    const char *texts[2], *paths[2];
};

struct probity_compare;

/* The options' texts and limits must stay. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_compare_open(const struct probity_compare_options *options,
                         struct probity_compare **ret_compare);

/* Starts a run; what is added from now on is of it. facts: of its trace. */
int probity_compare_add_run(struct probity_compare *compare, int side,
                            const struct probity_trace_facts *facts);

/* Values of one function in the run, by statistic; NAN: not known. The texts are copied. */
int probity_compare_add_row(struct probity_compare *compare, const struct probity_function *like,
                            uint32_t instance, const double *values);

/* All declared functions of the run's finished report. Sorts them. */
int probity_compare_add_report(struct probity_compare *compare, struct probity_report *report,
                               int is_cpu_known);

/* Behind the last run, once. All of these return 0 or PROBITY_ERROR_MEMORY. */
int probity_compare_finish(struct probity_compare *compare);

enum probity_compare_order {
    PROBITY_COMPARE_BY_IMPACT = PROBITY_COMPARE_STATISTICS, /* by how much self time changed */
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

/* How many tests the p values are adjusted for: of verdicts, and of limits. */
size_t probity_compare_tests(const struct probity_compare *compare);
size_t probity_compare_limit_tests(const struct probity_compare *compare);

/* Runs a side without which no interval and no change is possible, whatever they say. */
size_t probity_compare_least_runs(const struct probity_compare *compare);

/* Runs a side without which no limit can be established, whatever they say. */
size_t probity_compare_limit_runs(const struct probity_compare *compare);

void probity_compare_close(struct probity_compare *compare);

#endif
