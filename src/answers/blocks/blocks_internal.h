/* SPDX-License-Identifier: MIT
 *
 * blocks_internal.h: pairs and probes, for blocks.c and blocks_join.c.
 */
#ifndef PROBITY_ANSWERS_BLOCKS_BLOCKS_INTERNAL_H
#define PROBITY_ANSWERS_BLOCKS_BLOCKS_INTERNAL_H

#include "analysis/request_flow.h"
#include "answers/blocks/blocks.h"
#include "base/hashtable.h"

enum { RECENT = 64 }; /* a power of two */

/* A pair of probes, for all threads or for one. */
struct pair_item {
    struct probity_link link;
    struct probity_blocks_pair pair;
    struct probe_item *from, *to;
    struct pair_item *first; /* for all threads: rows by thread, newest first; */
    struct pair_item *other; /* for one thread: the next row */
    size_t rows;
};

/* How often another hit followed a hit of a probe in one thread. */
struct followed_item {
    struct probity_link link;
    const struct probe_item *from;
    const struct probity_thread_label *thread;
    uint64_t count;
};

struct probe_item {
    struct probity_probe probe;
    const char *named; /* the probe's name when its role was determined */
    int has_role;
    unsigned role;
    uint64_t followed; /* hits that were followed by another */
    struct pair_item *recent[RECENT]; /* cache of pairs that begin here, by second probe */
};

struct last_hit {
    struct probe_item *probe; /* NULL before the first hit */
    uint64_t wall_ns, cpu_ns;
    uint32_t is_cpu_known, thread_slot, trace;
};

struct probity_blocks {
    struct probity_blocks_options options;
    struct probity_thread_table threads;
    struct last_hit *last; /* by thread slot */
    struct probity_inflight ways; /* by correlation */
    uint32_t last_count;
    size_t pair_count; /* not counting pairs of single threads */
    const struct probity_blocks_pair **sorted;
    struct probity_probes probes;
    struct probity_hashtable pairs, followed; /* followed: by thread */
};

/* Determines the effects of a probe's hits. */
void probity_blocks_set_role(const struct probity_blocks *blocks, struct probe_item *item,
                             const struct probity_event *event);

/* Returns the probe of a hit, or NULL if out of memory. */
static inline struct probe_item *probity_blocks_probe(struct probity_blocks *blocks,
                                                      const struct probity_event *event)
{
    struct probe_item *item = (void *)probity_probes_of(&blocks->probes, event);

    if (__builtin_expect(item != NULL && (!item->has_role || item->named != item->probe.name), 0))
        probity_blocks_set_role(blocks, item, event);
    return item;
}

/* Finds or adds a pair. thread NULL: for all threads. Returns NULL if out of memory. */
struct pair_item *probity_blocks_pair_at(struct probity_blocks *blocks, struct probe_item *from,
                                         struct probe_item *to,
                                         const struct probity_thread_label *thread);

/* Finds or adds the count of a probe and thread. Returns NULL if out of memory. */
struct followed_item *probity_blocks_followed_at(struct probity_blocks *blocks,
                                                 const struct probe_item *from,
                                                 const struct probity_thread_label *thread);

/* Adds a new pair of one thread to the rows of the pair of all threads. */
static inline void probity_blocks_add_row(struct pair_item *all, struct pair_item *row)
{
    row->other = all->first;
    all->first = row;
    all->rows++;
}

#endif
