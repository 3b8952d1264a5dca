/* SPDX-License-Identifier: MIT
 *
 * timeline_window.c: clips spans, threads and the axis to the requested range, for a timeline that
 * shows the range as a window.
 */
#include <stdlib.h>

#include "answers/timeline/timeline_internal.h"

static uint64_t part_of(uint64_t whole_ns, uint64_t part_ns, uint64_t of_ns)
{
    return part_ns == of_ns ? whole_ns : (uint64_t)((double)whole_ns * (double)part_ns /
                                                    (double)of_ns);
}

int timeline_window_clip(const struct probity_timeline *timeline,
                         struct probity_timeline_span *span)
{
    uint64_t from_ns = timeline->options.from_ns, to_ns = timeline->options.to_ns;
    uint64_t start_ns = span->start_ns, length_ns = span->length_ns;

    if (length_ns > UINT64_MAX - start_ns)
        length_ns = UINT64_MAX - start_ns;
    uint64_t end_ns = start_ns + length_ns;
    if (start_ns >= to_ns || (start_ns < from_ns && end_ns <= from_ns))
        return 0;
    if (start_ns < from_ns) {
        span->start_ns = from_ns;
        span->flags |= PROBITY_TIMELINE_BEFORE;
    }
    span->length_ns = (end_ns < to_ns ? end_ns : to_ns) - span->start_ns;
    span->busy_ns = part_of(span->busy_ns, span->length_ns, length_ns);
    span->off_ns = part_of(span->off_ns, span->length_ns, length_ns);
    return 1;
}

/* Returns whether any of the range is left. */
static int clip_range(uint64_t from_ns, uint64_t to_ns, uint64_t *first_ns, uint64_t *last_ns)
{
    int is_in = *first_ns < to_ns && *last_ns >= from_ns && *last_ns > 0;

    if (*first_ns < from_ns)
        *first_ns = from_ns;
    if (*last_ns > to_ns)
        *last_ns = to_ns;
    if (!is_in)
        *first_ns = *last_ns = 0;
    return is_in;
}

static int compare_threads(const void *left, const void *right)
{
    const struct probity_timeline_thread *a = *(const struct probity_timeline_thread *const *)left;
    const struct probity_timeline_thread *b = *(const struct probity_timeline_thread *const *)right;

    if (a->trace != b->trace)
        return a->trace < b->trace ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

void timeline_window_finish(struct probity_timeline *timeline)
{
    const struct probity_timeline_options *options = &timeline->options;
    struct probity_timeline_facts *facts = &timeline->facts;
    int is_any = 0;

    /* Sorts by number, because the beginning of a thread may be unknown. */
    if (timeline->thread_count > 1)
        qsort(timeline->threads, timeline->thread_count, sizeof *timeline->threads,
              compare_threads);
    for (uint32_t slot = 0; slot < timeline->slot_count; slot++) {
        struct timeline_thread *thread = timeline->by_slot[slot];
        if (thread != NULL)
            is_any |= clip_range(options->from_ns, options->to_ns, &thread->facts.first_ns,
                                 &thread->facts.last_ns);
    }
    if (options->from_ns > 0)
        facts->first_ns = options->from_ns;
    if (options->to_ns < UINT64_MAX)
        facts->last_ns = options->to_ns;
    if (!is_any)
        facts->first_ns = facts->last_ns = 0;
}
