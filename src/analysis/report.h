/* SPDX-License-Identifier: MIT
 *
 * report.h: what the calls of each function took: counts, total and self times, pauses, extremes
 * and a histogram of durations; of each function, and on request of each function in each thread.
 * Memory: functions times threads, whatever the length of the trace. Prints nothing.
 *
 *     events ──► scopes ──► rows ──┐
 *     rows of a profile ───────────┴──► finish: functions, each with its rows
 */
#ifndef PROBITY_ANALYSIS_REPORT_H
#define PROBITY_ANALYSIS_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/fine.h"
#include "analysis/scopes.h"
#include "analysis/thread_table.h"
#include "reader/reader.h"

/* Times of many calls. A duration is the total wall time of one call: it has no pause. */
struct probity_report_sums {
    uint64_t calls;    /* all; those entered while profiling was off have no times */
    uint64_t untimed;  /* of them */
    uint64_t repaired; /* of them: closed by repair, not by their leave */
    uint64_t profiled; /* of them: summed up elsewhere, and when they were is not known */
    struct probity_scope_time total; /* of recursive calls only the outermost counts */
    struct probity_scope_time self, paused;
    uint64_t elapsed_ns; /* how long at least one thread was inside; where profiled is 0 */
    struct probity_cost_sum total_cost, self_cost; /* what recording added, where uncosted is 0 */
    uint64_t uncosted; /* calls with times of which that is not known */
    uint64_t sum_ns, min_ns, max_ns; /* of durations; min is UINT64_MAX without any */
    struct probity_fine durations;
};

struct probity_report_row {
    const struct probity_function *function; /* NULL: its declaration is lost */
    uint32_t trace, number;                  /* site number of its enter */
    const struct probity_thread_label *thread; /* NULL: of all threads */
    struct probity_report_sums sums;
};

/* Declarations of equal texts are one function: of a header's, or of several traces. */
struct probity_report_function {
    const struct probity_function *function; /* any of them; NULL: lost */
    uint32_t trace, number;
    const char *signature; /* as declared, "" without; the caller may know a better one */
    struct probity_report_sums sums;
    struct probity_report_row *rows; /* by thread; none unless asked for */
    size_t row_count;
};

/* What sums can be ordered and shown by. */
enum probity_report_key {
    PROBITY_REPORT_CALLS,
    PROBITY_REPORT_TOTAL,
    PROBITY_REPORT_SELF,
    PROBITY_REPORT_CPU_TOTAL,
    PROBITY_REPORT_CPU_SELF,
    PROBITY_REPORT_OFF_TOTAL, /* off the CPU: wall less CPU time */
    PROBITY_REPORT_OFF_SELF,
    PROBITY_REPORT_PAUSED,
    PROBITY_REPORT_ELAPSED,
    PROBITY_REPORT_PARALLELISM, /* total by elapsed, in thousandths */
    PROBITY_REPORT_MIN,
    PROBITY_REPORT_MEAN,
    PROBITY_REPORT_P50,
    PROBITY_REPORT_P90,
    PROBITY_REPORT_P99,
    PROBITY_REPORT_MAX,
    PROBITY_REPORT_TOTAL_CORRECTED, /* without what recording added, */
    PROBITY_REPORT_TOTAL_ERROR,     /* and how far that may be off */
    PROBITY_REPORT_SELF_CORRECTED,
    PROBITY_REPORT_SELF_ERROR,
    PROBITY_REPORT_DISTRIBUTION, /* a column only: no number */
    PROBITY_REPORT_NAME, /* an order only */
    PROBITY_REPORT_KEYS
};

struct probity_report_options {
    int by_thread;
    const struct probity_reader *costs_of; /* what recording added is wanted; NULL: is not */
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: only calls that begin in [from, to); both 0: all */
    enum probity_report_key measure; /* what of a call is its duration: TOTAL (0 too), SELF,
                                      * CPU_TOTAL, CPU_SELF, OFF_TOTAL or OFF_SELF */
};

struct probity_report;

/* options may be NULL. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_report_open(const struct probity_report_options *options,
                        struct probity_report **ret_report);

/* Takes the next event in time order, from the beginning: whatever a filter leaves out, scopes must
 * be known. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_report_put(struct probity_report *report, const struct probity_event *event);

/* Adds times that were summed up elsewhere. `thread` of the row must not be NULL; it and the
 * histogram are copied, the function must live as long as the report. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_report_add_row(struct probity_report *report, const struct probity_report_row *row);

/* Adds all that a reader's traces hold from here on, events and what profile mode counted, and
 * finishes. Returns 0, PROBITY_ERROR_MEMORY or an error of probity_reader_next(). In
 * src/analysis/profiled.c. */
int probity_report_read(struct probity_report *report, struct probity_reader *reader);

/* Closes what is open and puts functions together; nothing may be added from now on. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_report_finish(struct probity_report *report);

/* Behind finish, in no particular order. Valid until close; the caller may sort them. */
struct probity_report_function *probity_report_functions(struct probity_report *report,
                                                         size_t *ret_count);

/* Behind finish. */
const struct probity_scopes_repairs *probity_report_repairs(const struct probity_report *report);

/* The duration that so many per mille of the calls do not exceed (the nearest rank), never beyond
 * min and max; 0 without calls. */
uint64_t probity_report_quantile(const struct probity_report_sums *sums, unsigned per_mille);

/* How far such a quantile may be off, up or down, relative to the exact one. Profile mode knows of
 * a duration only in which quarter of a power of two it is, and below 16 ticks nothing. */
#define PROBITY_REPORT_QUANTILE_ERROR (1.0 / 256)
#define PROBITY_REPORT_QUANTILE_ERROR_PROFILED (1.0 / 8 + 1.0 / 256)
double probity_report_quantile_error(const struct probity_report_sums *sums);

/* "self", "cpu-total" ...; as options and JSON know them. */
const char *probity_report_key_name(enum probity_report_key key);

/* PROBITY_REPORT_KEYS where there is none of this name. */
enum probity_report_key probity_report_key_parse(const char *name);

/* Calls, or ns, or thousandths; of times that no call has, 0. */
uint64_t probity_report_value(const struct probity_report_sums *sums, enum probity_report_key key);

/* Whether the value says something: not of times where no call has any, of CPU times where CPU time
 * is not known, or of elapsed time where calls have no time of day. */
int probity_report_is_known(const struct probity_report_sums *sums, enum probity_report_key key,
                            int is_cpu_known);

/* Total (is_self 0) or self time without what recording added. */
struct probity_corrected probity_report_corrected(const struct probity_report_sums *sums,
                                                  int is_self);

/* Sorts functions, and the rows of each: largest first, names ascending. */
void probity_report_sort(struct probity_report_function *functions, size_t count,
                         enum probity_report_key key);

void probity_report_close(struct probity_report *report);

#endif
