/* SPDX-License-Identifier: MIT
 *
 * open_ids.h: what is under way: requests that have begun, items in queues, locks that are held, by
 * the ids that hits tell. A program may begin what it never ends, and memory stays bounded: of
 * PROBITY_OPEN_IDS_MAX the one that was longest left alone is forgotten for a new one.
 */
#ifndef PROBITY_ANALYSIS_OPEN_IDS_H
#define PROBITY_ANALYSIS_OPEN_IDS_H

#include <stddef.h>
#include <stdint.h>

/* 24 MiB. */
enum { PROBITY_OPEN_IDS_MAX = 1 << 18 };

struct probity_open_key {
    uint64_t correlation, object;
    uint32_t trace, kind; /* kind: the user's */
};

struct probity_open_id {
    struct probity_open_key key;
    uint64_t wall_ns, cpu_ns; /* these and the next are the user's, 0 at first */
    uint32_t thread_slot;
    uint32_t is_cpu_known;
    void *owner;
    struct probity_open_id *chain;
    struct probity_open_id *older, *newer; /* newer: also the next of those that are free */
};

/* All zero: empty. */
struct probity_open_ids {
    struct probity_open_id **chains;
    size_t chain_count, count;
    uint64_t forgotten; /* the user's to count */
    struct probity_open_id *oldest, *newest, *free;
    struct probity_open_slab *slabs;
};

/* NULL where there is none. */
struct probity_open_id *probity_open_ids_find(const struct probity_open_ids *ids,
                                              const struct probity_open_key *key);

/* The one to be forgotten before another one is added; NULL where there is room. */
struct probity_open_id *probity_open_ids_surplus(const struct probity_open_ids *ids);

/* Adds one that is not there. Only where none is surplus. NULL without memory. */
struct probity_open_id *probity_open_ids_add(struct probity_open_ids *ids,
                                             const struct probity_open_key *key);

/* It is the newest from now on. */
void probity_open_ids_touch(struct probity_open_ids *ids, struct probity_open_id *item);

void probity_open_ids_remove(struct probity_open_ids *ids, struct probity_open_id *item);

void probity_open_ids_release(struct probity_open_ids *ids);

#endif
