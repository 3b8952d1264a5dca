/* SPDX-License-Identifier: MIT
 *
 * live.c: what a chunk goes through at its owner's side, and the anchors. Slow paths: once a chunk, ten times a
 * second.
 */
#include "spool/live.h"

#include <string.h>

void probity_live_chunk_prepare(struct probity_live *live, uint32_t chunk,
                                const struct probity_slot *slot, int cpu_known)
{
    struct probity_pool *pool = &live->pool;
    struct probity_chunk_header *header = probity_pool_header(pool, chunk);

    /* Zero words are what a reader takes as "nothing here"; this also brings the chunk into this core's cache. */
    memset(probity_pool_words(pool, chunk), 0, (size_t)pool->chunk_words * 8);
    header->thread = slot->thread;
    header->tid = slot->tid;
    header->used = 0;
    header->serial = __atomic_add_fetch(&pool->serial, 1, __ATOMIC_RELAXED);
    header->base_tick = slot->measured_tick;
    header->cpu_ns = slot->measured_cpu_ns;
    header->drained = 0;
    header->flags = cpu_known ? PROBITY_CHUNK_CPU_KNOWN : 0;
    /* Release: a reader that sees `open` sees the header and the zeroes. */
    __atomic_store_n(&header->state, PROBITY_CHUNK_OPEN, __ATOMIC_RELEASE);
}

uint32_t probity_live_chunk_release(struct probity_live *live, struct probity_slot *slot)
{
    struct probity_pool *pool = &live->pool;
    uint32_t chunk = slot->chunk;
    uint64_t start = (uint64_t)probity_pool_words(pool, chunk);
    uint64_t used = (__atomic_load_n(&slot->hot.cursor, __ATOMIC_RELAXED) - start) / 8;

    __atomic_store_n(&slot->hot.valid_bit, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->chunk, PROBITY_POOL_NONE, __ATOMIC_RELAXED);
    probity_pool_header(pool, chunk)->used =
        used < pool->chunk_words ? (uint32_t)used : pool->chunk_words;
    return probity_pool_hand_over(pool, chunk);
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
    /* Release: the anchor is whole when it is counted. */
    __atomic_store_n(&header->anchors, number + 1, __ATOMIC_RELEASE);
}

void probity_live_anchor(struct probity_live *live, uint64_t tick, int force)
{
    enum { TRIES = 5 };
    struct probity_spool_header *header = live->header;

    if (!force && tick - __atomic_load_n(&live->anchor_tick, __ATOMIC_RELAXED) <
                      live->anchor_ticks_min)
        return;
    /* Only one takes it; who comes second has one that is as fresh. */
    if (__atomic_exchange_n(&live->anchor_busy, 1, __ATOMIC_ACQUIRE) != 0)
        return;
    probity_clock_moment(live->clock, header->rate, TRIES, &live->newest);
    uint64_t rate = probity_clock_rate(&live->first, &live->newest);
    if (rate != 0)
        __atomic_store_n(&header->rate, rate, __ATOMIC_RELAXED);
    anchor_store(header, &live->newest);
    __atomic_store_n(&live->anchor_tick, live->newest.ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&live->anchor_busy, 0, __ATOMIC_RELEASE);
}
