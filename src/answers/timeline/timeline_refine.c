/* SPDX-License-Identifier: MIT
 *
 * timeline_refine.c: the second pass over some intervals, and how its spans are spliced into the
 * lanes of the first:
 *
 *     first     [main                                   ]
 *               [::::][ read ][::::][::::][ write ][::::]
 *     second                  |[][]||[] []|                 two units in each lane
 *     together  [::::][ read ][][]  [] []  [ write ][::::]
 */
#include <stdlib.h>

#include "answers/timeline/timeline_internal.h"
#include "probity.h"

int probity_timeline_refine(struct probity_timeline *timeline, size_t spans_more,
                            struct probity_timeline **ret_closer)
{
    struct probity_timeline_stretch *stretches = NULL;
    struct probity_timeline_options options = timeline->options;
    struct probity_timeline *closer;
    size_t count = 0;

    *ret_closer = NULL;
    if (timeline->facts.unit_ns <= 1 || spans_more == 0)
        return 0;
    options.spans_max = SIZE_MAX;
    options.keeps_spans = 0;
    int error = probity_timeline_select(timeline, spans_more, &stretches, &count);
    if (error == 0 && count > 0)
        error = probity_timeline_open(&options, &closer);
    if (error != 0 || count == 0) {
        free(stretches);
        return error;
    }
    closer->is_closer = 1;
    closer->stretches = stretches;
    closer->stretch_count = count;
    closer->values_bytes_max = TIMELINE_VALUES_BYTES_CLOSER;
    /* Both passes use the same numbers for names. */
    closer->names = timeline->names;
    timeline->names = (struct timeline_names){0};
    *ret_closer = closer;
    return 0;
}

/* ---- Lanes -------------------------------------------------------------------------------------
 */

struct splice {
    struct probity_timeline *timeline;
    const struct probity_timeline *closer;
    uint8_t *is_same; /* by interval: whether both passes saw the same spans */
    int are_states;   /* the lane has states, whose values are numbers */
};

static uint64_t count_of(const struct probity_timeline_lane *lane, size_t from, size_t end)
{
    uint64_t sum = 0;

    for (size_t i = from; i < end; i++)
        sum += lane->spans[i].count;
    return sum;
}

/* Returns the first span, from `at` on, that begins at from_ns or later. */
static size_t span_from(const struct probity_timeline_lane *lane, size_t at, uint64_t from_ns)
{
    while (at < lane->count && lane->spans[at].start_ns < from_ns)
        at++;
    return at;
}

/* Adds a span of the second pass with its values. If it has none, takes those of the first pass,
 * which keeps only the values of separate calls. */
static int put_closer(const struct splice *splice, const struct probity_timeline_span *coarse,
                      size_t count, struct probity_timeline_span *span)
{
    if (splice->are_states)
        return 0;
    if (span->values != 0) {
        const struct timeline_bytes values =
            probity_timeline_bytes_of(&splice->closer->values, span->values);
        return probity_timeline_bytes_keep(&splice->timeline->values, &values, &span->values);
    }
    for (size_t i = 0; i < count; i++) {
        if (coarse[i].count == 1 && coarse[i].start_ns == span->start_ns &&
            coarse[i].length_ns == span->length_ns)
            span->values = coarse[i].values;
    }
    return 0;
}

static int splice_stretch(const struct splice *splice, struct probity_timeline_lane *to,
                          const struct probity_timeline_lane *coarse, size_t from, size_t end,
                          const struct probity_timeline_lane *fine, size_t fine_from,
                          size_t fine_end)
{
    int error = 0;

    for (size_t i = fine_from; error == 0 && i < fine_end; i++) {
        /* Only spans in the same unit can be the same call. */
        uint64_t unit_ns = splice->timeline->facts.unit_ns;
        uint64_t unit = fine->spans[i].start_ns / unit_ns;
        size_t last;
        from = span_from(coarse, from, unit * unit_ns);
        for (last = from; last < end && coarse->spans[last].start_ns / unit_ns == unit;)
            last++;
        to->spans[to->count] = fine->spans[i];
        error = put_closer(splice, coarse->spans + from, last - from, &to->spans[to->count++]);
    }
    return error;
}

static void copy_spans(struct probity_timeline_lane *to, const struct probity_timeline_lane *lane,
                       size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        to->spans[to->count++] = lane->spans[i];
}

static int splice_lane(const struct splice *splice, struct probity_timeline_lane *lane,
                       const struct probity_timeline_lane *fine)
{
    const struct probity_timeline *closer = splice->closer;
    size_t capacity = lane->count + fine->count, at = 0, fine_at = 0;
    struct probity_timeline_lane to = {.spans = malloc((capacity + 1) * sizeof *to.spans),
                                       .capacity = capacity + 1};
    int error = to.spans != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; error == 0 && i < closer->stretch_count; i++) {
        size_t from = span_from(lane, at, closer->stretches[i].from_ns);
        size_t end = span_from(lane, from, closer->stretches[i].to_ns);
        size_t fine_from = span_from(fine, fine_at, closer->stretches[i].from_ns);
        copy_spans(&to, lane, at, from);
        at = end;
        fine_at = span_from(fine, fine_from, closer->stretches[i].to_ns);
        if (count_of(lane, from, end) == count_of(fine, fine_from, fine_at)) {
            error = splice_stretch(splice, &to, lane, from, end, fine, fine_from, fine_at);
        } else {
            splice->is_same[i] = 0;
            copy_spans(&to, lane, from, end);
        }
    }
    if (error != 0) {
        free(to.spans);
        return error;
    }
    copy_spans(&to, lane, at, lane->count);
    free(lane->spans);
    *lane = to;
    return 0;
}

