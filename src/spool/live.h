/* SPDX-License-Identifier: MIT
 *
 * live.h: the spool of this process during recording: segments, thread states, clock. Shared by
 * threads that probe (src/runtime/) and the writer thread (src/writer/). In memory that a forked
 * child sees as zeroes.
 */
#ifndef PROBITY_SPOOL_LIVE_H
#define PROBITY_SPOOL_LIVE_H

#include "base/clock.h"
#include "probity.h"
#include "spool/pool.h"

/* Results of CPU clock readings in the gaps before a probe. */
struct probity_thread_gaps {
    uint8_t wasted;     /* consecutive readings that found no time off the CPU */
    uint8_t usual_log2; /* log2 of the longest gap among them, in ticks */
};

/* State of one thread. Owned by that thread; the writer reads cursor, chunk, in_use and tid. */
struct probity_thread_state {
    struct probity_thread
        hot; /* for the inline probe; valid_bit is 0 if it must not be used */
    uint32_t chunk;            /* PROBITY_POOL_NONE: none */
    uint16_t in_use;           /* 0: free; stored last when a thread takes the state */
    uint16_t releasing;        /* 1: its chunk is being handed to the writer */
    uint32_t thread, tid;
    uint32_t session;          /* the recording of this process to which the state belongs */
    uint32_t relocations;      /* odd while a hit is stored outside its reserved words */
    uint64_t relocating_tick;  /* tick of that hit */
    struct probity_clock_cpu reading; /* last reading of the CPU clock; probity_clock_cpu_copy() */
    uint64_t credit_tick;
    int64_t credit;                    /* ticks left for readings; below 0: too many were made */
    uint64_t unmeasured;                     /* ticks of skipped gaps since the last reading */
    uint32_t busy;                     /* the owner is in a slow path; ending the recording waits */
    uint32_t lost;                     /* upper bound of records dropped since the last chunk */
    struct probity_thread_gaps gaps[8]; /* by probe; probes may share an entry */
};

_Static_assert(sizeof(struct probity_thread_state) == 128,
               "two cache lines, no sharing between threads");

struct probity_live {
    struct probity_spool_header *header; /* that of segment 0 */
    /* PROBITY_LIMIT_THREADS of them; unused ones cost nothing */
    struct probity_thread_state *slot;
    uint32_t slots;                      /* upper bound of the number in use */
    uint32_t slots_lock; /* to take or free a state; hold with signals blocked */
    uint32_t pid, clock;
    uint32_t mode; /* an enum probity_mode; changed by the writer thread */
    uint32_t anchor_busy; /* 1: a thread is adding one */
    uint32_t failed; /* enum probity_error: the trace is not writable, recording has ended */
    uint64_t anchor_tick; /* tick of the newest anchor */
    uint64_t ring_ticks;   /* window of a ring; 0: as much as its memory holds */
    uint64_t anchor_ticks_min; /* minimum ticks between two; less at the beginning of a recording */
    struct probity_clock_moment first;
    struct probity_pool pool;
    void *memory; /* for the writer's buffers, if they fit; or NULL. Kept for all recordings. */
    size_t memory_bytes;
};

/* Returns whether the state of a thread is valid, as it must be between two steps of its owner: its
 * chunk belongs to the pool, and the valid bit is 0 or the chunk's size. */
static inline int probity_thread_state_is_valid(const struct probity_live *live,
                                                const struct probity_thread_state *slot)
{
    uint32_t chunk = __atomic_load_n(&slot->chunk, __ATOMIC_RELAXED);
    uint64_t bit = __atomic_load_n(&slot->hot.valid_bit, __ATOMIC_RELAXED);

    return (chunk == PROBITY_POOL_NONE || probity_pool_chunk_is_valid(&live->pool, chunk)) &&
           (bit == 0 || bit == (uint64_t)live->pool.chunk_words * 8);
}

/* Fills a free chunk's header except state, and zeroes its words. */
void probity_live_chunk_prepare(struct probity_live *live, uint32_t chunk,
                                const struct probity_thread_state *slot, int cpu_known);

/* Hands over the thread's chunk, of which `used` words are in use; the thread then has none. Called
 * by the owner with signals blocked, or by any thread once the owner is dead or excluded. Returns
 * the number of full chunks. */
uint32_t probity_live_chunk_release(struct probity_live *live, struct probity_thread_state *slot);

static inline int probity_live_mode(const struct probity_live *live)
{
    return (int)__atomic_load_n(&live->mode, __ATOMIC_RELAXED);
}

/* Returns the newest estimate of the rate: ns per tick × 2^32. */
static inline uint64_t probity_live_rate(const struct probity_live *live)
{
    return __atomic_load_n(&live->header->rate, __ATOMIC_RELAXED);
}

/* Marks the trace as unwritable, in the spool's header too: recording ends, and the rest stays in
 * the spool. */
void probity_live_fail(struct probity_live *live, int system_error);

/* Adds an anchor to the spool, unless one was added recently or another thread is adding one;
 * refines the rate. Any thread, async-signal-safe. */
void probity_live_anchor(struct probity_live *live, uint64_t tick);

/* Adds an anchor unconditionally. Writer only. */
void probity_live_anchor_now(struct probity_live *live, struct probity_clock_moment *ret_moment);

/* Returns the number of full chunks at which the writer is woken, at least 1: a quarter of all, or
 * for a ring, those above three quarters. */
static inline uint32_t probity_live_chunks_to_wake(const struct probity_live *live)
{
    uint32_t total = probity_pool_total(&live->pool);

    if (probity_live_mode(live) == PROBITY_MODE_RING)
        return total / 4 * 3 + 1;
    return total >= 4 ? total / 4 : 1;
}

#endif
