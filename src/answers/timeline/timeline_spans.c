/* SPDX-License-Identifier: MIT
 *
 * timeline_spans.c: adds threads, lanes and spans to a timeline, within its budget. The callers
 * decide what becomes a span: timeline.c for calls and marks, timeline_states.c and
 * timeline_tracks.c for other records.
 */
#include "answers/timeline/timeline_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "probity.h"

/* ---- Threads -----------------------------------------------------------------------------------
 */

void timeline_release_thread(struct timeline_thread *thread)
{
    for (uint32_t depth = 0; depth < thread->facts.depth; depth++) {
        free(thread->facts.calls[depth].spans);
        free(thread->open[depth].bytes);
    }
    free(thread->facts.stretches.spans);
    free(thread->facts.marks.spans);
    free(thread->facts.blocks.spans);
    free(thread->facts.states.spans);
    free(thread->hit.values.bytes);
    free(thread->facts.calls);
    free(thread->facts.name);
    free(thread->open);
    free(thread);
}

struct timeline_thread *timeline_new_thread(const struct probity_event *event)
{
    struct timeline_thread *thread = calloc(1, sizeof *thread);

    if (thread == NULL)
        return NULL;
    thread->facts.trace = event->trace;
    thread->facts.thread = event->thread;
    thread->facts.tid = event->tid;
    thread->facts.pid = event->pid;
    return thread;
}

static int list_thread(struct probity_timeline *timeline, struct timeline_thread *thread)
{
    size_t count = timeline->thread_count;
    const struct probity_timeline_thread **threads =
        probity_array_append(timeline->threads, sizeof *threads, count);

    if (threads == NULL)
        return PROBITY_ERROR_MEMORY;
    timeline->threads = threads;
    thread->place = (uint32_t)count;
    thread->is_listed = 1;
    threads[timeline->thread_count++] = &thread->facts;
    return 0;
}

int timeline_add_thread(struct probity_timeline *timeline, const struct probity_event *event,
                        struct timeline_thread **ret_thread)
{
    struct timeline_thread *thread = timeline_new_thread(event);

    if (thread == NULL || list_thread(timeline, thread) != 0) {
        free(thread);
        return PROBITY_ERROR_MEMORY;
    }
    *ret_thread = thread;
    return 0;
}

int timeline_list(struct probity_timeline *timeline, uint32_t slot)
{
    struct timeline_thread *thread = timeline->by_slot[slot];

    if (thread == NULL || thread->is_listed)
        return 0;
    if (timeline->thread_count < PROBITY_TIMELINE_THREADS_MAX)
        return list_thread(timeline, thread);
    timeline_release_thread(thread);
    timeline->by_slot[slot] = NULL;
    timeline->is_beyond[slot] = 1;
    timeline->facts.threads_beyond++;
    return 0;
}

int timeline_reach_depth(struct timeline_thread *thread, uint32_t depth)
{
    if (depth < thread->facts.depth)
        return 0;
    struct probity_timeline_lane *calls =
        realloc(thread->facts.calls, (depth + 1) * sizeof *calls);
    if (calls != NULL)
        thread->facts.calls = calls;
    struct timeline_bytes *open =
        calls != NULL ? realloc(thread->open, (depth + 1) * sizeof *open) : NULL;
    if (open == NULL)
        return PROBITY_ERROR_MEMORY;
    thread->open = open;
    for (; thread->facts.depth <= depth; thread->facts.depth++) {
        calls[thread->facts.depth] = (struct probity_timeline_lane){0};
        open[thread->facts.depth] = (struct timeline_bytes){0};
    }
    return 0;
}

/* ---- Spans -------------------------------------------------------------------------------------
 */

/* Times mostly increase, so the interval of the previous span often contains the next one. */
static int is_in_stretch(struct probity_timeline *timeline, uint64_t wall_ns)
{
    const struct probity_timeline_stretch *stretches = timeline->stretches;
    size_t low = timeline->stretch, high = low + 1, count = timeline->stretch_count;

    if (wall_ns < stretches[low].from_ns || (high < count && wall_ns >= stretches[high].from_ns)) {
        for (low = 0, high = count; high - low > 1;) {
            size_t middle = low + (high - low) / 2;
            if (wall_ns < stretches[middle].from_ns)
                high = middle;
            else
                low = middle;
        }
        timeline->stretch = low;
    }
    return wall_ns >= stretches[low].from_ns && wall_ns < stretches[low].to_ns;
}

