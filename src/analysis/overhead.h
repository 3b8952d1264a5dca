/* SPDX-License-Identifier: MIT
 *
 * overhead.h: what recording adds to a program, from runs in pairs: one without it, one with it.
 * Needs libm.
 */
#ifndef PROBITY_ANALYSIS_OVERHEAD_H
#define PROBITY_ANALYSIS_OVERHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/statistics.h"

#define PROBITY_OVERHEAD_CONFIDENCE 0.95

/* One run of the program. CPU time is that of all its threads and children, in the program and in
 * the system. */
struct probity_overhead_run {
    uint64_t wall_ns, user_ns, system_ns;
    uint64_t traces, records; /* 0 without recording */
    uint64_t calls;           /* profile mode: those that were counted */
    uint64_t lost;            /* records that were dropped, or are missing from a trace */
    uint64_t incomplete;      /* traces that do not hold all, by their own account */
};

struct probity_overhead_pair {
    struct probity_overhead_run off, on;
    int on_came_first;
};

/* What of a run is compared. */
enum probity_overhead_time {
    PROBITY_OVERHEAD_WALL,
    PROBITY_OVERHEAD_CPU,
    PROBITY_OVERHEAD_TIMES
};

struct probity_overhead_times {
    double off_ns, on_ns;       /* medians */
    int has_ratio;              /* 0: a time is 0 */
    struct probity_shift ratio; /* on / off, less 1: the slowdown, within a pair */
    struct probity_shift added; /* on less off, ns, within a pair */
};

struct probity_overhead {
    struct probity_overhead_times times[PROBITY_OVERHEAD_TIMES];
    double records; /* median of a run: what is recorded or, in profile mode, counted */
    uint64_t records_least, records_most;
    uint64_t lost, incomplete, traces; /* in all runs */
};

/* Of 1 to PROBITY_PAIRED_MAX pairs (analysis/paired.h). Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_overhead_of(const struct probity_overhead_pair *pairs, size_t count,
                        struct probity_overhead *ret_overhead);

/* CPU time that a record or counted call adds, ns; 0 where nothing is recorded. */
double probity_overhead_per_record(const struct probity_overhead *overhead, double added_ns);

#endif
