/* SPDX-License-Identifier: MIT
 *
 * live.c: the owner's chunk transitions, and anchors. Slow paths, run once per chunk and ten times
 * a second.
 */
#include "spool/live.h"

#include <string.h>

#include "base/assert.h"
#include "base/os.h"
#include "base/ticks.h"

void probity_live_chunk_prepare(struct probity_live *live, uint32_t chunk,
                                const struct probity_thread_state *slot, int cpu_known)
{
    struct probity_pool *pool = &live->pool;
    struct probity_chunk_header *header = probity_pool_header(pool, chunk);
    /* A hit that was moved to this chunk because of a reading of the CPU clock precedes the reading
     * by less than a gap: the thread was on the CPU in between. */
    uint64_t before = slot->relocations & 1 ? slot->hot.gap_ticks : 0;
    uint64_t before_ns = probity_ns_of_ticks(before, probity_live_rate(live));

    probity_assert(probity_pool_chunk_is_valid(pool, chunk));
    probity_assert(__atomic_load_n(&header->state, __ATOMIC_RELAXED) == PROBITY_CHUNK_FREE);
    /* Release: a reader that sees a zero below, or a field, no longer sees the chunk's old state;
     * pairs with the acquire in probity_attach_chunk_stands. Costs nothing on x86. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    /* Readers treat zero words as empty; this also brings the chunk into this core's cache. */
    memset(probity_pool_words(pool, chunk), 0, (size_t)pool->chunk_words * 8);
    header->thread = slot->thread;
    header->tid = slot->tid;
    header->used = 0;
    header->serial = __atomic_add_fetch(&pool->serial, 1, __ATOMIC_RELAXED);
    header->base_tick = slot->reading.tick - before;
    header->cpu_ns = slot->reading.cpu_ns > before_ns ? slot->reading.cpu_ns - before_ns : 0;
    header->drained = 0;
    header->handed_over = 0;
    header->flags = cpu_known ? PROBITY_CHUNK_CPU_KNOWN : 0;
    probity_assert(probity_chunk_is_valid(header, pool->chunk_words));
    /* Release: a reader that sees `open` sees the header and the zeroes. */
    __atomic_store_n(&header->state, PROBITY_CHUNK_OPEN, __ATOMIC_RELEASE);
}

uint32_t probity_live_chunk_release(struct probity_live *live, struct probity_thread_state *slot)
{
    struct probity_pool *pool = &live->pool;
    uint32_t chunk = slot->chunk;
    uint64_t start = (uint64_t)probity_pool_words(pool, chunk);
    uint64_t used = (__atomic_load_n(&slot->hot.cursor, __ATOMIC_RELAXED) - start) / 8;

    probity_assert(probity_pool_chunk_is_valid(pool, chunk));
    probity_assert(__atomic_load_n(&slot->hot.cursor, __ATOMIC_RELAXED) >= start);
    __atomic_store_n(&slot->hot.valid_bit, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->releasing, 1, __ATOMIC_RELAXED);
    /* Release: a thread that sees no chunk also sees that one is being released. */
    __atomic_store_n(&slot->chunk, PROBITY_POOL_NONE, __ATOMIC_RELEASE);
    probity_pool_header(pool, chunk)->used =
        used < pool->chunk_words ? (uint32_t)used : pool->chunk_words;
    probity_pool_header(pool, chunk)->handed_over = probity_clock_ticks(live->clock);
    uint32_t full = probity_pool_hand_over(pool, chunk);
    __atomic_store_n(&slot->releasing, 0, __ATOMIC_RELEASE);
    return full;
}

void probity_live_fail(struct probity_live *live, int system_error)
{
    struct probity_spool_header *header = live->header;

    probity_assert(header != NULL);
    if (!header->failed) {
        header->failed_errno = (uint32_t)system_error;
        header->failed_tick = probity_clock_ticks(live->clock);
        __atomic_store_n(&header->failed, 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&live->failed, 1, __ATOMIC_SEQ_CST);
    /* Ends the wait of threads for a chunk. */
    __atomic_add_fetch(&live->pool.freed, 1, __ATOMIC_SEQ_CST);
    probity_os_wake(&live->pool.freed, INT32_MAX);
}

static void anchor_store(struct probity_spool_header *header,
                         const struct probity_clock_moment *moment)
{
    uint64_t number = header->anchors;
    struct probity_spool_anchor *anchor = &header->anchor[number % PROBITY_SPOOL_ANCHORS];

    anchor->ticks = moment->ticks;
    anchor->raw_ns = moment->raw_ns;
    anchor->monotonic_ns = moment->monotonic_ns;
    anchor->realtime_ns = moment->realtime_ns;
    anchor->width_ns = moment->width_ns;
    /* Release: the anchor is complete when it is counted. */
    __atomic_store_n(&header->anchors, number + 1, __ATOMIC_RELEASE);
}

enum { TRIES = 5 }; /* readings per anchor */

/* Call with anchor_busy held. */
static void anchor_take(struct probity_live *live, struct probity_clock_moment *ret_moment)
{
    probity_assert(__atomic_load_n(&live->anchor_busy, __ATOMIC_RELAXED) == 1);
    probity_clock_moment(live->clock, probity_live_rate(live), TRIES, ret_moment);
    uint64_t rate = probity_clock_rate(&live->first, ret_moment);
    if (rate != 0)
        __atomic_store_n(&live->header->rate, rate, __ATOMIC_RELAXED);
    anchor_store(live->header, ret_moment);
    __atomic_store_n(&live->anchor_tick, ret_moment->ticks, __ATOMIC_RELAXED);
}

void probity_live_anchor(struct probity_live *live, uint64_t tick)
{
    struct probity_clock_moment moment;

    uint64_t newest = __atomic_load_n(&live->anchor_tick, __ATOMIC_RELAXED);
    uint64_t span = newest - live->first.ticks, age_min = live->anchor_ticks_min;

    /* The first estimate of the rate spans less than a millisecond. Until anchors are far apart,
     * each should be ten times as far from the first one as the previous anchor. */
    if (span < age_min / 10)
        age_min = span > age_min / 1000 ? 9 * span : age_min / 100;
    if ((int64_t)(tick - newest) < (int64_t)age_min)
        return;
    /* Only one thread adds an anchor; others use it, since it is recent. */
    if (__atomic_exchange_n(&live->anchor_busy, 1, __ATOMIC_ACQUIRE) != 0)
        return;
    anchor_take(live, &moment);
    __atomic_store_n(&live->anchor_busy, 0, __ATOMIC_RELEASE);
}

void probity_live_anchor_now(struct probity_live *live, struct probity_clock_moment *ret_moment)
{
    enum { LOOK_AGAIN_NS = 20000, LOOKS = 50 };
    uint32_t never = 0;

    /* The holder may never release it if it was stopped, or left by a jump out of a signal
     * handler. */
    for (int i = 0; __atomic_exchange_n(&live->anchor_busy, 1, __ATOMIC_ACQUIRE) != 0; i++) {
        if (i == LOOKS) {
            probity_clock_moment(live->clock, probity_live_rate(live), TRIES, ret_moment);
            return;
        }
        probity_os_wait(&never, 0, LOOK_AGAIN_NS);
    }
    anchor_take(live, ret_moment);
    __atomic_store_n(&live->anchor_busy, 0, __ATOMIC_RELEASE);
}
