/* SPDX-License-Identifier: MIT
 *
 * timeline.c: turns events into spans in lanes, within the budget. Whether a call is long enough to
 * keep its values is known only at its end, so the values of all open calls are kept until then.
 */
#include "answers/timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/scopes_run.h"
#include "answers/timeline/timeline_internal.h"
#include "base/array_grow.h"
#include "probity.h"

/* A smaller difference between wall and CPU time may be an error of the CPU time. */
enum { OFF_MIN_NS = 4000 };

/* ---- Threads -----------------------------------------------------------------------------------
 */

static int grow_slots(struct probity_timeline *timeline, uint32_t slot)
{
    uint32_t old = timeline->slot_count, count = old;
    struct timeline_thread **by_slot =
        probity_array_grow(timeline->by_slot, sizeof *by_slot, slot, &count);

    if (by_slot == NULL)
        return PROBITY_ERROR_MEMORY;
    timeline->by_slot = by_slot;
    uint8_t *is_beyond =
        probity_array_grow(timeline->is_beyond, sizeof *is_beyond, slot, &old);
    if (is_beyond == NULL)
        return PROBITY_ERROR_MEMORY;
    timeline->is_beyond = is_beyond;
    timeline->slot_count = count;
    return 0;
}

/* Whether the event adds its thread to the list. Events outside the range must not, because a
 * reader with an index may leave them out. */
static int is_listing(const struct probity_timeline *timeline, const struct probity_event *event)
{
    const struct probity_timeline_options *options = &timeline->options;

    return options->is_window ||
           (event->wall_ns >= options->from_ns && event->wall_ns < options->to_ns);
}

static int add_thread(struct probity_timeline *timeline, const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;

    if (slot >= timeline->slot_count && grow_slots(timeline, slot) != 0)
        return PROBITY_ERROR_MEMORY;
    if (timeline->by_slot[slot] == NULL && !timeline->is_beyond[slot]) {
        timeline->by_slot[slot] = timeline_new_thread(event);
        if (timeline->by_slot[slot] == NULL)
            return PROBITY_ERROR_MEMORY;
    }
    return is_listing(timeline, event) ? timeline_list(timeline, slot) : 0;
}

/* Returns 0, with NULL for a thread beyond the limit. */
static inline int thread_of(struct probity_timeline *timeline, const struct probity_event *event,
                            struct timeline_thread **ret_thread)
{
    uint32_t slot = event->thread_slot;
    int error = 0;

    if (__builtin_expect(slot >= timeline->slot_count || timeline->by_slot[slot] == NULL ||
                             !timeline->by_slot[slot]->is_listed, 0))
        error = add_thread(timeline, event);
    *ret_thread = error == 0 ? timeline->by_slot[slot] : NULL;
    return error;
}

static int set_name(struct timeline_thread *thread, const struct probity_event *event)
{
    char *name = strndup((const char *)event->payload, event->payload_bytes);

    if (name == NULL)
        return PROBITY_ERROR_MEMORY;
    free(thread->facts.name);
    thread->facts.name = name;
    return 0;
}

/* ---- Calls -------------------------------------------------------------------------------------
 */

/* Whether the call was open when the range began. */
static int is_around(const struct probity_timeline *timeline, const struct probity_scope *scope)
{
    uint64_t from_ns = timeline->options.from_ns;

    return timeline->options.has_around && scope->enter_wall_ns < from_ns &&
           scope->enter_wall_ns + scope->elapsed.wall_ns > from_ns;
}

/* Whether the call is shown; if so, sets its start and flag. Only the time of a call from before
 * the range is known: a reader with an index has neither its parameters nor its CPU time. */
static int take_span(struct probity_timeline *timeline, struct timeline_thread *thread,
                     const struct probity_scope *scope, struct probity_timeline_span *span)
{
    if (timeline->options.is_window)
        return timeline_window_clip(timeline, span);
    if (timeline_is_inside(timeline, scope->enter_wall_ns))
        return 1;
    if (thread->is_past || !is_around(timeline, scope))
        return 0;
    span->flags |= PROBITY_TIMELINE_BEFORE;
    span->off_ns = 0;
    if (scope->depth < thread->facts.depth)
        thread->open[scope->depth].used = 0;
    return 1;
}

/* A deferred scope may turn out to enclose calls that have ended. These then move one level down,
 * innermost first, so that each lane is empty before spans are added to it. */
