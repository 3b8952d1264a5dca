/* SPDX-License-Identifier: MIT
 *
 * clockmap.c: stores anchors, and computes the lines between them. No I/O.
 */
#include "reader/clockmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

#define STEP_NS INT64_C(10000000) /* the format's limit between slewing and setting */
#define JOIN_NS INT64_C(1000000)  /* if anchors of two traces are closer, the rate is too inexact */

/* Whether CLOCK_REALTIME was set between two anchors. */
static int is_step(const struct probity_anchor *a, const struct probity_anchor *b)
{
    int64_t apart =
        (int64_t)(b->realtime_ns - a->realtime_ns - (b->monotonic_ns - a->monotonic_ns));

    return apart > STEP_NS || apart < -STEP_NS || b->realtime_ns < a->realtime_ns;
}

#ifdef PROBITY_DEBUG
int probity_clockmap_is_valid(const struct probity_clockmap *map)
{
    enum { CHECKED = 64 };
    size_t first = map->count > CHECKED ? map->count - CHECKED : 0;

    for (size_t i = first + 1; i < map->count; i++) {
        if (map->anchors[i].ticks <= map->anchors[i - 1].ticks)
            return 0;
    }
    return map->count <= map->capacity;
}
#endif

int probity_clockmap_add(struct probity_clockmap *map, const struct probity_anchor *anchor)
{
    probity_assert(map->count <= map->capacity);
    if (map->count > 0 && anchor->ticks <= map->anchors[map->count - 1].ticks)
        return 0;
    void *anchors =
        probity_array_room(map->anchors, sizeof *map->anchors, map->count, &map->capacity);
    if (anchors == NULL)
        return PROBITY_ERROR_MEMORY;
    map->anchors = anchors;
    if (map->count > 0 && is_step(&map->anchors[map->count - 1], anchor))
        map->steps++;
    if (map->least_ns == 0 || anchor->realtime_ns < map->least_ns)
        map->least_ns = anchor->realtime_ns;
    probity_assert(map->count < map->capacity);
    map->anchors[map->count++] = *anchor;
    map->line.span = 0; /* the last line is no longer unbounded */
    return 0;
}

static int compare_ticks(const void *left, const void *right)
{
    const struct probity_anchor *a = left, *b = right;

    return a->ticks < b->ticks ? -1 : a->ticks > b->ticks;
}

/* Whether an anchor of another trace adds information, as it does if the clock was set in
 * between. */
static int is_worth_joining(const struct probity_clockmap *map, const struct probity_anchor *anchor)
{
    if (map->count == 0)
        return 1;
    const struct probity_anchor *last = &map->anchors[map->count - 1];
    int64_t apart_ns = (int64_t)(anchor->realtime_ns - last->realtime_ns);
    int64_t passed_ns = (int64_t)(anchor->monotonic_ns - last->monotonic_ns);
    int64_t step_ns = (int64_t)((uint64_t)apart_ns - (uint64_t)passed_ns);
    return step_ns > STEP_NS || step_ns < -STEP_NS || (passed_ns >= JOIN_NS && apart_ns >= 0);
}

/* Finds the two anchors, one in each map, that are nearest to each other. */
static void find_nearest(const struct probity_clockmap *a, const struct probity_clockmap *b,
                         size_t *ret_a, size_t *ret_b)
{
    uint64_t least = UINT64_MAX;

    probity_assert(a->count > 0 && b->count > 0);
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        int is_before = a->anchors[i].ticks < b->anchors[j].ticks;
        uint64_t apart = is_before ? b->anchors[j].ticks - a->anchors[i].ticks
                                   : a->anchors[i].ticks - b->anchors[j].ticks;
        if (apart <= least) {
            least = apart;
            *ret_a = i;
            *ret_b = j;
        }
        i += (size_t)is_before;
        j += (size_t)!is_before;
    }
}

/* Returns the mean rate of RAW, in ns per tick × 2^32. */
static uint64_t raw_rate(const struct probity_clockmap *map, uint64_t nominal_rate)
{
    const struct probity_anchor *first = &map->anchors[0], *last = &map->anchors[map->count - 1];

    probity_assert(map->count > 0);
    if (last->ticks <= first->ticks || last->raw_ns <= first->raw_ns)
        return nominal_rate;
    return (uint64_t)(((probity_clock_product)(last->raw_ns - first->raw_ns) << 32) /
                      (last->ticks - first->ticks));
}

/* Returns the offset of CLOCK_MONOTONIC of `source` from that of `first`, modulo 2^64: each time
 * namespace adds an offset to it and to RAW, which advances with the ticks. Returns 0 if the
 * difference may be an error of the clocks. */
static uint64_t namespace_offset(const struct probity_clockmap *first, uint64_t nominal_rate,
                                 const struct probity_clockmap *source)
{
    size_t i = 0, j = 0;

    if (first->count == 0 || source->count == 0)
        return 0;
    find_nearest(first, source, &i, &j);
    const struct probity_anchor *a = &first->anchors[i], *b = &source->anchors[j];
    int is_before = a->ticks < b->ticks;
    uint64_t ticks = is_before ? b->ticks - a->ticks : a->ticks - b->ticks;
    uint64_t ns = (uint64_t)((probity_clock_product)ticks * raw_rate(first, nominal_rate) >> 32);
    uint64_t offset = b->raw_ns - (is_before ? a->raw_ns + ns : a->raw_ns - ns);
    uint64_t size = offset > INT64_MAX ? 0 - offset : offset;
    return size > STEP_NS + ns / 10000 ? offset : 0;
}

