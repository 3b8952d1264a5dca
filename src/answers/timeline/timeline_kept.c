/* SPDX-License-Identifier: MIT
 *
 * timeline_kept.c: stores spans; most of them take 4 to 8 bytes:
 *
 *     varint   name << 4, and which of the optional fields follow
 *     varint   start_ns, from that of the span before in the lane
 *     varint   length_ns
 *     varints  busy_ns, if other than length_ns; off_ns; flags; count and lead_ns, if merged
 */
#include "answers/timeline/timeline_kept.h"

#include <stdlib.h>

#include "answers/timeline/timeline_internal.h"
#include "base/array_grow.h"
#include "base/varint.h"
#include "probity.h"

enum { HAS_BUSY = 1, HAS_OFF = 2, HAS_FLAGS = 4, HAS_COUNT = 8, NAME_SHIFT = 4 };

enum {
    KEPT_BYTES_MAX = 48 << 20,
    SPAN_BYTES_MAX = 8 * PROBITY_VARINT_BYTES_MAX + PROBITY_VARINT_SLACK
};

/* ---- A lane ------------------------------------------------------------------------------------
 */

static uint8_t *put_span(uint8_t *at, const struct probity_timeline_span *span, uint64_t before_ns)
{
    unsigned has = (span->busy_ns != span->length_ns ? HAS_BUSY : 0u) |
                   (span->off_ns != 0 ? HAS_OFF : 0u) | (span->flags != 0 ? HAS_FLAGS : 0u) |
                   (span->count != 1 ? HAS_COUNT : 0u);

    at = probity_varint_put(at, (uint64_t)span->name << NAME_SHIFT | has);
    at = probity_varint_put(at, span->start_ns - before_ns);
    at = probity_varint_put(at, span->length_ns);
    if (has & HAS_BUSY)
        at = probity_varint_put(at, span->busy_ns);
    if (has & HAS_OFF)
        at = probity_varint_put(at, span->off_ns);
    if (has & HAS_FLAGS)
        at = probity_varint_put(at, span->flags);
    if (has & HAS_COUNT) {
        at = probity_varint_put(at, span->count);
        at = probity_varint_put(at, span->lead_ns);
    }
    return at;
}

static const uint8_t *get_number(const uint8_t *at, const uint8_t *end, unsigned has,
                                 uint64_t *value)
{
    return has != 0 && at != NULL ? probity_varint_get(at, end, value) : at;
}

/* Returns the end of the span, or NULL if the data end within it. */
static const uint8_t *get_span(const uint8_t *at, const uint8_t *end, uint64_t before_ns,
                               struct probity_timeline_span *ret_span)
{
    struct probity_timeline_span span = {.count = 1};
    uint64_t head = 0, flags = 0;

    at = get_number(at, end, 1, &head);
    at = get_number(at, end, 1, &span.start_ns);
    at = get_number(at, end, 1, &span.length_ns);
    span.start_ns += before_ns;
    span.busy_ns = span.length_ns;
    at = get_number(at, end, head & HAS_BUSY, &span.busy_ns);
    at = get_number(at, end, head & HAS_OFF, &span.off_ns);
    at = get_number(at, end, head & HAS_FLAGS, &flags);
    at = get_number(at, end, head & HAS_COUNT, &span.count);
    at = get_number(at, end, head & HAS_COUNT, &span.lead_ns);
    span.name = (uint32_t)(head >> NAME_SHIFT);
    span.flags = (uint32_t)flags;
    *ret_span = span;
    return at;
}

/* Returns 0, or PROBITY_ERROR_MEMORY if out of memory or beyond the limit. */
static int make_room(struct timeline_keeper *keeper, struct timeline_kept *kept)
{
    size_t before = kept->capacity;
    uint8_t *bytes =
        probity_array_fit(kept->bytes, 1, kept->used + SPAN_BYTES_MAX, &kept->capacity);

    if (bytes == NULL)
        return PROBITY_ERROR_MEMORY;
    kept->bytes = bytes;
    keeper->bytes += kept->capacity - before; /* this step may exceed the limit */
    return keeper->bytes <= KEPT_BYTES_MAX ? 0 : PROBITY_ERROR_MEMORY;
}

static int keep_span(struct timeline_keeper *keeper, struct timeline_kept *kept,
                     const struct probity_timeline_span *span)
{
    if (__builtin_expect(kept->capacity - kept->used < SPAN_BYTES_MAX, 0) &&
        make_room(keeper, kept) != 0)
        return PROBITY_ERROR_MEMORY;
    kept->used = (size_t)(put_span(kept->bytes + kept->used, span, kept->start_ns) - kept->bytes);
    kept->start_ns = span->start_ns;
    return 0;
}

/* Begins with the spans that are already in the lane. Returns NULL if out of memory. */
static struct timeline_kept *begin_lane(struct timeline_keeper *keeper,
                                        struct probity_timeline_lane *lane)
{
    struct timeline_kept *kept = calloc(1, sizeof *kept);

