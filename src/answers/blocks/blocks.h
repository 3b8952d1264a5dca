/* SPDX-License-Identifier: MIT
 *
 * blocks.h: turns hits into blocks. A block is the span between a hit of one probe and the next hit
 * of the same thread or correlation id, or between hits of chosen probes.
 *
 * Memory: one entry per pair of successive probes (by thread: per pair and thread), per thread, and
 * per id (inflight.h). A pair takes a few KiB. Prints nothing.
 */
#ifndef PROBITY_ANSWERS_BLOCKS_BLOCKS_H
#define PROBITY_ANSWERS_BLOCKS_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/correction.h"
#include "analysis/histogram.h"
#include "analysis/probes.h"
#include "analysis/thread_table.h"
#include "reader/reader.h"

/* One block. */
struct probity_blocks_instance {
    const struct probity_thread_label *thread;
    uint64_t at_ns; /* CLOCK_REALTIME when it began */
    uint64_t wall_ns, cpu_ns;
    uint64_t value_ns; /* wall, CPU or off-CPU time, as measured */
    int is_cpu_known;
    uint64_t end_tick; /* when it ended; orders equal blocks */
};

/* All blocks from one probe to another. Minimum, maximum and durations are for the chosen
 * measure. */
struct probity_blocks_pair {
    const struct probity_probe *from, *to;
    const struct probity_thread_label *thread; /* NULL: all threads */
    uint64_t calls, wall_ns;
    uint64_t cpu_calls, cpu_ns, cpu_wall_ns; /* blocks with known CPU time */
    uint64_t sum_ns, min_ns, max_ns;
    struct probity_histogram durations;
    struct probity_blocks_instance *slowest; /* by the measure, slowest first */
    size_t slowest_count;
    /* Set by sort: how often any hit followed a hit of the first probe; and the rows by thread. */
    uint64_t followed;
    const struct probity_blocks_pair *const *rows;
    size_t row_count;
};

enum probity_blocks_measure {
    PROBITY_BLOCKS_MEASURE_WALL,
    PROBITY_BLOCKS_MEASURE_CPU, /* omits blocks with unknown CPU time */
    PROBITY_BLOCKS_MEASURE_OFF  /* wall minus CPU time; same omission */
};

/* Effects of a hit on blocks. */
enum { PROBITY_BLOCKS_BEGINS = 1, PROBITY_BLOCKS_ENDS = 2 };

struct probity_blocks_options {
    uint64_t from_ns, to_ns; /* only hits in [from, to) of CLOCK_REALTIME; both 0: all */
    enum probity_blocks_measure measure;
    int by_thread;
    int by_correlation; /* pair hits by correlation id, not by thread */
    size_t slowest; /* number of instances to keep for each pair; 0: one */
    /* Returns which of BEGINS and ENDS apply to hits of the event's probe. Called once per probe,
     * and again when the probe is named. NULL: both apply to every hit. */
    unsigned (*role)(void *context, const struct probity_event *event);
    void *context;
};

/* Whether a hit is in the range of the options. */
static inline int probity_blocks_is_in_range(const struct probity_blocks_options *options,
                                             const struct probity_event *event)
{
    return event->wall_ns >= options->from_ns &&
           (options->to_ns == 0 || event->wall_ns < options->to_ns);
}

struct probity_blocks;

/* The options may be NULL. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_blocks_open(const struct probity_blocks_options *options,
                        struct probity_blocks **ret_blocks);

/* Takes the next event in time order. A block extends from a hit that begins blocks to the thread's
 * next hit that ends them; another hit that begins one in between restarts it. If the caller leaves
 * out hits, the blocks around them become longer. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_blocks_put(struct probity_blocks *blocks, const struct probity_event *event);

/* Adds sums of blocks computed elsewhere, of all threads or, by thread, of sums->thread, whose
 * label must live as long as `blocks`; from and to: hits of their probes. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_blocks_add(struct probity_blocks *blocks, const struct probity_event *from,
                       const struct probity_event *to, const struct probity_blocks_pair *sums);

/* Adds one of the slowest blocks to a pair of all threads; call it in order, slowest first. Blocks
 * beyond the number kept are ignored. */
int probity_blocks_add_instance(struct probity_blocks *blocks, const struct probity_event *from,
                                const struct probity_event *to,
                                const struct probity_blocks_instance *instance);

/* Adds the blocks of other threads of the same traces, not by correlation. Thread labels and names
 * still belong to `part`, which must live as long as `blocks`. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_blocks_join(struct probity_blocks *blocks, const struct probity_blocks *part);

/* Returns 1 if two parts have the same names for probes, so that joining them gives the same result
 * as taking all events in time order; otherwise 0. */
int probity_blocks_are_joinable(const struct probity_blocks *left,
                                const struct probity_blocks *right);

/* Returns the number of evicted ids (by correlation). Each eviction splits a flow in two or
 * more. */
uint64_t probity_blocks_forgotten(const struct probity_blocks *blocks);

/* In the order in which --sort lists them. */
enum probity_blocks_key {
    PROBITY_BLOCKS_TOTAL, /* wall time; all keys but names sort largest first */
    PROBITY_BLOCKS_CALLS,
    PROBITY_BLOCKS_PROBABILITY, /* that the second probe is next, in millionths */
    PROBITY_BLOCKS_CPU,
    PROBITY_BLOCKS_OFF, /* wall minus CPU time */
    PROBITY_BLOCKS_MIN,
    PROBITY_BLOCKS_MEAN,
    PROBITY_BLOCKS_P50,
    PROBITY_BLOCKS_P90,
    PROBITY_BLOCKS_P99,
    PROBITY_BLOCKS_MAX,
    PROBITY_BLOCKS_NAME, /* for sorting only: numbers, then names */
    PROBITY_BLOCKS_KEYS
};

/* Times are ns. Percentiles are exact to 1/256 and lie between the minimum and the maximum. */
uint64_t probity_blocks_value(const struct probity_blocks_pair *pair, enum probity_blocks_key key);

/* Returns "3 -> 9", or "3 (taken) -> 9 (done)" if numbered probes have names. malloc'ed; NULL if
 * out of memory. */
char *probity_blocks_pair_name(const struct probity_blocks_pair *pair, int with_names);

/* After the last put: sorts all pairs, and the rows by thread of each. Valid until close. Returns
 * NULL if out of memory. */
const struct probity_blocks_pair *const *probity_blocks_sort(struct probity_blocks *blocks,
                                                             enum probity_blocks_key key,
                                                             size_t *ret_count);

void probity_blocks_close(struct probity_blocks *blocks);

/* Computes the wall time of all blocks of a pair, minus the cost of one hit per block, because a
 * block extends from within one hit to within the next. Other records in between are not
 * subtracted; readings of the CPU clock in long blocks are. Returns 1, or 0 if a trace lacks the
 * cost of a hit. */
int probity_blocks_corrected(const struct probity_blocks_pair *pair,
                             const struct probity_reader *reader,
                             struct probity_corrected *ret_corrected);

#endif
