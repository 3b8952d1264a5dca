/* SPDX-License-Identifier: MIT
 *
 * timeline_budget.c: discards details if there are too many spans or values take too much memory.
 */
#include <stdlib.h>

#include "answers/timeline/timeline_internal.h"
#include "probity.h"

typedef void span_visit(struct probity_timeline *timeline, struct probity_timeline_span *span,
                        void *context);

static void visit_lane(struct probity_timeline *timeline, struct probity_timeline_lane *lane,
                       span_visit *visit, void *context)
{
    for (size_t i = 0; i < lane->count; i++)
        visit(timeline, &lane->spans[i], context);
}

/* Visits all spans that may have values. */
static void visit_spans(struct probity_timeline *timeline, span_visit *visit, void *context)
{
    for (size_t i = 0; i < timeline->thread_count; i++) {
        struct timeline_thread *thread = timeline_thread_at(timeline, i);
        visit_lane(timeline, &thread->facts.marks, visit, context);
        visit_lane(timeline, &thread->facts.blocks, visit, context);
        for (uint32_t depth = 0; depth < thread->facts.depth; depth++)
            visit_lane(timeline, &thread->facts.calls[depth], visit, context);
    }
    /* The second pass uses the list of slowest calls of the first pass. */
    for (size_t i = 0; !timeline->is_closer && i < timeline->names.count; i++) {
        struct probity_timeline_name *name = timeline->names.items[i];
        for (unsigned j = 0; j < name->slow_count; j++)
            visit(timeline, &name->slow[j].span, context);
    }
}

static void measure_values(struct probity_timeline *timeline, struct probity_timeline_span *span,
                           void *context)
{
    size_t *bytes = context;

    if (span->values != 0 && span->length_ns >= timeline->facts.values_min_ns)
        *bytes += probity_timeline_bytes_of(&timeline->values, span->values).used;
}

static void move_values(struct probity_timeline *timeline, struct probity_timeline_span *span,
                        void *context)
{
    struct timeline_bytes *to = context;
    int is_kept = span->values != 0 && span->length_ns >= timeline->facts.values_min_ns;
    struct timeline_bytes values = {0};

    if (is_kept)
        values = probity_timeline_bytes_of(&timeline->values, span->values);
    span->values = 0;
    if (is_kept && probity_timeline_bytes_keep(to, &values, &span->values) != 0)
        timeline->error = PROBITY_ERROR_MEMORY;
}

int probity_timeline_sweep_values(struct probity_timeline *timeline)
{
    struct timeline_bytes kept = {0};

    for (;;) {
        size_t bytes = 0;
        visit_spans(timeline, measure_values, &bytes);
        if (bytes <= timeline->values_bytes_max / 2)
            break;
        timeline->facts.values_min_ns = 2 * timeline->facts.values_min_ns + 1;
    }
    visit_spans(timeline, move_values, &kept);
    free(timeline->values.bytes);
    timeline->values = kept;
    return timeline->error;
}

static size_t merge_thread(struct timeline_thread *thread, uint64_t unit_ns)
{
    size_t count = probity_timeline_lane_merge(&thread->facts.stretches, unit_ns) +
                   probity_timeline_lane_merge(&thread->facts.marks, unit_ns) +
                   probity_timeline_lane_merge(&thread->facts.blocks, unit_ns) +
                   probity_timeline_lane_merge(&thread->facts.states, unit_ns);

    for (uint32_t depth = 0; depth < thread->facts.depth; depth++)
        count += probity_timeline_lane_merge(&thread->facts.calls[depth], unit_ns);
    return count;
}

/* Frees at least a quarter, so that calls are rare; stops when each lane has only one span. */
void probity_timeline_coarsen(struct probity_timeline *timeline)
{
    struct probity_timeline_facts *facts = &timeline->facts;
    uint64_t all_ns = facts->last_ns - facts->first_ns;

    if (facts->unit_ns == 1)
        timeline_keeper_begin(timeline);
    do {
        facts->unit_ns *= 2;
        facts->spans = 0;
        for (size_t i = 0; i < timeline->thread_count; i++)
            facts->spans += merge_thread(timeline_thread_at(timeline, i), facts->unit_ns);
    } while (facts->spans > timeline->options.spans_max / 4 * 3 && facts->unit_ns / 2 < all_ns);
}