/* ---- Threads -----------------------------------------------------------------------------------
 */

static int splice_thread(struct splice *splice, struct timeline_thread *thread,
                         const struct timeline_thread *closer)
{
    static const struct probity_timeline_lane nothing = {0};
    int error = splice_lane(splice, &thread->facts.stretches, &closer->facts.stretches);

    if (error == 0)
        error = splice_lane(splice, &thread->facts.marks, &closer->facts.marks);
    if (error == 0)
        error = splice_lane(splice, &thread->facts.blocks, &closer->facts.blocks);
    splice->are_states = 1;
    if (error == 0)
        error = splice_lane(splice, &thread->facts.states, &closer->facts.states);
    splice->are_states = 0;
    for (uint32_t depth = 0; error == 0 && depth < thread->facts.depth; depth++)
        error = splice_lane(splice, &thread->facts.calls[depth],
                            depth < closer->facts.depth ? &closer->facts.calls[depth] : &nothing);
    return error;
}

static size_t spans_of(const struct probity_timeline_thread *thread)
{
    size_t count = thread->stretches.count + thread->marks.count + thread->blocks.count +
                   thread->states.count;

    for (uint32_t depth = 0; depth < thread->depth; depth++)
        count += thread->calls[depth].count;
    return count;
}

/* Whether both have the same threads and tracks, and the second pass merged nothing. */
static int is_alike(const struct probity_timeline *timeline, const struct probity_timeline *closer)
{
    if (closer->facts.unit_ns != 1 || closer->thread_count < timeline->thread_count)
        return 0;
    for (size_t i = 0; i < timeline->thread_count; i++) {
        const struct probity_timeline_thread *thread = timeline->threads[i];
        const struct probity_timeline_thread *other = closer->threads[i];
        if (other->trace != thread->trace || other->thread != thread->thread ||
            other->track != thread->track || other->object != thread->object)
            return 0;
    }
    return 1;
}

static void keep_stretches(struct probity_timeline *timeline, struct probity_timeline *closer,
                           const uint8_t *is_same)
{
    size_t kept = 0;

    for (size_t i = 0; i < closer->stretch_count; i++) {
        if (is_same[i])
            closer->stretches[kept++] = closer->stretches[i];
    }
    free(timeline->stretches);
    timeline->stretches = closer->stretches;
    timeline->stretch_count = kept;
    closer->stretches = NULL;
}

static int splice_all(struct probity_timeline *timeline, struct probity_timeline *closer)
{
    struct splice splice = {timeline, closer, malloc(closer->stretch_count), 0};
    int error = splice.is_same != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; error == 0 && i < closer->stretch_count; i++)
        splice.is_same[i] = 1;
    timeline->facts.spans = 0;
    for (size_t i = 0; error == 0 && i < timeline->thread_count; i++) {
        struct timeline_thread *thread = timeline_thread_at(timeline, i);
        error = splice_thread(&splice, thread, timeline_thread_at(closer, i));
        timeline->facts.spans += spans_of(&thread->facts);
    }
    if (error == 0) {
        keep_stretches(timeline, closer, splice.is_same);
        probity_timeline_count_together(timeline);
    }
    free(splice.is_same);
    return error;
}

int probity_timeline_take_over(struct probity_timeline *timeline, struct probity_timeline *closer)
{
    int error = 0;

    timeline->names = closer->names;
    closer->names = (struct timeline_names){0};
    if (is_alike(timeline, closer))
        error = splice_all(timeline, closer);
    probity_timeline_close(closer);
    return error;
}

/* ---- Without a second pass ---------------------------------------------------------------------
 */

int probity_timeline_needs_pass(const struct probity_timeline *timeline)
{
    return timeline->facts.unit_ns > 1 && !timeline->keeper.has_begun;
}

void probity_timeline_drop_kept(struct probity_timeline *timeline)
{
    timeline_keeper_drop(&timeline->keeper);
}

int probity_timeline_refine_kept(struct probity_timeline *timeline, size_t spans_more,
                                 int *ret_is_done)
{
    struct probity_timeline *closer = NULL;

    *ret_is_done = timeline->keeper.has_begun || timeline->facts.unit_ns <= 1;
    int error = *ret_is_done ? probity_timeline_refine(timeline, spans_more, &closer) : 0;
    if (error == 0 && closer != NULL)
        error = timeline_keeper_repeat(timeline, closer);
    timeline_keeper_drop(&timeline->keeper);
    if (closer == NULL)
        return error;
    int taken = probity_timeline_take_over(timeline, closer);
    return error == 0 ? taken : error;
}
