/* SPDX-License-Identifier: MIT
 *
 * clockmap.h: converts ticks of one trace to CLOCK_REALTIME, by straight lines between anchors
 * (doc/trace-format.md, INFO). Keeps only the anchors around the position of the merge.
 */
#ifndef PROBITY_READER_CLOCKMAP_H
#define PROBITY_READER_CLOCKMAP_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"

/* A line: wall = base + ticks * whole + (ticks * fraction >> 64), ticks counted from start. */
struct probity_clock_line {
    uint64_t start, span; /* valid for ticks in [start, start + span) */
    uint64_t base_ns, whole, fraction;
};

struct probity_clockmap {
    struct probity_anchor *anchors; /* in order of ticks */
    size_t count, capacity;
    uint64_t nominal_rate; /* ns per tick × 2^32, used until there are two anchors */
    uint64_t steps;        /* number of times CLOCK_REALTIME was set between two anchors */
    uint64_t least_ns;     /* the earliest CLOCK_REALTIME of all anchors */
    struct probity_clock_line line; /* the line used last */
};

/* Whether the anchors are in order. If there are many, only the last ones are checked. */
int probity_clockmap_is_valid(const struct probity_clockmap *map);

/* Adds an anchor, unless it is not later than the latest one. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_clockmap_add(struct probity_clockmap *map, const struct probity_anchor *anchor);

/* Joins the maps of several traces that share their ticks: takes their anchors in order of ticks,
 * except those whose difference is only an error of reading clocks: they are too close to the
 * previous anchor, or earlier by less than a step. The traces may be from different time
 * namespaces. The sources are not changed. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_clockmap_join(struct probity_clockmap *map, struct probity_clockmap *const *sources,
                          size_t count);

/* Drops anchors that are not needed for ticks from `tick` on. */
void probity_clockmap_forget(struct probity_clockmap *map, uint64_t tick);

/* The slow path of probity_clockmap_wall(): finds the line. */
uint64_t probity_clockmap_seek(struct probity_clockmap *map, uint64_t tick);

void probity_clockmap_release(struct probity_clockmap *map);

__extension__ typedef unsigned __int128 probity_clock_product;

static inline uint64_t probity_clock_line_at(const struct probity_clock_line *line, uint64_t ticks)
{
    return ticks * line->whole +
           (uint64_t)((probity_clock_product)ticks * line->fraction >> 64);
}

/* Returns CLOCK_REALTIME at a tick, in ns. At least one anchor must have been added. */
static inline uint64_t probity_clockmap_wall(struct probity_clockmap *map, uint64_t tick)
{
    uint64_t ticks = tick - map->line.start;

    if (__builtin_expect(ticks < map->line.span, 1))
        return map->line.base_ns + probity_clock_line_at(&map->line, ticks);
    return probity_clockmap_seek(map, tick);
}

#endif
