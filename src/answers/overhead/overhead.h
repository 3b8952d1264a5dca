/* SPDX-License-Identifier: MIT
 *
 * overhead.h: the time that recording adds to a program, computed from pairs of runs with and
 * without it. Needs libm.
 */
#ifndef PROBITY_ANSWERS_OVERHEAD_OVERHEAD_H
#define PROBITY_ANSWERS_OVERHEAD_OVERHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/statistics.h"

#define PROBITY_OVERHEAD_CONFIDENCE 0.95

/* One run of the program. CPU time includes all threads and children, user and system. */
struct probity_overhead_run {
    uint64_t wall_ns, user_ns, system_ns;
    uint64_t traces, records; /* 0 without recording */
    uint64_t calls;           /* profile mode: number of counted calls */
    uint64_t lost;            /* records dropped or missing from a trace */
    uint64_t incomplete;      /* traces marked as incomplete */
};

struct probity_overhead_pair {
    struct probity_overhead_run off, on;
    struct probity_overhead_run idle; /* recording was started, but nothing was recorded */
    int on_came_first;
};

/* The times to compare. */
enum probity_overhead_time {
    PROBITY_OVERHEAD_WALL,
    PROBITY_OVERHEAD_CPU,
    PROBITY_OVERHEAD_TIMES
};

struct probity_overhead_times {
    double off_ns, on_ns;       /* medians */
    int has_ratio;              /* 0: a time is 0 */
    struct probity_shift ratio; /* on / off - 1 within a pair, the slowdown */
    struct probity_shift added; /* on - off within a pair, in ns */
};

/* From the idle runs: the time that recording adds before the first record and after the last. */
struct probity_overhead_start {
    int is_known;       /* 0: an idle run left no trace */
    double processes;   /* median number of traces in idle runs */
    struct probity_shift added[PROBITY_OVERHEAD_TIMES]; /* per process, in ns */
};

/* With fewer records per process, their cost is smaller than the variation of starts. */
#define PROBITY_OVERHEAD_RECORDS_MIN 100000

struct probity_overhead {
    struct probity_overhead_times times[PROBITY_OVERHEAD_TIMES];
    struct probity_overhead_start start;
    int has_record;              /* 0: too few records to compute the cost of one */
    struct probity_shift record; /* CPU time that a record or counted call adds, in ns */
    double records; /* median per run; in profile mode, counted calls */
    uint64_t records_least, records_most;
    uint64_t lost, incomplete, traces; /* over all runs */
};

/* Takes 1 to PROBITY_SIGNED_RANK_MAX pairs (analysis/signed_rank.h). Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_overhead_of(const struct probity_overhead_pair *pairs, size_t count,
                        struct probity_overhead *ret_overhead);

#endif
