/* SPDX-License-Identifier: MIT
 *
 * report.h: time spent in the calls of each function: counts, total and self times, pauses,
 * extremes and a histogram of durations, for each function and, on request, for each function in
 * each thread. Memory: one row per function and thread, independent of the length of the trace.
 * Prints nothing.
 *
 *     events ──► scopes ──► rows ──┐
 *     rows of a profile ───────────┴──► finish: functions, each with its rows
 */
#ifndef PROBITY_ANSWERS_REPORT_REPORT_H
#define PROBITY_ANSWERS_REPORT_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/histogram.h"
#include "analysis/scopes.h"
#include "analysis/thread_table.h"
#include "reader/reader.h"

/* Times of a number of calls. A duration is the total wall time of one call, without pauses. Calls
 * closed by a repair are included in the sums of times, but not in durations, except in profile
 * mode, where calls left by a jump are included. */
struct probity_report_sums {
    uint64_t calls;    /* all calls; those entered with profiling off are untimed */
    uint64_t untimed;  /* calls without times */
    uint64_t repaired; /* calls closed by a repair, not by their leave */
    uint64_t open; /* calls that have times but have not ended; part of repaired */
    uint64_t counted;  /* part of untimed: only counted because of PROBITY_BUDGET */
    uint64_t profiled; /* counted by profile mode, with unknown start times */
    uint64_t entries;  /* part of untimed: calls of functions that record only entries */
    int is_least;      /* `calls` is a lower bound: PROBITY_BUDGET removed the hooks */
    struct probity_scope_time total; /* counts only the outermost of recursive calls */
    struct probity_scope_time self, paused;
    uint64_t elapsed_ns; /* time with a thread inside; valid if profiled and counted are 0 */
    int has_no_elapsed;  /* 1: elapsed_ns is unknown */
    struct probity_cost_sum total_cost, self_cost; /* recording overhead, if uncosted is 0 */
    uint64_t uncosted; /* timed calls with unknown overhead */
    uint64_t sum_ns, min_ns, max_ns; /* of durations; min is UINT64_MAX if there are none */
    struct probity_histogram durations;
};

struct probity_report_row {
    const struct probity_function *function; /* NULL: its declaration was lost */
    uint32_t trace, number;                  /* number of its enter site */
    const struct probity_thread_label *thread; /* NULL: all threads together */
    struct probity_report_sums sums;
};

/* Functions with equal texts are merged: one in a header, or the same function in several
 * traces. */
struct probity_report_function {
    const struct probity_function *function; /* any one of them; NULL: lost */
    uint32_t trace, number;
    const char *signature; /* as declared, or ""; callers may replace it with a better one */
    struct probity_report_sums sums;
    struct probity_report_row *rows; /* by thread; empty unless requested */
    size_t row_count;
};

/* Keys by which sums are sorted and shown. */
enum probity_report_key {
    PROBITY_REPORT_CALLS,
    PROBITY_REPORT_TOTAL,
    PROBITY_REPORT_SELF,
    PROBITY_REPORT_CPU_TOTAL,
    PROBITY_REPORT_CPU_SELF,
    PROBITY_REPORT_OFF_TOTAL, /* off-CPU: wall minus CPU time */
    PROBITY_REPORT_OFF_SELF,
    PROBITY_REPORT_PAUSED,
    PROBITY_REPORT_ELAPSED,
    PROBITY_REPORT_PARALLELISM, /* total over elapsed time, in thousandths */
    PROBITY_REPORT_MIN,
    PROBITY_REPORT_MEAN,
    PROBITY_REPORT_P50,
    PROBITY_REPORT_P90,
    PROBITY_REPORT_P99,
    PROBITY_REPORT_MAX,
    PROBITY_REPORT_TOTAL_CORRECTED, /* minus recording overhead */
    PROBITY_REPORT_TOTAL_ERROR,     /* error of the corrected time */
    PROBITY_REPORT_SELF_CORRECTED,
    PROBITY_REPORT_SELF_ERROR,
    PROBITY_REPORT_DISTRIBUTION, /* only for display: not a number */
    PROBITY_REPORT_NAME, /* only for sorting */
    PROBITY_REPORT_KEYS
};

