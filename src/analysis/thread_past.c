/* SPDX-License-Identifier: MIT
 *
 * thread_past.c: a ring of points for each thread, which grows while its points are needed.
 */
#include "analysis/thread_past.h"

#include <stdlib.h>

#include "base/array_grow.h"
#include "probity.h"

enum { RING_FIRST = 16 };

__extension__ typedef unsigned __int128 wide;

struct past_ring {
    struct probity_past_point *points;
    uint32_t first, count, capacity; /* capacity: a power of two, or 0 */
};

static struct probity_past_point *point_at(const struct past_ring *ring, uint32_t index)
{
    return &ring->points[(ring->first + index) & (ring->capacity - 1)];
}

static struct past_ring *ring_of(const struct probity_past *past, uint32_t slot)
{
    return slot < past->ring_count ? &past->rings[slot] : NULL;
}

/* Enlarges the ring, or leaves it unchanged if out of memory. */
static void grow_ring(struct probity_past *past, struct past_ring *ring)
{
    uint32_t capacity = ring->capacity > 0 ? 2 * ring->capacity : RING_FIRST;
    struct probity_past_point *points = malloc(capacity * sizeof *points);

    if (points == NULL)
        return;
    for (uint32_t i = 0; i < ring->count; i++)
        points[i] = *point_at(ring, i);
    free(ring->points);
    past->points += capacity - ring->capacity;
    ring->points = points;
    ring->first = 0;
    ring->capacity = capacity;
}

/* Makes room in a full ring. If a time is needed, so is the point before it, which begins the
 * stretch at that time. */
static int make_room(struct probity_past *past, struct past_ring *ring, uint64_t needed_ns)
{
    int is_needed = ring->count < 2 || point_at(ring, 1)->wall_ns > needed_ns;

    if (is_needed && past->points + ring->capacity <= PROBITY_PAST_POINTS_MAX)
        grow_ring(past, ring);
    if (ring->count < ring->capacity)
        return 0;
    if (ring->capacity == 0) /* each thread gets a few points, regardless of the limit */
        grow_ring(past, ring);
    if (ring->capacity == 0)
        return PROBITY_ERROR_MEMORY;
    if (ring->count == ring->capacity) {
        past->forgotten += (uint64_t)is_needed;
        ring->first++;
        ring->count--;
    }
    return 0;
}

int probity_past_put(struct probity_past *past, uint32_t thread_slot,
                     const struct probity_past_point *point, uint64_t needed_ns)
{
    if (thread_slot >= past->ring_count) {
        void *grown = probity_array_grow(past->rings, sizeof *past->rings, thread_slot,
                                         &past->ring_count);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        past->rings = grown;
    }
    struct past_ring *ring = &past->rings[thread_slot];
    if (ring->count == ring->capacity && make_room(past, ring, needed_ns) != 0)
        return PROBITY_ERROR_MEMORY;
    ring->count++;
    *point_at(ring, ring->count - 1) = *point;
    return 0;
}

/* Returns the number of points before to_ns. */
static uint32_t count_before(const struct past_ring *ring, uint64_t to_ns)
{
    uint32_t low = 0, high = ring->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (point_at(ring, middle)->wall_ns < to_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the stretch between two points, cut at from_ns and to_ns. */
static struct probity_past_stretch cut(const struct probity_past_point *begin,
                                       const struct probity_past_point *end, uint64_t from_ns,
                                       uint64_t to_ns)
{
    struct probity_past_stretch stretch = {
        begin->wall_ns > from_ns ? begin->wall_ns : from_ns,
        end->wall_ns < to_ns ? end->wall_ns : to_ns, 0, begin->doing,
        begin->is_cpu_known && end->is_cpu_known};
    uint64_t wall_ns = end->wall_ns - begin->wall_ns, part_ns = stretch.to_ns - stretch.from_ns;
    uint64_t cpu_ns = end->cpu_ns > begin->cpu_ns ? end->cpu_ns - begin->cpu_ns : 0;

    cpu_ns = cpu_ns < wall_ns ? cpu_ns : wall_ns;
    if (stretch.is_cpu_known && wall_ns > 0)
        stretch.cpu_ns = (uint64_t)((wide)cpu_ns * part_ns / wall_ns);
    return stretch;
}

int probity_past_before(const struct probity_past *past, uint32_t thread_slot, uint64_t from_ns,
                        uint64_t to_ns, struct probity_past_stretch *ret_stretch)
{
    const struct past_ring *ring = ring_of(past, thread_slot);
    uint32_t before = ring != NULL ? count_before(ring, to_ns) : 0;

    if (before == 0)
        return 0;
    const struct probity_past_point *begin = point_at(ring, before - 1);
    const struct probity_past_point open_end = {.wall_ns = to_ns};
    *ret_stretch = cut(begin, before < ring->count ? point_at(ring, before) : &open_end, from_ns,
                       to_ns);
    return 1;
}

void probity_past_lose(struct probity_past *past, uint32_t thread_slot)
{
    const struct past_ring *ring = ring_of(past, thread_slot);

    if (ring == NULL || ring->count == 0)
        return;
    struct probity_past_point *latest = point_at(ring, ring->count - 1);
    latest->doing = (struct probity_past_doing){NULL, NULL};
    latest->is_cpu_known = 0;
}

int probity_past_latest(const struct probity_past *past, uint32_t thread_slot,
                        struct probity_past_point *ret_point)
{
    const struct past_ring *ring = ring_of(past, thread_slot);

    if (ring == NULL || ring->count == 0)
        return 0;
    *ret_point = *point_at(ring, ring->count - 1);
    return 1;
}

struct probity_past_doing probity_past_now(const struct probity_past *past, uint32_t thread_slot)
{
    struct probity_past_point latest;

    if (!probity_past_latest(past, thread_slot, &latest))
        return (struct probity_past_doing){NULL, NULL};
    return latest.doing;
}

void probity_past_release(struct probity_past *past)
{
    for (uint32_t slot = 0; slot < past->ring_count; slot++)
        free(past->rings[slot].points);
    free(past->rings);
}
