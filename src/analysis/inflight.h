/* SPDX-License-Identifier: MIT
 *
 * inflight.h: ids in flight: open requests, items in queues, held locks. Programs may begin
 * requests that never end, so memory is bounded: beyond PROBITY_INFLIGHT_MAX, the least recently
 * used id is evicted.
 */
#ifndef PROBITY_ANALYSIS_INFLIGHT_H
#define PROBITY_ANALYSIS_INFLIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "base/hashtable.h"

/* 24 MiB. */
enum { PROBITY_INFLIGHT_MAX = 1 << 18 };

struct probity_inflight_key {
    uint64_t correlation, object;
    uint32_t trace, kind; /* kind: set and used by the caller */
};

struct probity_inflight_item {
    struct probity_link link; /* must be first */
    struct probity_inflight_key key;
    uint64_t wall_ns, cpu_ns; /* these and the following belong to the caller, 0 at first */
    uint32_t thread_slot;
    uint32_t is_cpu_known;
    void *owner;
    struct probity_inflight_item *older, *newer; /* newer: in the free list, the next item */
};

/* All zero: empty. */
struct probity_inflight {
    struct probity_hashtable table;
    uint64_t forgotten; /* counted by the caller */
    struct probity_inflight_item *oldest, *newest, *free;
    struct probity_inflight_slab *slabs;
};

/* Returns NULL if the id is not in flight. */
struct probity_inflight_item *probity_inflight_find(const struct probity_inflight *ids,
                                                    const struct probity_inflight_key *key);

/* Returns the id to evict before adding another one, or NULL if there is room. */
struct probity_inflight_item *probity_inflight_surplus(const struct probity_inflight *ids);

/* Adds an id, which must not be present; there must be room. Returns NULL if out of memory. */
struct probity_inflight_item *probity_inflight_add(struct probity_inflight *ids,
                                                   const struct probity_inflight_key *key);

/* Makes this id the most recently used one. */
void probity_inflight_touch(struct probity_inflight *ids, struct probity_inflight_item *item);

void probity_inflight_remove(struct probity_inflight *ids, struct probity_inflight_item *item);

/* Removes all ids of a trace. The caller need not free their owners. */
void probity_inflight_forget(struct probity_inflight *ids, uint32_t trace);

void probity_inflight_release(struct probity_inflight *ids);

#endif
