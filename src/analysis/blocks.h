/* SPDX-License-Identifier: MIT
 *
 * blocks.h: hits to blocks: what lies between a hit of one probe and the next hit of the same
 * thread or correlation id, or between hits of chosen probes. Memory: pairs of probes that follow
 * each other (by thread, times threads), threads, and ids (open_ids.h); a pair takes a few KiB.
 * Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_BLOCKS_H
#define PROBITY_ANALYSIS_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/fine.h"
#include "analysis/probes.h"
#include "analysis/thread_table.h"
#include "reader/reader.h"

/* One block. */
struct probity_blocks_instance {
    const struct probity_thread_label *thread;
    uint64_t at_ns; /* CLOCK_REALTIME: when it began */
    uint64_t wall_ns, cpu_ns;
    uint64_t value_ns; /* of these, what is measured */
    int is_cpu_known;
};

/* All that went from one probe to another. Extremes and durations are of what is measured. */
struct probity_blocks_pair {
    const struct probity_probe *from, *to;
    const struct probity_thread_label *thread; /* NULL: of all threads */
    uint64_t calls, wall_ns;
    uint64_t cpu_calls, cpu_ns, cpu_wall_ns; /* of those whose CPU time is known */
    uint64_t sum_ns, min_ns, max_ns;
    struct probity_fine durations;
    struct probity_blocks_instance *slowest; /* by what is measured, the slowest first */
    size_t slowest_count;
    /* Behind sort: hits of the first probe with another behind, whatever it is; and by thread. */
    uint64_t followed;
    const struct probity_blocks_pair *const *rows;
    size_t row_count;
};

enum probity_blocks_measure {
    PROBITY_BLOCKS_MEASURE_WALL,
    PROBITY_BLOCKS_MEASURE_CPU, /* blocks whose CPU time is not known are not measured */
    PROBITY_BLOCKS_MEASURE_OFF  /* likewise: wall less CPU time */
};

/* What a hit is to blocks. */
enum { PROBITY_BLOCKS_BEGINS = 1, PROBITY_BLOCKS_ENDS = 2 };

struct probity_blocks_options {
    uint64_t from_ns, to_ns; /* only hits in [from, to) of CLOCK_REALTIME; both 0: all */
    enum probity_blocks_measure measure;
    int by_thread;
    int by_correlation; /* pairs are of hits with one correlation id, not of one thread */
    size_t slowest; /* how many instances of each pair are kept; 0: one */
    /* Which of BEGINS and ENDS the hits of the event's probe do; asked once for each probe, and
     * again when it gets a name. NULL: each hit does both. */
    unsigned (*role)(void *context, const struct probity_event *event);
    void *context;
};

struct probity_blocks;

/* The options may be NULL. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_blocks_open(const struct probity_blocks_options *options,
                        struct probity_blocks **ret_blocks);

/* Takes the next event in time order. A block lies between a hit that begins blocks and the next
 * hit of the same thread that ends them, and begins anew at each hit between them that begins
 * blocks. Whoever leaves hits out makes longer blocks of those around them. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_blocks_put(struct probity_blocks *blocks, const struct probity_event *event);

/* How many ids were forgotten, by correlation: their ways are in two parts, or more. */
uint64_t probity_blocks_forgotten(const struct probity_blocks *blocks);

enum probity_blocks_key {
    PROBITY_BLOCKS_TOTAL, /* wall time; largest first, as all but names */
    PROBITY_BLOCKS_CALLS,
    PROBITY_BLOCKS_PROBABILITY, /* of the second probe behind the first, in millionths */
    PROBITY_BLOCKS_CPU,
    PROBITY_BLOCKS_OFF, /* wall less CPU time */
    PROBITY_BLOCKS_MIN,
    PROBITY_BLOCKS_MEAN,
    PROBITY_BLOCKS_P50,
    PROBITY_BLOCKS_P90,
    PROBITY_BLOCKS_P99,
    PROBITY_BLOCKS_MAX,
    PROBITY_BLOCKS_NAME, /* an order only: numbers, then names */
    PROBITY_BLOCKS_KEYS
};

/* PROBITY_BLOCKS_KEYS where there is none of this name. */
enum probity_blocks_key probity_blocks_key_parse(const char *name);

/* Times are ns. Percentiles are to 1/256, and between the least and the largest. */
uint64_t probity_blocks_value(const struct probity_blocks_pair *pair, enum probity_blocks_key key);

/* "3 -> 9", or with the names of numbered probes "3 (taken) -> 9 (done)". malloc'ed; NULL without
 * memory. */
char *probity_blocks_pair_name(const struct probity_blocks_pair *pair, int with_names);

/* Behind the last put: all pairs in this order, and the rows of each. Valid until close; NULL
 * without memory. */
const struct probity_blocks_pair *const *probity_blocks_sort(struct probity_blocks *blocks,
                                                             enum probity_blocks_key key,
                                                             size_t *ret_count);

void probity_blocks_close(struct probity_blocks *blocks);

#endif
