/* SPDX-License-Identifier: MIT
 *
 * clockmap.h: ticks of one trace to CLOCK_REALTIME: straight lines between anchors
 * (doc/trace-format.md, INFO). Keeps only the anchors around the place of the merge.
 */
#ifndef PROBITY_READER_CLOCKMAP_H
#define PROBITY_READER_CLOCKMAP_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"

/* One line: wall = base + ticks * whole + (ticks * fraction >> 64), ticks counted from start. */
struct probity_clock_line {
    uint64_t start, span; /* holds for ticks in [start, start + span) */
    uint64_t base_ns, whole, fraction;
};

struct probity_clockmap {
    struct probity_anchor *anchors; /* ticks ascend */
    size_t count, capacity;
    uint64_t nominal_rate; /* ns per tick × 2^32: until there are two anchors */
    uint64_t steps;        /* how often CLOCK_REALTIME was set between two anchors */
    uint64_t least_ns;     /* the earliest CLOCK_REALTIME of all anchors there ever were */
    struct probity_clock_line line; /* the one that was used last */
};

/* Adds an anchor; one that is not later than the newest is ignored. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_clockmap_add(struct probity_clockmap *map, const struct probity_anchor *anchor);

/* Makes one map of those of several traces that share their ticks: their anchors in order of ticks,
 * without those that tell nothing but the errors of reading clocks: that lie too near to the one
 * before, or are earlier by less than a step. Returns 0 or PROBITY_ERROR_MEMORY; the sources stay.
 */
int probity_clockmap_join(struct probity_clockmap *map, struct probity_clockmap *const *sources,
                          size_t count);

/* Forgets anchors that no tick from `tick` on needs. */
void probity_clockmap_forget(struct probity_clockmap *map, uint64_t tick);

/* The rarer half of probity_clockmap_wall: finds the line. */
uint64_t probity_clockmap_seek(struct probity_clockmap *map, uint64_t tick);

void probity_clockmap_release(struct probity_clockmap *map);

__extension__ typedef unsigned __int128 probity_clock_product;

static inline uint64_t probity_clock_line_at(const struct probity_clock_line *line, uint64_t ticks)
{
    return ticks * line->whole +
           (uint64_t)((probity_clock_product)ticks * line->fraction >> 64);
}

/* CLOCK_REALTIME at tick, ns. At least one anchor was added. */
static inline uint64_t probity_clockmap_wall(struct probity_clockmap *map, uint64_t tick)
{
    uint64_t ticks = tick - map->line.start;

    if (__builtin_expect(ticks < map->line.span, 1))
        return map->line.base_ns + probity_clock_line_at(&map->line, ticks);
    return probity_clockmap_seek(map, tick);
}

#endif
