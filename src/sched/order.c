/* SPDX-License-Identifier: MIT
 *
 * order.c: merges the rings with a heap. A loss begins at the record of the ring that precedes its
 * report; it is recognized when that record is taken.
 */
#include "sched/order.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

enum { NO_LOSS = -1 };
#define KEPT UINT32_MAX /* in place of a ring: the events kept when others were discarded */

struct probity_sched_source {
    uint64_t time_ns; /* time of the next event */
    struct probity_sched_spilled *events; /* a chunk */
    size_t next_chunk;
    uint32_t ring, cpu, at, count;
    int64_t loss; /* index of the loss that ends at the next event, or NO_LOSS */
};

/* Reads the next chunk of the ring. Returns 1, 0 if there is none, or PROBITY_ERROR_READ. */
static int load_chunk(const struct probity_sched_taken *taken,
                      struct probity_sched_source *source)
{
    size_t at = source->next_chunk;

    while (at < taken->chunk_count && taken->chunks[at].ring != source->ring)
        at++;
    source->next_chunk = at + 1;
    if (at >= taken->chunk_count)
        return 0;
    source->at = 0;
    source->cpu = taken->chunks[at].cpu;
    source->count = taken->chunks[at].count;
    size_t bytes = source->count * sizeof *source->events;
    ssize_t got = pread(taken->spill, source->events, bytes,
                        (off_t)(taken->chunks[at].place * PROBITY_SCHED_CHUNK_BYTES));
    return got == (ssize_t)bytes ? 1 : PROBITY_ERROR_READ;
}

static int begin_loss(struct probity_sched_order *order, struct probity_sched_source *source,
                      uint64_t from_ns)
{
    void *losses = probity_array_room(order->losses, sizeof *order->losses, order->loss_count,
                                      &order->loss_capacity);

    if (losses == NULL)
        return PROBITY_ERROR_MEMORY;
    order->losses = losses;
    source->loss = (int64_t)order->loss_count;
    order->losses[order->loss_count++] = (struct probity_sched_loss){from_ns, UINT64_MAX};
    return 0;
}

/* Moves to the next event of the ring. Returns 1, 0 at its end, or an error. */
static int step(struct probity_sched_order *order, struct probity_sched_source *source)
{
    uint64_t before_ns = source->time_ns;

    if (++source->at >= source->count) {
        int got = load_chunk(order->taken, source);
        if (got <= 0)
            return got;
    }
    uint64_t time_kind = source->events[source->at].time_kind;
    source->time_ns = time_kind >> 4;
    source->loss = NO_LOSS;
    if ((time_kind & 15) != PROBITY_SCHED_LOST)
        return 1;
    int error = begin_loss(order, source, before_ns);
    return error == 0 ? 1 : error;
}

/* ---- The heap ----------------------------------------------------------------------------------
 */

static void sift_down(struct probity_sched_order *order, size_t at)
{
    struct probity_sched_source *sources = order->sources, moved = sources[at];
    size_t child;

    while ((child = 2 * at + 1) < order->source_count) {
        child += child + 1 < order->source_count &&
                 sources[child + 1].time_ns < sources[child].time_ns;
        if (moved.time_ns <= sources[child].time_ns)
            break;
        sources[at] = sources[child];
        at = child;
    }
    sources[at] = moved;
}

/* Removes the first source, which is at its end. */
static void drop_first(struct probity_sched_order *order)
{
    free(order->sources[0].events);
    order->sources[0] = order->sources[--order->source_count];
    if (order->source_count > 0)
        sift_down(order, 0);
}

/* Returns the time since which nothing has been discarded. */
static uint64_t beginning_of(const struct probity_sched_taken *taken)
{
    return taken->kept.until_ns > taken->anchors[0].raw_ns ? taken->kept.until_ns
                                                           : taken->anchors[0].raw_ns;
}

/* Starts a source. The first event of a ring may report a loss since the beginning. */
static int start_source(struct probity_sched_order *order, uint32_t ring)
{
    struct probity_sched_source *source = &order->sources[order->source_count];

    *source = (struct probity_sched_source){
        .ring = ring, .time_ns = beginning_of(order->taken), .loss = NO_LOSS};
    source->events = malloc(PROBITY_SCHED_CHUNK_BYTES);
    if (source->events == NULL)
        return PROBITY_ERROR_MEMORY;
    int got = step(order, source);
    if (got <= 0)
        free(source->events);
    order->source_count += got > 0;
    return got < 0 ? got : 0;
}

static int start_kept(struct probity_sched_order *order)
{
    struct probity_sched_source *source = &order->sources[order->source_count];
    uint32_t count;
    struct probity_sched_spilled *events = probity_sched_kept_events(&order->taken->kept, &count);

    if (events == NULL)
        return PROBITY_ERROR_MEMORY;
    if (count == 0) {
        free(events);
        return 0;
    }
    *source = (struct probity_sched_source){.ring = KEPT, .events = events, .count = count,
                                            .time_ns = events[0].time_kind >> 4, .loss = NO_LOSS};
    order->source_count++;
    return 0;
}

int probity_sched_order_open(struct probity_sched_order *order,
                             const struct probity_sched_taken *taken)
{
    uint32_t rings = 0;

    for (size_t i = 0; i < taken->chunk_count; i++)
        rings = taken->chunks[i].ring >= rings ? taken->chunks[i].ring + 1 : rings;
    *order = (struct probity_sched_order){.taken = taken, .lost = taken->kept.lost};
    order->sources = calloc(rings + (size_t)1, sizeof *order->sources);
    if (order->sources == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = start_kept(order);
    for (uint32_t ring = 0; error == 0 && ring < rings; ring++)
        error = start_source(order, ring);
    for (size_t i = order->source_count / 2; i-- > 0;)
        sift_down(order, i);
    if (error != 0)
        probity_sched_order_close(order);
    return error;
}

static struct probity_sched_event event_of(const struct probity_sched_source *source)
{
    const struct probity_sched_spilled *spilled = &source->events[source->at];
    int is_kept = source->ring == KEPT;

    return (struct probity_sched_event){source->time_ns, spilled->tid,
                                        is_kept ? 0 : spilled->other,
                                        (uint32_t)(spilled->time_kind & 15),
                                        is_kept ? spilled->other : source->cpu, 0};
}

int probity_sched_order_next(struct probity_sched_order *order,
                             struct probity_sched_event *ret_event)
{
    while (order->source_count > 0) {
        struct probity_sched_source *source = &order->sources[0];
        *ret_event = event_of(source);
        if (source->loss != NO_LOSS) {
            probity_assert((size_t)source->loss < order->loss_count);
            order->losses[source->loss].until_ns = source->time_ns;
            order->lost += ret_event->tid;
        }
        int is_mark = source->loss != NO_LOSS || ret_event->kind == PROBITY_SCHED_PAUSED;
        int got = step(order, source);
        if (got < 0)
            return got;
        if (got == 0)
            drop_first(order);
        else
            sift_down(order, 0);
        if (is_mark)
            continue;
        order->last_ns = ret_event->time_ns;
        return ret_event->time_ns < order->taken->end_ns;
    }
    return 0;
}

void probity_sched_order_close(struct probity_sched_order *order)
{
    for (size_t i = 0; i < order->source_count; i++)
        free(order->sources[i].events);
    free(order->sources);
    free(order->losses);
    *order = (struct probity_sched_order){.sources = NULL};
}
