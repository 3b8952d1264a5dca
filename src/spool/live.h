/* SPDX-License-Identifier: MIT
 *
 * live.h: the spool of this process while it records: segments, threads' states, clock. Shared by
 * the threads that probe (src/runtime/) and the one that writes (src/writer/). Lies in memory that
 * a forked child sees as zeroes.
 */
#ifndef PROBITY_SPOOL_LIVE_H
#define PROBITY_SPOOL_LIVE_H

#include "base/clock.h"
#include "probity.h"
#include "spool/pool.h"

/* What readings of the CPU clock found in the gaps in front of a probe. */
struct probity_slot_gaps {
    uint8_t in_vain;    /* how often in a row the thread had not been off the CPU */
    uint8_t usual_log2; /* gaps up to 2 to the power of this were so; in ticks */
};

/* One thread's state. Owned by the thread; the writer reads cursor, chunk, in_use and tid. */
struct probity_slot {
    struct probity_thread
        hot; /* the inline probe's part; valid_bit is 0 where it must not be used */
    uint32_t chunk;            /* PROBITY_POOL_NONE: none */
    uint16_t in_use;           /* 0: free; stored last when a thread takes the slot */
    uint16_t releasing;        /* 1: its chunk is on the way to the writer */
    uint32_t thread, tid;
    uint32_t session;          /* which of the process's recordings the slot belongs to */
    uint32_t moves;            /* odd while a hit goes to other words than those reserved for it */
    uint64_t moving_tick;      /* its tick */
    struct probity_clock_cpu reading; /* the last of the CPU clock; probity_clock_cpu_copy() */
    uint64_t credit_tick, credit;            /* ticks that may go into readings that find nothing */
    uint64_t unmeasured;                     /* ticks of gaps passed over since the last reading */
    uint32_t busy;                     /* the owner is in a slow path; an end of recording waits */
    uint32_t lost;                     /* records dropped since the last chunk, at most so many */
    struct probity_slot_gaps gaps[8];  /* by probe; probes share places */
};

_Static_assert(sizeof(struct probity_slot) == 128, "two cache lines, no sharing between threads");

struct probity_live {
    struct probity_spool_header *header; /* segment 0 */
    struct probity_slot *slot; /* PROBITY_LIMIT_THREADS of them, untouched ones cost nothing */
    uint32_t slots;                      /* in use at most */
    uint32_t slots_lock; /* to take a slot or to free it; hold with signals blocked */
    uint32_t pid, clock, mode;
    uint32_t anchor_busy; /* 1: a thread is taking one */
    uint32_t failed; /* an enum probity_error once the trace cannot be written; nothing is recorded
                        then */
    uint64_t anchor_tick; /* of the newest anchor */
    uint64_t anchor_ticks_min; /* between two */
    struct probity_clock_moment first;
    struct probity_pool pool;
};

/* Fills a free chunk's header and zeroes its words: everything but state. */
void probity_live_chunk_prepare(struct probity_live *live, uint32_t chunk,
                                const struct probity_slot *slot, int cpu_known);

/* Hands over the slot's chunk, of which `used` words are in use; the slot then has none. Owner with
 * signals blocked, or anyone once the owner is dead or shut out. Returns how many chunks are
 * full. */
uint32_t probity_live_chunk_release(struct probity_live *live, struct probity_slot *slot);

/* Newest estimate of the rate: ns per tick × 2^32. */
static inline uint64_t probity_live_rate(const struct probity_live *live)
{
    return __atomic_load_n(&live->header->rate, __ATOMIC_RELAXED);
}

/* The trace cannot be written: recording ends, and the spool, which holds the rest, says so. */
void probity_live_fail(struct probity_live *live, int system_error);

/* Takes an anchor into the spool, unless one was taken lately or another thread is at it; refines
 * the rate. Any thread, signal handlers too. */
void probity_live_anchor(struct probity_live *live, uint64_t tick);

/* Takes one in any case. The writer only. */
void probity_live_anchor_now(struct probity_live *live, struct probity_clock_moment *ret_moment);

/* So many full chunks give the writer work: a quarter of all, or in a ring, what is above three
 * quarters. */
static inline uint32_t probity_live_chunks_to_wake(const struct probity_live *live)
{
    uint32_t total = probity_pool_total(&live->pool);

    return live->mode == PROBITY_MODE_RING ? total / 4 * 3 + 1 : total / 4;
}

#endif
