/* SPDX-License-Identifier: MIT
 *
 * pool.h: the free and full chunks of a live spool, for its own process. Readers of the spool use
 * the state in each chunk's header; the lists here are an index in private memory.
 *
 *     free ──probity_pool_take──► open (a thread's) ──probity_pool_hand_over──► full
 *       ▲                                                                         │
 *       └──────────────────────────────────writer─────────────────────────────────┘
 *
 * Threads take and hand over; only the holder of the draining lock (the writer) frees. Lock-free:
 * one stack per direction, with a tag against ABA. Any thread, with signals blocked.
 */
#ifndef PROBITY_SPOOL_POOL_H
#define PROBITY_SPOOL_POOL_H

#include "base/backoff.h"
#include "base/limits.h"
#include "spool/layout.h"

#define PROBITY_POOL_NONE UINT32_MAX

/* Per-chunk state private to the process. */
struct probity_pool_chunk {
    uint32_t next;        /* next chunk of its list */
    uint32_t is_pinned;   /* 1: the writer has not written it to a dump yet */
    uint32_t is_held;     /* 1: the watermark is already past the rest of its records */
    uint64_t waits_since; /* tick at which the writer began to wait for a hole; 0: it does not */
    /* What src/writer/watch.c has read of the chunk with this serial: number of words, last
     * tick. */
    uint64_t watched_serial, watched_tick;
    uint64_t plain_serial; /* the full chunk with this serial has neither declarations nor holes */
    uint64_t stuck_tick; /* when reading first stopped before the word `stuck` - 1 */
    uint32_t watched, stuck;
    struct probity_pool_watched { /* the last hit that was read */
        uint64_t conditions; /* on spans that it begins */
        uint64_t tick, object;
        uint32_t role; /* as in doc/trace-format.md */
    } watched_hit;
};

struct probity_pool_segment {
    void *at;
    struct probity_pool_chunk *chunk;
    uint32_t present; /* number of chunks with pages: the first ones; under extend_lock */
};

struct probity_pool {
    uint32_t segments; /* stored last (release) when one is added */
    uint32_t chunks_per_segment, chunk_words;
    uint32_t present; /* chunks whose pages exist, in all segments */
    uint32_t total;   /* `present`, plus chunks that can still be added unless the last attempt
                         failed */
    uint32_t extend_lock, extend_asked;
    struct probity_backoff extend_backoff;
    uint32_t free_chunks, full_chunks, open_chunks; /* approximate between operations */
    uint64_t free_list, full_list;     /* tag << 32 | chunk + 1 */
    uint64_t serial;
    uint32_t freed;   /* futex: number of frees */
    uint32_t waiters; /* number of threads waiting on it */
    /* Last: entries from `segments` on are never read, and need not be cleared. */
    struct probity_pool_segment segment[PROBITY_LIMIT_SEGMENTS];
};

/* Adds a mapped segment; its first `present` chunks become free. Call with the session's lock held.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_pool_add(struct probity_pool *pool, void *segment, uint32_t present);

/* Allocates the pages of one more chunk, which becomes free. Any thread, with signals blocked.
 * Returns 0, PROBITY_ERROR_STATE (all have pages, or backing off after a failure), or
 * PROBITY_ERROR_MEMORY (no room). */
int probity_pool_extend(struct probity_pool *pool);

/* Takes a free chunk, or returns PROBITY_POOL_NONE. Its words are not zeroed and its header is not
 * set. */
uint32_t probity_pool_take(struct probity_pool *pool);

/* Hands a chunk to the writer: its header's `used` must be set; stores the state. Returns the
 * number of full chunks. */
uint32_t probity_pool_hand_over(struct probity_pool *pool, uint32_t chunk);

/* Takes all full chunks, oldest first, linked by `next`; PROBITY_POOL_NONE if there are none. */
uint32_t probity_pool_collect(struct probity_pool *pool);

/* With an external drainer: frees the full chunks whose state the drainer has set to free. Returns
 * their number. */
uint32_t probity_pool_reclaim(struct probity_pool *pool);

/* Frees the oldest full chunk for which may_go returns 1. Returns 1 or 0. One caller at a time. */
int probity_pool_forget(struct probity_pool *pool,
                        int (*may_go)(struct probity_pool *pool, uint32_t chunk));

/* Counts a full chunk with a hole as open while the writer waits for the hole (since `tick`),
 * because draining does not free the chunk. Otherwise threads would wait for it, and the writer
 * would not sleep. */
void probity_pool_wait_begins(struct probity_pool *pool, uint32_t chunk, uint64_t tick);

/* Frees a drained chunk and wakes waiters. */
void probity_pool_free(struct probity_pool *pool, uint32_t chunk);

/* Returns the number of chunks, with or without pages. Relaxed: a thread may add a segment at any
 * time, and a stale count only delays a decision. */
static inline uint32_t probity_pool_total(const struct probity_pool *pool)
{
    return __atomic_load_n(&pool->total, __ATOMIC_RELAXED);
}

/* Returns whether threads may soon have to add pages themselves. */
static inline int probity_pool_is_low(const struct probity_pool *pool)
{
    return __atomic_load_n(&pool->free_chunks, __ATOMIC_RELAXED) == 0 &&
           __atomic_load_n(&pool->present, __ATOMIC_RELAXED) < probity_pool_total(pool);
}

/* Returns whether this is the number of a chunk of the pool, in a mapped segment. */
static inline int probity_pool_chunk_is_valid(const struct probity_pool *pool, uint32_t chunk)
{
    return chunk / pool->chunks_per_segment < __atomic_load_n(&pool->segments, __ATOMIC_ACQUIRE);
}

/* Returns whether the number of chunks with pages is the sum over all segments. Call with
 * extend_lock held. */
int probity_pool_is_valid(const struct probity_pool *pool);

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

/* Atomic: a thread that lost the race for a chunk may still read the chunk's old link; then its
 * exchange fails. */
static inline void probity_pool_link(struct probity_pool *pool, uint32_t chunk, uint32_t next)
{
    __atomic_store_n(&probity_pool_private(pool, chunk)->next, next, __ATOMIC_RELAXED);
}

#endif
