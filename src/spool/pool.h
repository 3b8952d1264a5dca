/* SPDX-License-Identifier: MIT
 *
 * pool.h: the chunks of a live spool, as its own process sees them: who is free, who is full. The
 * truth for a later reader is the state in each chunk's header; the lists here only make it quick
 * to find, and are private memory.
 *
 *     free ──probity_pool_take──► open (a thread's) ──probity_pool_hand_over──► full ──writer──►
 * free
 *
 * Threads take and hand over; only the one who holds the drain lock (the writer) frees. No locks:
 * a stack with a tag against reuse each way. Any thread, with signals blocked.
 */
#ifndef PROBITY_SPOOL_POOL_H
#define PROBITY_SPOOL_POOL_H

#include "base/limits.h"
#include "spool/layout.h"

#define PROBITY_POOL_NONE UINT32_MAX

/* What only the process needs to know of a chunk. */
struct probity_pool_chunk {
    uint32_t next;        /* in a list */
    uint32_t is_held;     /* 1: readers were told that nothing as old as what is left comes */
    uint64_t waits_since; /* tick since which the writer waits for a hole; 0: it does not */
};

struct probity_pool_segment {
    void *at;
    struct probity_pool_chunk *chunk;
};

struct probity_pool {
    struct probity_pool_segment segment[PROBITY_LIMIT_SEGMENTS];
    uint32_t segments; /* stored last (release) when one is added */
    uint32_t chunks_per_segment, chunk_words;
    uint32_t free_chunks, full_chunks, open_chunks; /* estimates between operations */
    uint64_t free_list, full_list;     /* tag << 32 | chunk + 1 */
    uint64_t serial;
    uint32_t freed;   /* futex: counts frees */
    uint32_t waiters; /* threads that wait for it */
};

/* Adds a mapped segment; its chunks become free. Called under the session's lock. 0, or
 * PROBITY_ERROR_MEMORY. */
int probity_pool_add(struct probity_pool *pool, void *segment);

/* Takes a free chunk, or PROBITY_POOL_NONE. Its words are not yet zero, its header not set. */
uint32_t probity_pool_take(struct probity_pool *pool);

/* Hands a chunk to the writer: its header's used must be set; stores the state. Returns how many
 * are full now. */
uint32_t probity_pool_hand_over(struct probity_pool *pool, uint32_t chunk);

/* All full chunks, oldest first, linked by `next`; NONE where there are none. */
uint32_t probity_pool_collect(struct probity_pool *pool);

/* A full chunk with a hole in it counts as open while the writer waits for the hole (tick: since
 * when), because no writing makes it free: else threads would wait for it, and the writer would not
 * sleep. */
void probity_pool_wait_begins(struct probity_pool *pool, uint32_t chunk, uint64_t tick);

/* Makes a drained chunk free again and wakes who waits. */
void probity_pool_free(struct probity_pool *pool, uint32_t chunk);

/* All chunks that there are. Relaxed: a thread may add a segment at any time, and whoever counts
 * decides the same a moment later. */
static inline uint32_t probity_pool_total(const struct probity_pool *pool)
{
    return __atomic_load_n(&pool->segments, __ATOMIC_RELAXED) * pool->chunks_per_segment;
}

static inline struct probity_chunk_header *probity_pool_header(const struct probity_pool *pool,
                                                               uint32_t chunk)
{
    return probity_spool_chunk(pool->segment[chunk / pool->chunks_per_segment].at,
                               chunk % pool->chunks_per_segment);
}

static inline uint64_t *probity_pool_words(const struct probity_pool *pool, uint32_t chunk)
{
    return probity_spool_words(pool->segment[chunk / pool->chunks_per_segment].at,
                               pool->chunks_per_segment, pool->chunk_words,
                               chunk % pool->chunks_per_segment);
}

static inline struct probity_pool_chunk *probity_pool_private(const struct probity_pool *pool,
                                                              uint32_t chunk)
{
    return &pool->segment[chunk / pool->chunks_per_segment].chunk[chunk % pool->chunks_per_segment];
}

/* Atomic: a thread that lost the race for a chunk may still look at its old link, and then fails to
 * take it. */
static inline void probity_pool_link(struct probity_pool *pool, uint32_t chunk, uint32_t next)
{
    __atomic_store_n(&probity_pool_private(pool, chunk)->next, next, __ATOMIC_RELAXED);
}

#endif
