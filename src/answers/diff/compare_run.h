/* SPDX-License-Identifier: MIT
 *
 * compare_run.h: the data of one run for a comparison: its environment and, for each function,
 * block and kind of request, one value per statistic. Everything is copied, so the trace may be
 * closed. Prints nothing.
 */
#ifndef PROBITY_ANSWERS_DIFF_COMPARE_RUN_H
#define PROBITY_ANSWERS_DIFF_COMPARE_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* Statistics of a function, block or kind of request; times in ns, except calls. */
enum probity_compare_statistic {
    PROBITY_COMPARE_CALLS,
    PROBITY_COMPARE_SELF, /* functions only */
    PROBITY_COMPARE_TOTAL,
    PROBITY_COMPARE_CPU, /* functions: self time; none for requests, which change threads */
    PROBITY_COMPARE_MEAN,
    PROBITY_COMPARE_MEDIAN,
    PROBITY_COMPARE_P99,
    PROBITY_COMPARE_STATISTICS
};

const char *probity_compare_statistic_name(enum probity_compare_statistic statistic);

/* Parses one of these names, or p50 for the median. Returns PROBITY_COMPARE_STATISTICS if the name
 * is unknown. */
enum probity_compare_statistic probity_compare_statistic_parse(const char *name);

enum probity_compare_kind {
    PROBITY_COMPARE_FUNCTION,
    PROBITY_COMPARE_BLOCK, /* from one probe to the next */
    PROBITY_COMPARE_REQUEST, /* all requests that begin at one probe */
    PROBITY_COMPARE_KINDS
};

/* Returns "function", "block" or "request". */
const char *probity_compare_kind_name(enum probity_compare_kind kind);

/* A function, block or kind of request, identified across runs by all fields but line, values and
 * quantile_error. */
struct probity_compare_item {
    enum probity_compare_kind kind;
    char *name;      /* for a block, "a -> b"; for a request, its first probe */
    char *signature; /* for a block or request, its name with probe names; not part of the key */
    char *file, *object; /* without directories; "" except for a function */
    uint32_t line;
    uint32_t instance; /* index by line, from 0, among scopes of one name in one file; otherwise
                        * which probes are sites: bit 0 the first, bit 1 the second */
    double quantile_error; /* maximum relative error of median and p99 */
    double values[PROBITY_COMPARE_STATISTICS]; /* NAN if unknown */
};

/* Environment values that should be the same in all runs. */
enum probity_compare_environment {
    PROBITY_COMPARE_HOST,
    PROBITY_COMPARE_KERNEL,
    PROBITY_COMPARE_CPU_MODEL,
    PROBITY_COMPARE_PROCESSORS,
    PROBITY_COMPARE_PROGRAM,
    PROBITY_COMPARE_BUILD,
    PROBITY_COMPARE_COMMAND,
    PROBITY_COMPARE_LIBRARY,
    PROBITY_COMPARE_CLOCK,
    PROBITY_COMPARE_MODE, /* includes profile mode and unrecorded times */
    PROBITY_COMPARE_GAP,
    PROBITY_COMPARE_LEVELS,
    PROBITY_COMPARE_ENVIRONMENTS
};

/* Returns a name, such as "CPU model". */
const char *probity_compare_environment_name(int environment);

struct probity_compare_run {
    uint8_t session[16];
    uint64_t started_ns, records; /* CLOCK_REALTIME; hits and events */
    char *path;  /* as shown in messages */
    char *label; /* "" if there is none */
    char *why;   /* why the run is complete or not */
    int is_complete, is_damaged; /* is_damaged: also if the trace has no end */
    int has_requests; /* 0: unknown, because it was stored without them */
    char *environment[PROBITY_COMPARE_ENVIRONMENTS]; /* "" if unknown */
    struct probity_compare_item *items;
    size_t item_count, item_room;
};

/* Reads the remaining events of one trace in [from_ns, to_ns) of CLOCK_REALTIME; both 0: all.
 * Returns 0, PROBITY_ERROR_MEMORY or an error of probity_reader_next(). The caller releases the
 * run, except on failure. */
int probity_compare_run_read(struct probity_reader *reader, uint64_t from_ns, uint64_t to_ns,
                             struct probity_compare_run *ret_run);

/* Fills a run from the facts of a trace, without items. Returns the same as above. */
int probity_compare_run_describe(const struct probity_trace_facts *facts,
                                 struct probity_compare_run *ret_run);

/* Adds all declared functions of a finished report, and sorts it. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
struct probity_report;
int probity_compare_run_add_report(struct probity_compare_run *run, struct probity_report *report,
                                   int is_cpu_known);

/* Adds all pairs of blocks. Returns the same as above. */
struct probity_blocks;
int probity_compare_run_add_blocks(struct probity_compare_run *run, struct probity_blocks *blocks);

/* Adds all kinds of requests, and marks them as known. Returns the same as above. */
struct probity_request_times;
int probity_compare_run_add_requests(struct probity_compare_run *run,
                                     const struct probity_request_times *requests);

/* Adds an item, copying its texts; NULL counts as "". Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_compare_run_add(struct probity_compare_run *run,
                            const struct probity_compare_item *item);

void probity_compare_item_release(struct probity_compare_item *item);
void probity_compare_run_release(struct probity_compare_run *run);

#endif