    if (kept == NULL)
        return NULL;
    kept->next = keeper->lanes;
    keeper->lanes = lane->kept = kept;
    for (size_t i = 0; i < lane->count; i++) {
        if (keep_span(keeper, kept, &lane->spans[i]) != 0)
            return NULL;
    }
    return kept;
}

/* ---- All lanes ---------------------------------------------------------------------------------
 */

void timeline_keeper_drop(struct timeline_keeper *keeper)
{
    struct timeline_kept *kept;

    while ((kept = keeper->lanes) != NULL) {
        keeper->lanes = kept->next;
        free(kept->bytes);
        free(kept);
    }
    *keeper = (struct timeline_keeper){0};
}

void timeline_keeper_add(struct probity_timeline *timeline, struct probity_timeline_lane *lane,
                         const struct probity_timeline_span *span)
{
    struct timeline_keeper *keeper = &timeline->keeper;
    struct timeline_kept *kept = lane->kept != NULL ? lane->kept : begin_lane(keeper, lane);

    if (__builtin_expect(kept == NULL || keep_span(keeper, kept, span) != 0, 0))
        timeline_keeper_drop(keeper);
}

/* Lanes that have no spans yet begin with their first one. */
static int begin_thread(struct timeline_keeper *keeper, struct timeline_thread *thread)
{
    struct probity_timeline_thread *facts = &thread->facts;
    struct probity_timeline_lane *const others[] = {&facts->stretches, &facts->marks,
                                                    &facts->blocks};
    int is_kept = 1;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is_kept &= others[i]->count == 0 || begin_lane(keeper, others[i]) != NULL;
    for (uint32_t depth = 0; depth < facts->depth; depth++)
        is_kept &= facts->calls[depth].count == 0 ||
                   begin_lane(keeper, &facts->calls[depth]) != NULL;
    return is_kept;
}

/* Threads that are not in the list may also have spans already. */
void timeline_keeper_begin(struct probity_timeline *timeline)
{
    struct timeline_keeper *keeper = &timeline->keeper;
    int is_kept = keeper->may_begin;

    if (!is_kept)
        return;
    for (size_t i = 0; i < timeline->thread_count; i++)
        is_kept &= begin_thread(keeper, timeline_thread_at(timeline, i));
    for (uint32_t slot = 0; slot < timeline->slot_count; slot++) {
        struct timeline_thread *thread = timeline->by_slot[slot];
        is_kept &= thread == NULL || thread->is_listed || begin_thread(keeper, thread);
    }
    if (is_kept)
        keeper->has_begun = 1;
    else
        timeline_keeper_drop(keeper);
}

/* ---- Repeating ---------------------------------------------------------------------------------
 */

/* Like a pass over the events, adds calls from before the range to each interval. */
static int repeat_lane(struct probity_timeline *closer, struct probity_timeline_lane *to,
                       const struct timeline_kept *kept)
{
    struct probity_timeline_span span = {.start_ns = 0};
    const uint8_t *at = kept != NULL ? kept->bytes : NULL;
    const uint8_t *end = kept != NULL ? at + kept->used : NULL;
    int error = 0;

    while (error == 0 && at != NULL && at < end) {
        at = get_span(at, end, span.start_ns, &span);
        struct probity_timeline_span copy = span;
        if ((span.flags & PROBITY_TIMELINE_BEFORE) != 0 ||
            timeline_is_inside(closer, span.start_ns))
            error = timeline_add_span(closer, to, &copy);
    }
    return error;
}

static int repeat_thread(struct probity_timeline *closer, const struct timeline_thread *thread)
{
    const struct probity_timeline_thread *facts = &thread->facts;
    const struct probity_event like = {.trace = facts->trace, .thread = facts->thread,
                                       .tid = facts->tid, .pid = facts->pid};
    struct timeline_thread *to;
    int error = timeline_add_thread(closer, &like, &to);

    if (error != 0)
        return error;
    to->facts.track = facts->track;
    to->facts.object = facts->object;
    error = facts->depth > 0 ? timeline_reach_depth(to, facts->depth - 1) : 0;
    if (error == 0)
        error = repeat_lane(closer, &to->facts.stretches, facts->stretches.kept);
    if (error == 0)
        error = repeat_lane(closer, &to->facts.marks, facts->marks.kept);
    if (error == 0)
        error = repeat_lane(closer, &to->facts.blocks, facts->blocks.kept);
    for (uint32_t depth = 0; error == 0 && depth < facts->depth; depth++)
        error = repeat_lane(closer, &to->facts.calls[depth], facts->calls[depth].kept);
    return error;
}

int timeline_keeper_repeat(const struct probity_timeline *timeline,
                           struct probity_timeline *closer)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < timeline->thread_count; i++)
        error = repeat_thread(closer, timeline_thread_at(timeline, i));
    return error;
}
