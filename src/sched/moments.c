/* SPDX-License-Identifier: MIT
 *
 * moments.c: computes straight lines between neighboring moments; before the first and after the
 * last moment, the nearest line continues.
 */
#include "sched/moments.h"

#include "base/assert.h"
#include "base/ticks.h"

static uint64_t ticks_of(const struct probity_sched_moments *moments, size_t index)
{
    return moments->is_counter ? moments->items[index].ticks : moments->items[index].monotonic_ns;
}

/* Converts a time on the line through two moments; from and to are their times on one clock, base
 * and end on the other. */
static uint64_t on_line(uint64_t at, uint64_t from, uint64_t to, uint64_t base, uint64_t end)
{
    if (to <= from)
        return base + (at - from);
    return base + (uint64_t)((probity_wide)(int64_t)(at - from) * (probity_wide)(end - base) /
                             (probity_wide)(to - from));
}

uint64_t probity_sched_moments_tick(struct probity_sched_moments *moments, uint64_t raw_ns)
{
    const struct probity_clock_moment *items = moments->items;

    probity_assert(moments->count > 0);
    if (moments->count == 1)
        return ticks_of(moments, 0) + (raw_ns - items[0].raw_ns);
    while (moments->at + 2 < moments->count && raw_ns >= items[moments->at + 1].raw_ns)
        moments->at++;
    while (moments->at > 0 && raw_ns < items[moments->at].raw_ns)
        moments->at--;
    size_t at = moments->at;
    return on_line(raw_ns, items[at].raw_ns, items[at + 1].raw_ns, ticks_of(moments, at),
                   ticks_of(moments, at + 1));
}

uint64_t probity_sched_moments_raw(struct probity_sched_moments *moments, uint64_t tick)
{
    const struct probity_clock_moment *items = moments->items;
    size_t at = 0;

    if (moments->count == 1)
        return items[0].raw_ns + (tick - ticks_of(moments, 0));
    while (at + 2 < moments->count && tick >= ticks_of(moments, at + 1))
        at++;
    return on_line(tick, ticks_of(moments, at), ticks_of(moments, at + 1), items[at].raw_ns,
                   items[at + 1].raw_ns);
}

/* Returns the error: half the widest reading, plus the largest distance of a moment from the line
 * between its neighbors. */
static uint64_t error_of(const struct probity_sched_moments *moments)
{
    const struct probity_clock_moment *items = moments->items;
    uint64_t width = 0, furthest = 0;

    for (size_t i = 0; i < moments->count; i++)
        width = items[i].width_ns > width ? items[i].width_ns : width;
    for (size_t i = 1; i + 1 < moments->count; i++) {
        uint64_t tick = on_line(items[i].raw_ns, items[i - 1].raw_ns, items[i + 1].raw_ns,
                                ticks_of(moments, i - 1), ticks_of(moments, i + 1));
        int64_t off = (int64_t)(tick - ticks_of(moments, i));
        uint64_t distance = off < 0 ? (uint64_t)-off : (uint64_t)off;
        furthest = distance > furthest ? distance : furthest;
    }
    /* Widths are in ticks of the counter, whichever clock is used. */
    uint64_t error = probity_ns_of_ticks(width, moments->rate) / 2 + 1;
    return error + (moments->is_counter ? probity_ns_of_ticks(furthest, moments->rate) : furthest);
}

int probity_sched_moments_use(struct probity_sched_moments *moments,
                              const struct probity_clock_moment *items, size_t count,
                              uint32_t clock, uint32_t kind)
{
    enum { KIND_MONOTONIC_NS = 3 };

    *moments = (struct probity_sched_moments){.items = items, .count = count};
    moments->is_counter = kind != KIND_MONOTONIC_NS;
    if (count == 0 || (moments->is_counter && (clock & PROBITY_CLOCK_KIND) != kind))
        return 0;
    moments->rate = probity_clock_is_counter(clock) && count > 1
                        ? probity_clock_rate(&items[0], &items[count - 1])
                        : (uint64_t)1 << 32;
    uint64_t error_ns = error_of(moments);
    moments->error_ns = error_ns < UINT32_MAX ? (uint32_t)error_ns : UINT32_MAX;
    return moments->rate != 0;
}