struct probity_report_options {
    int by_thread;
    const struct probity_reader *costs_of; /* subtract recording overhead; NULL: do not */
    int without_elapsed; /* leave elapsed times 0: they need all threads' events in time order */
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: only calls that begin in [from, to); both 0: all */
    enum probity_report_key measure; /* the duration of a call: TOTAL (or 0), SELF, CPU_TOTAL,
                                      * CPU_SELF, OFF_TOTAL or OFF_SELF */
};

struct probity_report;

/* Adds sums and histograms. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_report_sums_add(struct probity_report_sums *to, const struct probity_report_sums *from);

/* options may be NULL. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_report_open(const struct probity_report_options *options,
                        struct probity_report **ret_report);

/* Number of other analyses that can share the scopes of a report. */
enum { PROBITY_REPORT_SHARES_MAX = 2 };

/* Before the first event: shares the scopes of the report with another analysis of the same events,
 * with the same range and costs. The other analysis takes each event before the report does, and is
 * finished after it. Its listener may not use of_function[0], which the report uses. For a scope
 * that is left in a run, it gets no event. Returns the scopes, which live as long as the report. */
const struct probity_scopes *probity_report_share(struct probity_report *report,
                                                  const struct probity_scopes_listener *listener);

/* Takes the next event in time order, from the beginning, because scopes must be followed even if a
 * filter excludes them. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_report_put(struct probity_report *report, const struct probity_event *event);

struct probity_run;

/* Takes a run of events (reader/run.h) in the same way. */
int probity_report_put_run(struct probity_report *report, const struct probity_run *run);

/* Adds sums that were computed elsewhere. The row's `thread` must not be NULL. The thread and the
 * histogram are copied; the function must live as long as the report. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_report_add_row(struct probity_report *report, const struct probity_report_row *row);

/* Adds another report on other threads of the same traces, with the same options except the range:
 * all its calls, after closing open ones as finish does, and its repairs. Neither report may have
 * elapsed times. The functions of its reader must live as long as this report. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_report_join(struct probity_report *report, struct probity_report *part);

/* Adds the rest of a reader's traces, both events and the counts of profile mode, and finishes.
 * Returns 0, PROBITY_ERROR_MEMORY or an error of probity_reader_next(). In
 * src/answers/report/profiled.c. */
int probity_report_read(struct probity_report *report, struct probity_reader *reader);

/* Closes open scopes and merges functions. Call after the last put. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_report_finish(struct probity_report *report);

/* After finish: returns the functions, in no particular order. Valid until close; the caller may
 * sort them. */
struct probity_report_function *probity_report_functions(struct probity_report *report,
                                                         size_t *ret_count);

/* Returns the number of calls that began in the range and have not ended yet. */
uint64_t probity_report_pending(const struct probity_report *report);

/* Call after finish. */
const struct probity_scopes_repairs *probity_report_repairs(const struct probity_report *report);

/* Returns the duration that per_mille of the calls do not exceed (nearest rank), clamped to min and
 * max; 0 if there are no calls. */
uint64_t probity_report_quantile(const struct probity_report_sums *sums, unsigned per_mille);

/* Maximum relative error of such a quantile in either direction. In profile mode, the resolution is
 * a quarter of a power of two, and no duration is below 16 ticks. */
#define PROBITY_REPORT_QUANTILE_ERROR (1.0 / 256)
#define PROBITY_REPORT_QUANTILE_ERROR_PROFILED (1.0 / 8 + 1.0 / 256)
double probity_report_quantile_error(const struct probity_report_sums *sums);

/* Returns "self", "cpu-total" ..., as in options and JSON. */
const char *probity_report_key_name(enum probity_report_key key);

/* Returns PROBITY_REPORT_KEYS if the name is unknown. */
enum probity_report_key probity_report_key_parse(const char *name);

/* Returns calls, ns or thousandths; 0 for times that no call has. */
uint64_t probity_report_value(const struct probity_report_sums *sums, enum probity_report_key key);

/* Whether the value is known. Times are unknown if no call has times, CPU times if they were not
 * recorded, and elapsed time if calls have no start times. */
int probity_report_is_known(const struct probity_report_sums *sums, enum probity_report_key key,
                            int is_cpu_known);

/* Returns the total (is_self 0) or self time minus the recording overhead. */
struct probity_corrected probity_report_corrected(const struct probity_report_sums *sums,
                                                  int is_self);

/* Sorts functions, and the rows of each: largest first, or by name, ascending. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_report_sort(struct probity_report_function *functions, size_t count,
                        enum probity_report_key key);

void probity_report_close(struct probity_report *report);

#endif
