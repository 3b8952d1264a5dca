/* SPDX-License-Identifier: MIT
 *
 * timeline_repeat.c: a further pass over the same events with a given unit of time. Its spans are
 * removed during the pass, so it needs little memory for a trace of any length.
 */
#include <stdlib.h>
#include <string.h>

#include "answers/timeline/timeline_internal.h"
#include "probity.h"

int probity_timeline_repeat(struct probity_timeline *timeline, uint64_t unit_ns,
                            struct probity_timeline **ret_again)
{
    struct probity_timeline_options options = timeline->options;
    struct probity_timeline_stretch *all = malloc(sizeof *all);
    struct probity_timeline *again;

    options.spans_max = SIZE_MAX;
    options.keeps_spans = 0;
    options.has_around = 0;
    if (all == NULL || probity_timeline_open(&options, &again) != 0) {
        free(all);
        return PROBITY_ERROR_MEMORY;
    }
    *all = (struct probity_timeline_stretch){0, UINT64_MAX};
    again->is_closer = 1;
    again->stretches = all;
    again->stretch_count = 1;
    again->facts.unit_ns = unit_ns;
    again->facts.values_min_ns = UINT64_MAX;
    again->names = timeline->names;
    timeline->names = (struct timeline_names){0};
    timeline->name_count = again->names.count;
    *ret_again = again;
    return 0;
}

/* ---- Cutting -----------------------------------------------------------------------------------
 */

struct cut {
    uint64_t before_ns;
    probity_timeline_take *take;
    void *context;
    const struct probity_timeline_thread *thread;
    size_t place, left;
};

static int cut_lane(struct cut *cut, struct probity_timeline_lane *lane,
                    enum probity_timeline_kind kind, uint32_t depth)
{
    size_t count = 0;
    int error = 0;

    for (; error == 0 && count < lane->count && lane->spans[count].start_ns < cut->before_ns;
         count++) {
        error = cut->take(cut->context, cut->thread, cut->place, kind, depth, &lane->spans[count]);
    }
    if (count > 0)
        memmove(lane->spans, lane->spans + count, (lane->count - count) * sizeof *lane->spans);
    lane->count -= count;
    cut->left += lane->count;
    return error;
}

static int cut_thread(struct cut *cut, struct timeline_thread *thread)
{
    struct probity_timeline_thread *facts = &thread->facts;
    int error = cut_lane(cut, &facts->stretches, PROBITY_TIMELINE_STRETCHES, 0);

    if (error == 0)
        error = cut_lane(cut, &facts->marks, PROBITY_TIMELINE_MARKS, 0);
    if (error == 0)
        error = cut_lane(cut, &facts->blocks, PROBITY_TIMELINE_BLOCKS, 0);
    if (error == 0)
        error = cut_lane(cut, &facts->states, PROBITY_TIMELINE_STATES, 0);
    for (uint32_t depth = 0; error == 0 && depth < facts->depth; depth++)
        error = cut_lane(cut, &facts->calls[depth], PROBITY_TIMELINE_CALLS, depth);
    return error;
}

int probity_timeline_cut(struct probity_timeline *timeline, uint64_t before_ns,
                         probity_timeline_take *take, void *context, size_t *ret_left)
{
    struct cut cut = {.before_ns = before_ns, .take = take, .context = context};
    int error = 0;

    for (size_t i = 0; error == 0 && i < timeline->thread_count; i++) {
        struct timeline_thread *thread = timeline_thread_at(timeline, i);
        cut.thread = &thread->facts;
        cut.place = i;
        error = cut_thread(&cut, thread);
    }
    *ret_left = cut.left;
    return error;
}

/* ---- The end -----------------------------------------------------------------------------------
 */

int probity_timeline_return(struct probity_timeline *timeline, struct probity_timeline *again)
{
    int is_same = again->names.count == timeline->name_count &&
                  again->thread_count == timeline->thread_count;

    for (size_t i = 0; is_same && i < timeline->thread_count; i++) {
        const struct probity_timeline_thread *one = timeline->threads[i];
        const struct probity_timeline_thread *other = again->threads[i];
        is_same = one->trace == other->trace && one->thread == other->thread &&
                  one->track == other->track && one->object == other->object;
    }
    timeline->names = again->names;
    again->names = (struct timeline_names){0};
    probity_timeline_close(again);
    return is_same ? 0 : -1;
}