int timeline_is_inside(struct probity_timeline *timeline, uint64_t wall_ns)
{
    return wall_ns >= timeline->options.from_ns && wall_ns < timeline->options.to_ns &&
           (!timeline->is_closer || is_in_stretch(timeline, wall_ns));
}

int timeline_keep_values(struct timeline_bytes *open, const struct probity_event *event)
{
    int is_hit = event->kind == PROBITY_EVENT_HIT;
    const struct probity_timeline_values values = {
        event->kind, event->format, is_hit ? event->payload : event->values,
        is_hit ? event->payload_bytes : event->value_bytes};

    return timeline_has_values(event) ? probity_timeline_bytes_add(open, &values) : 0;
}

int timeline_add_span(struct probity_timeline *timeline, struct probity_timeline_lane *lane,
                      struct probity_timeline_span *span)
{
    /* Keeps spans in order if the clock was set back. */
    if (__builtin_expect(lane->count > 0 &&
                             span->start_ns < lane->spans[lane->count - 1].start_ns, 0)) {
        span->start_ns = lane->spans[lane->count - 1].start_ns;
        timeline_keeper_drop(&timeline->keeper);
    }
    if (timeline->keeper.has_begun)
        timeline_keeper_add(timeline, lane, span);
    int added = probity_timeline_lane_add(lane, span, timeline->facts.unit_ns);
    if (added < 0)
        return added;
    timeline->facts.spans += (size_t)added;
    if (__builtin_expect(timeline->facts.spans > timeline->options.spans_max, 0))
        probity_timeline_coarsen(timeline);
    if (__builtin_expect(timeline->values.used > timeline->values_bytes_max, 0))
        return probity_timeline_sweep_values(timeline);
    return 0;
}

/* Returns the index of this call among the slowest of its function, past the end if it is not one
 * of them. */
static unsigned slow_place(const struct probity_timeline_name *name, uint64_t length_ns)
{
    unsigned place = name->slow_count;

    while (place > 0 && name->slow[place - 1].span.length_ns < length_ns)
        place--;
    return place;
}

static void keep_slow(struct probity_timeline_name *name, const struct probity_timeline_slow *slow)
{
    unsigned place = slow_place(name, slow->span.length_ns);

    if (place == PROBITY_TIMELINE_SLOWEST)
        return;
    if (name->slow_count < PROBITY_TIMELINE_SLOWEST)
        name->slow_count++;
    memmove(&name->slow[place + 1], &name->slow[place],
            (name->slow_count - 1 - place) * sizeof *name->slow);
    name->slow[place] = *slow;
}

int timeline_add_timed(struct probity_timeline *timeline, struct timeline_thread *thread,
                       struct probity_timeline_lane *lane, uint32_t depth,
                       struct probity_timeline_span *span, const struct timeline_bytes *values)
{
    struct probity_timeline_name *name = timeline->names.items[span->name];
    int is_slow = !timeline->is_closer && !(span->flags & PROBITY_TIMELINE_BEFORE) &&
                  slow_place(name, span->length_ns) < PROBITY_TIMELINE_SLOWEST;
    int is_whole = span->length_ns >= timeline->facts.unit_ns;
    int error = 0;

    if (__builtin_expect(values->used > 0, 0))
        timeline_keeper_drop(&timeline->keeper);
    if (values->used > 0 && (is_slow || is_whole) &&
        span->length_ns >= timeline->facts.values_min_ns)
        error = probity_timeline_bytes_keep(&timeline->values, values, &span->values);
    if (is_slow)
        keep_slow(name, &(struct probity_timeline_slow){*span, thread->place, depth});
    return error == 0 ? timeline_add_span(timeline, lane, span) : error;
}
