/* SPDX-License-Identifier: MIT
 *
 * timeline_states.c: turns thread states from the scheduler into spans (doc/sched.md). The end of a
 * state is known only when the next one begins.
 */
#include "answers/timeline/timeline_internal.h"

/* Sets the fields of a span other than its length; see struct probity_timeline_span. */
static void describe(const struct probity_state_event *state, struct probity_timeline_span *span)
{
    span->name = state->state;
    span->busy_ns = state->state == PROBITY_STATE_RUNNING ? span->length_ns : 0;
    span->off_ns = state->state == PROBITY_STATE_RUNNABLE ? span->length_ns : 0;
    span->values = state->state == PROBITY_STATE_RUNNING    ? state->cpu
                   : state->state == PROBITY_STATE_RUNNABLE ? state->waker
                                                            : 0;
}

static int is_known(const struct probity_state_event *state)
{
    return state->state != PROBITY_STATE_UNKNOWN && state->state != PROBITY_STATE_ENDED;
}

static int add_state(struct probity_timeline *timeline, uint32_t slot, uint64_t end_ns)
{
    struct timeline_thread *thread = timeline->by_slot[slot];
    const struct probity_timeline_options *options = &timeline->options;
    const struct probity_state_event *state = &thread->state;
    uint64_t from_ns = thread->state_ns;

    /* Unknown time is a gap. */
    if (!is_known(state))
        return 0;
    /* A timeline begins with its first record, unless it has a range. */
    if (timeline->facts.first_ns == 0 && options->from_ns == 0)
        return 0;
    /* Only pages include the state that began before the range. */
    if (from_ns < options->from_ns && options->has_around)
        from_ns = options->from_ns;
    if (end_ns > options->to_ns)
        end_ns = options->to_ns;
    if (from_ns >= end_ns || !timeline_is_inside(timeline, from_ns))
        return 0;
    struct probity_timeline_span span = {
        .start_ns = from_ns, .length_ns = end_ns - from_ns, .count = 1,
        .flags = thread->state_flags};
    describe(state, &span);
    int error = timeline_list(timeline, slot);
    timeline_keeper_drop(&timeline->keeper);
    return error == 0 && timeline->by_slot[slot] != NULL
               ? timeline_add_span(timeline, &thread->facts.states, &span)
               : error;
}

int timeline_states_put(struct probity_timeline *timeline, struct timeline_thread *thread,
                        const struct probity_event *event)
{
    struct probity_state_event state;
    uint64_t wall_ns = event->wall_ns > thread->state_ns ? event->wall_ns : thread->state_ns;

    if (probity_state_event_get(event->payload, event->payload_bytes, &state) != 0)
        return 0;
    int error = add_state(timeline, event->thread_slot, wall_ns);
    thread = timeline->by_slot[event->thread_slot];
    if (error != 0 || thread == NULL)
        return error;
    thread->state_flags = is_known(&thread->state) ? 0 : PROBITY_TIMELINE_APART;
    thread->state = state;
    thread->state_ns = wall_ns;
    return error;
}

int timeline_states_finish(struct probity_timeline *timeline)
{
    int error = 0;

    for (uint32_t slot = 0; error == 0 && slot < timeline->slot_count; slot++) {
        struct timeline_thread *thread = timeline->by_slot[slot];
        if (thread != NULL && timeline->latest_ns > thread->state_ns)
            error = add_state(timeline, slot, timeline->latest_ns);
    }
    return error;
}
