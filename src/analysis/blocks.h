/* SPDX-License-Identifier: MIT
 *
 * blocks.h: hits to blocks: what lies between a hit of one probe and the next hit of the same
 * thread. Memory: pairs of probes that follow each other, and threads; a pair takes a few KiB.
 * Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_BLOCKS_H
#define PROBITY_ANALYSIS_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/fine.h"
#include "reader/reader.h"

/* Sites of one name are one probe, as in the lines of `probity csv`. */
struct probity_blocks_probe {
    const char *text; /* its number, or a site's name */
    const char *name; /* of a numbered probe; NULL without */
    uint32_t number;  /* of a numbered probe */
    int is_site;
    uint64_t followed; /* hits with another one behind */
};

/* All that went from one probe to another. */
struct probity_blocks_pair {
    const struct probity_blocks_probe *from, *to;
    uint64_t calls, wall_ns, min_ns, max_ns;
    uint64_t cpu_calls, cpu_ns, cpu_wall_ns; /* of those whose CPU time is known */
    uint64_t max_at_ns;                      /* CLOCK_REALTIME: when the slowest began */
    uint32_t max_pid, max_tid;
    struct probity_fine durations;
};

struct probity_blocks;

/* Hits in [from_ns, to_ns) of CLOCK_REALTIME; both 0: all. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_blocks_open(uint64_t from_ns, uint64_t to_ns, struct probity_blocks **ret_blocks);

/* Takes the next event in time order. Whoever leaves hits out makes longer blocks of those around
 * them. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_blocks_put(struct probity_blocks *blocks, const struct probity_event *event);

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

/* Behind the last put: all pairs in this order. Valid until close; NULL without memory. */
const struct probity_blocks_pair *const *probity_blocks_sort(struct probity_blocks *blocks,
                                                             enum probity_blocks_key key,
                                                             size_t *ret_count);

void probity_blocks_close(struct probity_blocks *blocks);

#endif