static int make_way(struct timeline_thread *thread, const struct probity_scope *scope)
{
    uint32_t depth = thread->facts.depth;
    int error = 0;

    if (depth > PROBITY_TIMELINE_DEPTH_MAX - 1)
        depth = PROBITY_TIMELINE_DEPTH_MAX - 1;
    if (timeline_reach_depth(thread, depth) != 0)
        return PROBITY_ERROR_MEMORY;
    for (; error == 0 && depth > scope->depth; depth--)
        error = probity_timeline_lane_move(&thread->facts.calls[depth - 1],
                                           &thread->facts.calls[depth], scope->enter_wall_ns);
    return error;
}

/* Makes a lane for a call, which has no known values yet. Returns 0 or PROBITY_ERROR_MEMORY. */
static inline int reach_call(struct timeline_thread *thread, const struct probity_scope *scope)
{
    if (__builtin_expect(scope->depth >= thread->facts.depth, 0) &&
        timeline_reach_depth(thread, scope->depth) != 0)
        return PROBITY_ERROR_MEMORY;
    thread->open[scope->depth].used = 0;
    return 0;
}

static int open_call(struct probity_timeline *timeline, struct probity_scope *scope,
                     const struct probity_event *event)
{
    struct timeline_thread *thread;
    int error = thread_of(timeline, event, &thread);

    if (error != 0 || thread == NULL || scope->depth >= PROBITY_TIMELINE_DEPTH_MAX)
        return error;
    error = reach_call(thread, scope);
    if (error != 0)
        return error;
    if (__builtin_expect(event->kind == PROBITY_EVENT_CHECKPOINT, 0)) {
        timeline_keeper_drop(&timeline->keeper);
        return make_way(thread, scope);
    }
    return timeline_keep_values(&thread->open[scope->depth], event);
}

static void on_opened(void *context, struct probity_scope *scope, const struct probity_event *event)
{
    struct probity_timeline *timeline = context;
    int error = open_call(timeline, scope, event);

    timeline->error = error != 0 ? error : timeline->error;
}

static uint32_t flags_of(const struct probity_scope *scope, enum probity_scope_end how)
{
    return (how == PROBITY_SCOPE_UNWOUND ? PROBITY_TIMELINE_UNWOUND : 0u) |
           (how == PROBITY_SCOPE_OPEN ? PROBITY_TIMELINE_OPEN : 0u) |
           (scope->is_untimed ? PROBITY_TIMELINE_UNTIMED : 0u);
}

/* The scope stores the number of its function + 1, so that the function is looked up only once. */
static int number_of(struct probity_timeline *timeline, const struct probity_scope *scope,
                     uint32_t *ret_number)
{
    const struct probity_function_key key = {scope->function, scope->trace, scope->number};

    if (__builtin_expect(*scope->of_function == NULL, 0)) {
        int error = timeline_names_function(&timeline->names, &key, ret_number);
        if (error != 0)
            return error;
        *scope->of_function = (void *)(uintptr_t)(*ret_number + 1);
    }
    *ret_number = (uint32_t)(uintptr_t)*scope->of_function - 1;
    return 0;
}

static int close_call(struct probity_timeline *timeline, struct timeline_thread *thread,
                      const struct probity_scope *scope, struct probity_timeline_span *span)
{
    int error = number_of(timeline, scope, &span->name);

    return error == 0 ? timeline_add_timed(timeline, thread, &thread->facts.calls[scope->depth],
                                           scope->depth, span, &thread->open[scope->depth])
                      : error;
}

/* event NULL: no values were recorded at the end of the call. Not after an error: its lane may be
 * missing. */
