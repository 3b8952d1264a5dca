/* SPDX-License-Identifier: MIT
 *
 * drops.c: stores intervals in which records were dropped, and merges neighbors.
 */
#include "reader/drops.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

void probity_drops_begin(struct probity_drops *drops, uint64_t realtime_ns)
{
    drops->count = 0;
    drops->dropped = 0;
    drops->seen_ns = realtime_ns;
}

/* Merges the two neighbors with the least time between them. */
static void join_nearest(struct probity_drops *drops)
{
    size_t nearest = 1;
    uint64_t least_ns = UINT64_MAX;

    probity_assert(drops->count >= 2);
    for (size_t i = 1; i < drops->count; i++) {
        uint64_t gap_ns = drops->items[i].from_ns - drops->items[i - 1].to_ns;
        nearest = gap_ns < least_ns ? i : nearest;
        least_ns = gap_ns < least_ns ? gap_ns : least_ns;
    }
    drops->items[nearest - 1].to_ns = drops->items[nearest].to_ns;
    drops->items[nearest - 1].records += drops->items[nearest].records;
    memmove(drops->items + nearest, drops->items + nearest + 1,
            (drops->count - nearest - 1) * sizeof *drops->items);
    drops->count--;
}

static int add(struct probity_drops *drops, struct probity_trace_drop drop)
{
    struct probity_trace_drop *last = drops->count > 0 ? &drops->items[drops->count - 1] : NULL;

    probity_assert(drop.from_ns <= drop.to_ns && drop.records > 0);
    if (last != NULL && drop.from_ns <= last->to_ns) {
        last->to_ns = drop.to_ns > last->to_ns ? drop.to_ns : last->to_ns;
        last->records += drop.records;
        return 0;
    }
    if (drops->count == PROBITY_DROPS_MAX)
        join_nearest(drops);
    void *items =
        probity_array_room(drops->items, sizeof *drops->items, drops->count, &drops->capacity);
    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    drops->items = items;
    probity_assert(drops->count < drops->capacity && drops->count < PROBITY_DROPS_MAX);
    drops->items[drops->count++] = drop;
    return 0;
}

/* Ignores times of a clock that was set back, and a lower count from a damaged SYNC. */
int probity_drops_see(struct probity_drops *drops, uint64_t realtime_ns,
                      const struct probity_totals *totals)
{
    uint64_t dropped = probity_totals_dropped(totals), from_ns = drops->seen_ns;
    uint64_t more = dropped > drops->dropped ? dropped - drops->dropped : 0;

    drops->seen_ns = realtime_ns;
    drops->dropped += more;
    if (more == 0)
        return 0;
    return add(drops, (struct probity_trace_drop){
                          from_ns, realtime_ns > from_ns ? realtime_ns : from_ns, more});
}

void probity_drops_release(struct probity_drops *drops)
{
    free(drops->items);
    *drops = (struct probity_drops){.count = 0};
}