int probity_clockmap_join(struct probity_clockmap *map, struct probity_clockmap *const *sources,
                          size_t count)
{
    struct probity_anchor *all;
    size_t total = 0, used = 0;
    int error = 0;

    for (size_t i = 0; i < count; i++)
        total += sources[i]->count;
    all = malloc((total + 1) * sizeof *all);
    if (all == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (sources[i]->count > 0)
            memcpy(all + used, sources[i]->anchors, sources[i]->count * sizeof *all);
        uint64_t offset = namespace_offset(sources[0], map->nominal_rate, sources[i]);
        for (size_t j = 0; j < sources[i]->count; j++)
            all[used + j].monotonic_ns -= offset;
        used += sources[i]->count;
    }
    if (used > 1)
        qsort(all, used, sizeof *all, compare_ticks);
    for (size_t i = 0; error == 0 && i < used; i++) {
        if (is_worth_joining(map, &all[i]))
            error = probity_clockmap_add(map, &all[i]);
    }
    probity_assert(error != 0 || map->count <= total);
    free(all);
    return error;
}

void probity_clockmap_forget(struct probity_clockmap *map, uint64_t tick)
{
    size_t keep = 0;

    probity_assert(map->count > 0);
    while (map->count - keep > 2 && map->anchors[keep + 1].ticks <= tick)
        keep++;
    if (keep == 0)
        return;
    map->count -= keep;
    memmove(map->anchors, map->anchors + keep, map->count * sizeof *map->anchors);
    probity_assert(map->count >= 2 && probity_clockmap_is_valid(map));
}

void probity_clockmap_release(struct probity_clockmap *map)
{
    free(map->anchors);
    map->anchors = NULL;
    map->count = map->capacity = 0;
}

/* Sets the line through anchors a and b, rounded so that it is exact below 2^32 ticks. If the clock
 * was set in between, it starts at a with the rate of CLOCK_MONOTONIC. */
static void line_through(struct probity_clock_line *line, const struct probity_anchor *a,
                         const struct probity_anchor *b)
{
    uint64_t ticks = b->ticks - a->ticks;
    int64_t ns = (int64_t)(is_step(a, b) ? b->monotonic_ns - a->monotonic_ns
                                         : b->realtime_ns - a->realtime_ns);

    probity_assert(a->ticks < b->ticks);
    ns = ns > 0 ? ns : 0;
    line->whole = (uint64_t)ns / ticks;
    probity_clock_product rest = (probity_clock_product)((uint64_t)ns % ticks) << 64;
    line->fraction = (uint64_t)((rest + ticks - 1) / ticks);
}

/* Returns the time `ticks` before the first anchor, rounded down like all other times. */
static uint64_t wall_before(const struct probity_clockmap *map, uint64_t ticks)
{
    const struct probity_anchor *a = &map->anchors[0], *b = a + 1;
    probity_clock_product divisor = (probity_clock_product)1 << 32, ns = map->nominal_rate;

    probity_assert(map->count > 0);
    if (map->count > 1) {
        int64_t pair_ns = (int64_t)(is_step(a, b) ? b->monotonic_ns - a->monotonic_ns
                                                  : b->realtime_ns - a->realtime_ns);
        ns = pair_ns > 0 ? (probity_clock_product)pair_ns : 0;
        divisor = b->ticks - a->ticks;
    }
    return a->realtime_ns - (uint64_t)((ticks * ns + divisor - 1) / divisor);
}

uint64_t probity_clockmap_seek(struct probity_clockmap *map, uint64_t tick)
{
    const struct probity_anchor *anchors = map->anchors;
    struct probity_clock_line *line = &map->line;
    size_t low = 0, high = map->count;

    probity_assert(map->count > 0 && probity_clockmap_is_valid(map));
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (anchors[middle].ticks <= tick)
            low = middle;
        else
            high = middle;
    }
    size_t first = low; /* the anchor from which the line starts */
    if (map->count == 1) {
        line->whole = map->nominal_rate >> 32;
        line->fraction = map->nominal_rate << 32;
    } else if (low + 1 < map->count) {
        line_through(line, &anchors[low], &anchors[low + 1]);
    } else {
        /* After the last anchor, continue the line of the last two anchors; after a step, start at
         * the later anchor. */
        line_through(line, &anchors[low - 1], &anchors[low]);
        first = is_step(&anchors[low - 1], &anchors[low]) ? low : low - 1;
    }
    line->start = anchors[first].ticks;
    line->base_ns = anchors[first].realtime_ns;
    if (tick < line->start) {
        line->span = 0; /* rare: records before the first anchor */
        return wall_before(map, line->start - tick);
    }
    line->span =
        low + 1 < map->count ? anchors[low + 1].ticks - line->start : UINT64_MAX - line->start;
    return line->base_ns + probity_clock_line_at(line, tick - line->start);
}