static inline __attribute__((always_inline)) void
end_call(struct probity_timeline *timeline, struct timeline_thread *thread,
         const struct probity_scope *scope, enum probity_scope_end how,
         const struct probity_event *event)
{
    struct probity_timeline_span span = {.start_ns = scope->enter_wall_ns,
                                         .length_ns = scope->elapsed.wall_ns,
                                         .busy_ns = scope->elapsed.wall_ns,
                                         .count = 1,
                                         .flags = flags_of(scope, how)};
    int error = 0;

    if (timeline->options.is_window && thread->is_past && how == PROBITY_SCOPE_OPEN &&
        span.start_ns >= timeline->options.from_ns)
        timeline->open_after++;
    if (thread->facts.is_cpu_known && scope->elapsed.wall_ns > scope->elapsed.cpu_ns)
        span.off_ns = scope->elapsed.wall_ns - scope->elapsed.cpu_ns;
    if (!take_span(timeline, thread, scope, &span) || !thread->is_listed)
        return;
    timeline->facts.calls += !(span.flags & PROBITY_TIMELINE_BEFORE);
    if (scope->depth >= PROBITY_TIMELINE_DEPTH_MAX) {
        timeline->facts.calls_too_deep++;
        return;
    }
    if (how == PROBITY_SCOPE_LEFT && event != NULL)
        error = timeline_keep_values(&thread->open[scope->depth], event);
    if (error == 0)
        error = close_call(timeline, thread, scope, &span);
    timeline->error = error != 0 ? error : timeline->error;
}

static void on_closed(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                      uint32_t thread_slot, const struct probity_event *event)
{
    struct probity_timeline *timeline = context;
    struct timeline_thread *thread = timeline->by_slot[thread_slot];

    if (thread != NULL && timeline->error == 0)
        end_call(timeline, thread, scope, how, event);
}

/* Called at a thread's first record after the range. Calls from before the range that are still
 * open are cut there, because a reader with an index does not look for their ends. */
static int end_range(struct probity_timeline *timeline, const struct probity_event *event)
{
    const struct probity_timeline_options *options = &timeline->options;
    struct timeline_thread *thread = timeline->by_slot[event->thread_slot];
    uint32_t count = probity_scopes_depth(timeline->scopes, event->thread_slot);
    int error = 0;

    if (thread->is_past || !probity_event_is_record(event->kind))
        return 0;
    thread->is_past = 1;
    for (uint32_t depth = 0; error == 0 && depth < count && depth < PROBITY_TIMELINE_DEPTH_MAX;
         depth++) {
        const struct probity_scope *scope =
            probity_scopes_at(timeline->scopes, event->thread_slot, depth);
        struct probity_timeline_span span = {
            .start_ns = scope->enter_wall_ns, .length_ns = options->to_ns - scope->enter_wall_ns,
            .busy_ns = options->to_ns - scope->enter_wall_ns, .count = 1,
            .flags = PROBITY_TIMELINE_BEFORE | flags_of(scope, PROBITY_SCOPE_OPEN)};
        if (scope->enter_wall_ns >= options->from_ns)
            break;
        error = timeline_list(timeline, event->thread_slot);
        if (error != 0 || timeline->by_slot[event->thread_slot] == NULL)
            return error;
        thread->open[depth].used = 0;
        if (options->has_around)
            error = close_call(timeline, thread, scope, &span);
    }
    return error;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static int add_mark(struct probity_timeline *timeline, struct timeline_thread *thread,
                    const struct probity_event *event)
{
    struct probity_timeline_span span = {.start_ns = event->wall_ns, .count = 1};
    struct timeline_bytes values = {0};
    int error = timeline_names_mark(&timeline->names, event, &span.name);

    timeline->facts.marks++;
    if (timeline_has_values(event))
        timeline_keeper_drop(&timeline->keeper);
    if (error == 0 && timeline_has_values(event) && timeline->facts.values_min_ns == 0) {
        error = timeline_keep_values(&values, event);
        if (error == 0)
            error = probity_timeline_bytes_keep(&timeline->values, &values, &span.values);
        free(values.bytes);
    }
    return error == 0 ? timeline_add_span(timeline, &thread->facts.marks, &span) : error;
}

/* Adds an interval in which the thread was off the CPU for some time; exactly when is unknown. */
static inline int add_stretch(struct probity_timeline *timeline, struct timeline_thread *thread,
                              uint64_t now_ns, uint64_t now_cpu_ns)
{
    uint64_t since_ns = thread->wall_ns;
    uint64_t wall_ns = now_ns > since_ns ? now_ns - since_ns : 0;
    uint64_t cpu_ns = now_cpu_ns > thread->cpu_ns ? now_cpu_ns - thread->cpu_ns : 0;

    thread->wall_ns = now_ns;
    thread->cpu_ns += cpu_ns;
    thread->facts.is_cpu_known = 1;
    if (since_ns == 0 || wall_ns < cpu_ns + OFF_MIN_NS)
        return 0;
    struct probity_timeline_span span = {.start_ns = since_ns, .length_ns = wall_ns,
                                         .busy_ns = wall_ns - cpu_ns, .count = 1};
    if (timeline->options.is_window ? !timeline_window_clip(timeline, &span)
                                    : !timeline_is_inside(timeline, since_ns))
        return 0;
    return timeline_add_span(timeline, &thread->facts.stretches, &span);
}

static inline void extend(struct probity_timeline_facts *facts,
                          struct probity_timeline_thread *thread, uint64_t wall_ns)
{
    if (thread->first_ns == 0 || wall_ns < thread->first_ns)
        thread->first_ns = wall_ns;
    if (wall_ns > thread->last_ns)
        thread->last_ns = wall_ns;
    if (facts->first_ns == 0 || wall_ns < facts->first_ns)
        facts->first_ns = wall_ns;
    if (wall_ns > facts->last_ns)
        facts->last_ns = wall_ns;
}

/* Adds parameters, which are recorded after the enter, to the innermost call. */
static int add_parameters(struct probity_timeline *timeline, struct timeline_thread *thread,
                          const struct probity_event *event)
{
    const struct probity_scope *scope = probity_scopes_top(timeline->scopes, event->thread_slot);

    if (scope == NULL || scope->depth >= thread->facts.depth)
        return 0;
    return timeline_keep_values(&thread->open[scope->depth], event);
}

static int put_record(struct probity_timeline *timeline, struct timeline_thread *thread,
                      const struct probity_event *event)
{
    int error = 0;

    if (event->cpu_known)
        error = add_stretch(timeline, thread, event->wall_ns, event->cpu_ns);
    if (error == 0 && event->kind == PROBITY_EVENT_PARAMETERS)
        error = add_parameters(timeline, thread, event);
    int is_in = timeline_is_inside(timeline, event->wall_ns);
    if (is_in || timeline->options.is_window)
        extend(&timeline->facts, &thread->facts, event->wall_ns);
    int is_mark = (event->kind == PROBITY_EVENT_HIT && timeline->tracks == NULL) ||
                  event->kind == PROBITY_EVENT_MESSAGE || event->kind == PROBITY_EVENT_CHECKPOINT;
    if (error == 0 && is_in && is_mark)
        error = add_mark(timeline, thread, event);
    return error;
}

/* After a window, only the next record of each thread matters: open calls and time off the CPU
 * extend to the window's end. */
static int put_after(struct probity_timeline *timeline, const struct probity_event *event)
{
    const struct probity_scopes_listener listener = {on_opened, on_closed, timeline};
    uint32_t slot = event->thread_slot;
    struct timeline_thread *thread = slot < timeline->slot_count ? timeline->by_slot[slot] : NULL;

    if (thread != NULL && event->kind == PROBITY_EVENT_THREAD_NAME)
        return set_name(thread, event);
    if (thread == NULL || thread->is_past || !probity_event_is_record(event->kind))
        return 0;
    thread->is_past = 1;
    extend(&timeline->facts, &thread->facts, event->wall_ns);
    int error =
        event->cpu_known ? add_stretch(timeline, thread, event->wall_ns, event->cpu_ns) : 0;
    struct probity_event lasted = *event;
    lasted.kind = PROBITY_EVENT_MESSAGE; /* does not change any scope */
    return error == 0 ? probity_scopes_put(timeline->scopes, &lasted, &listener) : error;
}

int probity_timeline_put(struct probity_timeline *timeline, const struct probity_event *event)
{
    const struct probity_scopes_listener listener = {on_opened, on_closed, timeline};
    struct timeline_thread *thread;

    if (timeline->options.is_window && event->wall_ns >= timeline->options.to_ns)
        return put_after(timeline, event);
    if (event->kind == PROBITY_EVENT_SITES_SWITCHED) /* not an action of the recording thread */
        return timeline->tracks != NULL ? timeline_tracks_cut(timeline, event) : 0;
    int error = thread_of(timeline, event, &thread);

    if (event->wall_ns > timeline->latest_ns)
        timeline->latest_ns = event->wall_ns;
    if (error != 0)
        return error;
    if (thread != NULL && event->kind == PROBITY_EVENT_THREAD_STATE)
        return timeline_states_put(timeline, thread, event);
    if (thread != NULL && event->wall_ns >= timeline->options.to_ns) {
        error = end_range(timeline, event);
        thread = timeline->by_slot[event->thread_slot];
    }
    if (error != 0)
        return error;
    if (thread != NULL && probity_event_is_record(event->kind))
        error = put_record(timeline, thread, event);
    if (error == 0 && event->kind == PROBITY_EVENT_HIT && timeline->tracks != NULL)
        error = timeline_tracks_put(timeline, thread, event);
    if (error != 0)
        return error;
    error = probity_scopes_put(timeline->scopes, event, &listener);
    if (error == 0 && thread != NULL && event->kind == PROBITY_EVENT_THREAD_NAME)
        error = set_name(thread, event);
    return error != 0 ? error : timeline->error;
}

/* ---- Runs --------------------------------------------------------------------------------------
 */

/* Like put_record(), for an enter or leave in a run. */
static inline void take_record(struct probity_timeline *timeline, struct timeline_thread *thread,
                               const struct probity_run *run, size_t at)
{
    const struct probity_run_event *record = &run->events[at];

    if (record->wall_ns > timeline->latest_ns)
        timeline->latest_ns = record->wall_ns;
    if (run->event->cpu_known &&
        add_stretch(timeline, thread, record->wall_ns, record->cpu_ns) != 0)
        timeline->error = PROBITY_ERROR_MEMORY;
    if (timeline->options.is_window || timeline_is_inside(timeline, record->wall_ns))
        extend(&timeline->facts, &thread->facts, record->wall_ns);
}

static inline void opened_in_run(void *context, struct probity_scope *scope,
                                 const struct probity_run *run, size_t at)
{
    struct probity_timeline *timeline = context;
    struct timeline_thread *thread = timeline->by_slot[run->event->thread_slot];

    if (__builtin_expect(timeline->error != 0, 0))
        return;
    take_record(timeline, thread, run, at);
    if (scope->depth < PROBITY_TIMELINE_DEPTH_MAX && reach_call(thread, scope) != 0)
        timeline->error = PROBITY_ERROR_MEMORY;
}

static inline void left_in_run(void *context, const struct probity_scope *scope,
                               const struct probity_run *run, size_t at)
{
    struct probity_timeline *timeline = context;
    struct timeline_thread *thread = timeline->by_slot[run->event->thread_slot];

    if (__builtin_expect(timeline->error != 0, 0))
        return;
    take_record(timeline, thread, run, at);
    end_call(timeline, thread, scope, PROBITY_SCOPE_LEFT, NULL);
}

static int put_in_run(void *context, const struct probity_event *event)
{
    return probity_timeline_put(context, event);
}

/* Whether the thread is in the list and the range ends after the run. */
static int is_usual(const struct probity_timeline *timeline, const struct probity_run *run)
{
    uint32_t slot = run->event->thread_slot;
    const struct timeline_thread *thread =
        slot < timeline->slot_count ? timeline->by_slot[slot] : NULL;
    uint64_t to_ns = timeline->options.to_ns;
    int is_before = 1;

    for (size_t i = 0; to_ns != UINT64_MAX && i < run->count; i++)
        is_before &= run->events[i].wall_ns < to_ns;
    return thread != NULL && thread->is_listed && is_before;
}

int probity_timeline_put_run(struct probity_timeline *timeline, const struct probity_run *run)
{
    const struct probity_scopes_run_steps steps = {
        {on_opened, on_closed, timeline}, opened_in_run, left_in_run, put_in_run};
    int error = 0;

    if (!is_usual(timeline, run)) {
        for (size_t i = 0; error == 0 && i < run->count; i++)
            error = probity_timeline_put(timeline, probity_run_event_at(run, i));
        return error;
    }
    error = probity_scopes_put_run(timeline->scopes, run, steps);
    return error != 0 ? error : timeline->error;
}

uint64_t probity_timeline_pending(const struct probity_timeline *timeline)
{
    return probity_scopes_pending(timeline->scopes);
}

static void count_lane(struct probity_timeline *timeline, const struct probity_timeline_lane *lane)
{
    for (size_t i = 0; i < lane->count; i++)
        timeline->facts.together += lane->spans[i].count > 1 ? lane->spans[i].count : 0;
}

void probity_timeline_count_together(struct probity_timeline *timeline)
{
    timeline->facts.together = 0;
    for (size_t i = 0; i < timeline->thread_count; i++) {
        const struct probity_timeline_thread *thread = timeline->threads[i];
        count_lane(timeline, &thread->marks);
        count_lane(timeline, &thread->blocks);
        for (uint32_t depth = 0; depth < thread->depth; depth++)
            count_lane(timeline, &thread->calls[depth]);
    }
}

int probity_timeline_finish(struct probity_timeline *timeline)
{
    const struct probity_scopes_listener listener = {on_opened, on_closed, timeline};

    probity_scopes_finish(timeline->scopes, &listener);
    timeline->repairs = *probity_scopes_repairs(timeline->scopes);
    timeline->repairs.open -= timeline->open_after;
    if (timeline->tracks != NULL && timeline->error == 0)
        timeline->error = timeline_tracks_finish(timeline);
    if (timeline->error == 0)
        timeline->error = timeline_states_finish(timeline);
    if (timeline->options.is_window)
        timeline_window_finish(timeline);
    probity_timeline_count_together(timeline);
    return timeline->error;
}

/* ---- Results -----------------------------------------------------------------------------------
 */

struct probity_timeline_facts probity_timeline_facts(const struct probity_timeline *timeline)
{
    return timeline->facts;
}

const struct probity_timeline_thread *const *probity_timeline_threads(
    const struct probity_timeline *timeline, size_t *ret_count)
{
    *ret_count = timeline->thread_count;
    return timeline->threads;
}

const struct probity_timeline_name *const *probity_timeline_names(
    const struct probity_timeline *timeline, size_t *ret_count)
{
    *ret_count = timeline->names.count;
    return (const struct probity_timeline_name *const *)timeline->names.items;
}

const struct probity_timeline_stretch *probity_timeline_stretches(
    const struct probity_timeline *timeline, size_t *ret_count)
{
    *ret_count = timeline->stretch_count;
    return timeline->stretches;
}

const struct probity_scopes_repairs *probity_timeline_repairs(
    const struct probity_timeline *timeline)
{
    return &timeline->repairs;
}

int probity_timeline_values_next(const struct probity_timeline *timeline, uint32_t values,
                                 size_t *at, struct probity_timeline_values *ret_values)
{
    if (values == 0)
        return 0;
    const struct timeline_bytes of_call = probity_timeline_bytes_of(&timeline->values, values);
    return probity_timeline_bytes_next(&of_call, at, ret_values);
}

int probity_timeline_open(const struct probity_timeline_options *options,
                          struct probity_timeline **ret_timeline)
{
    struct probity_timeline *timeline = calloc(1, sizeof *timeline);

    if (timeline == NULL || probity_scopes_open(&timeline->scopes) != 0) {
        free(timeline);
        return PROBITY_ERROR_MEMORY;
    }
    if (options != NULL)
        timeline->options = *options;
    if (timeline->options.to_ns == 0)
        timeline->options.to_ns = UINT64_MAX;
    if (timeline->options.spans_max == 0)
        timeline->options.spans_max = PROBITY_TIMELINE_SPANS;
    probity_scopes_set_range(timeline->scopes, timeline->options.from_ns,
                             timeline->options.to_ns);
    timeline->facts.unit_ns = 1;
    timeline->keeper.may_begin = timeline->options.keeps_spans;
    timeline->values_bytes_max = TIMELINE_VALUES_BYTES_MAX;
    if (timeline->options.has_tracks && timeline_tracks_open(timeline) != 0) {
        probity_timeline_close(timeline);
        return PROBITY_ERROR_MEMORY;
    }
    *ret_timeline = timeline;
    return 0;
}

void probity_timeline_close(struct probity_timeline *timeline)
{
    for (uint32_t slot = 0; slot < timeline->slot_count; slot++) {
        if (timeline->by_slot[slot] != NULL && !timeline->by_slot[slot]->is_listed)
            timeline_release_thread(timeline->by_slot[slot]);
    }
    for (size_t i = 0; i < timeline->thread_count; i++)
        timeline_release_thread(timeline_thread_at(timeline, i));
    timeline_tracks_release(timeline);
    timeline_keeper_drop(&timeline->keeper);
    timeline_names_release(&timeline->names);
    probity_scopes_close(timeline->scopes);
    free(timeline->values.bytes);
    free(timeline->stretches);
    free(timeline->is_beyond);
    free(timeline->by_slot);
    free(timeline->threads);
    free(timeline);
}
