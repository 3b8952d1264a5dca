/* SPDX-License-Identifier: MIT
 *
 * follow.c: a state machine for each thread. "Blocked" is written once it is certain that the
 * thread was not woken while it left the CPU.
 */
#include "sched/follow.h"

#include "base/assert.h"

static int put_at(struct probity_sched_context *context, struct probity_sched_follow *follow,
                  uint64_t raw_ns, struct probity_state_event event)
{
    return probity_sched_blocks_put(&context->blocks, &follow->stream,
                                    probity_sched_moments_tick(follow->moments, raw_ns), &event);
}

static int put(struct probity_sched_context *context, struct probity_sched_follow *follow,
               uint64_t raw_ns, struct probity_state_event event)
{
    int error = 0;

    if (raw_ns < context->from_ns) {
        follow->before = event;
        follow->has_before = 1;
        return 0;
    }
    if (follow->has_before && follow->before.state != PROBITY_STATE_UNKNOWN)
        error = put_at(context, follow, context->from_ns, follow->before);
    follow->has_before = 0;
    return error != 0 ? error : put_at(context, follow, raw_ns, event);
}

/* Writes that the thread has been blocked since its latest event. */
static int put_held(struct probity_sched_context *context, struct probity_sched_follow *follow)
{
    struct probity_state_event event = {.state = PROBITY_STATE_BLOCKED};

    if (!follow->is_held)
        return 0;
    follow->is_held = 0;
    return put(context, follow, follow->last_ns, event);
}

/* Takes losses into account: if records were lost after the latest event, the state has been
 * unknown since. */
static int put_loss(struct probity_sched_context *context, struct probity_sched_follow *follow)
{
    const struct probity_sched_order *order = context->order;
    struct probity_state_event unknown = {.state = PROBITY_STATE_UNKNOWN};

    while (follow->next_loss < order->loss_count &&
           order->losses[follow->next_loss].until_ns <= follow->last_ns)
        follow->next_loss++;
    if (follow->next_loss >= order->loss_count || follow->last_ns == 0)
        return 0;
    uint64_t from_ns = order->losses[follow->next_loss].from_ns;
    int error = put_held(context, follow);
    follow->is_woken = 0;
    follow->state = PROBITY_STATE_UNKNOWN;
    return error != 0 ? error
                      : put(context, follow, from_ns > follow->last_ns ? from_ns : follow->last_ns,
                            unknown);
}

/* Takes a switch to the thread. If the kernel reports wakings and there has been none since the
 * thread left the CPU, it was woken before that. */
static int take_in(struct probity_sched_context *context, struct probity_sched_follow *follow,
                   const struct probity_sched_event *event)
{
    int error = 0;

    if (follow->is_held && follow->is_woken && context->has_wakings) {
        follow->is_held = 0;
        error = put(context, follow, follow->last_ns,
                    (struct probity_state_event){.state = PROBITY_STATE_RUNNABLE,
                                                 .waker = follow->waker});
    }
    if (error == 0)
        error = put_held(context, follow);
    follow->is_woken = 0;
    follow->state = PROBITY_STATE_RUNNING;
    return error != 0 ? error
                      : put(context, follow, event->time_ns,
                            (struct probity_state_event){.state = PROBITY_STATE_RUNNING,
                                                         .cpu = event->cpu & 0xffff});
}

static int take_runnable(struct probity_sched_context *context,
                         struct probity_sched_follow *follow,
                         const struct probity_sched_event *event)
{
    int error = put_held(context, follow);

    follow->state = PROBITY_STATE_RUNNABLE;
    return error != 0 ? error
                      : put(context, follow, event->time_ns,
                            (struct probity_state_event){.state = PROBITY_STATE_RUNNABLE,
                                                         .waker = event->other});
}

static int take_waking(struct probity_sched_context *context, struct probity_sched_follow *follow,
                       const struct probity_sched_event *event)
{
    if (follow->state == PROBITY_STATE_BLOCKED)
        return take_runnable(context, follow, event);
    if (follow->state == PROBITY_STATE_RUNNING) {
        follow->is_woken = 1;
        follow->waker = event->other;
    }
    return 0;
}

static int take_state(struct probity_sched_context *context, struct probity_sched_follow *follow,
                      const struct probity_sched_event *event)
{
    switch (event->kind) {
    case PROBITY_SCHED_IN:
    case PROBITY_SCHED_EXEC:
        return follow->state == PROBITY_STATE_RUNNING ? 0 : take_in(context, follow, event);
    case PROBITY_SCHED_OUT: {
        int error = put_held(context, follow);
        follow->state = PROBITY_STATE_BLOCKED;
        follow->is_held = 1;
        return error;
    }
    case PROBITY_SCHED_PREEMPTED:
    case PROBITY_SCHED_BORN: return take_runnable(context, follow, event);
    case PROBITY_SCHED_EXIT: {
        int error = put_held(context, follow);
        follow->state = PROBITY_STATE_ENDED;
        return error != 0 ? error
                          : put(context, follow, event->time_ns,
                                (struct probity_state_event){.state = PROBITY_STATE_ENDED});
    }
    default: return take_waking(context, follow, event);
    }
}

int probity_sched_follow_take(struct probity_sched_context *context,
                              struct probity_sched_follow *follow,
                              const struct probity_sched_event *event)
{
    int error = put_loss(context, follow);

    probity_assert(event->kind != PROBITY_SCHED_LOST);
    if (error == 0)
        error = take_state(context, follow, event);
    /* a waking without effect does not end the preceding state */
    if (event->kind != PROBITY_SCHED_WOKEN || follow->state == PROBITY_STATE_RUNNABLE)
        follow->last_ns = event->time_ns;
    return error;
}

int probity_sched_follow_end(struct probity_sched_context *context,
                             struct probity_sched_follow *follow, uint64_t end_ns)
{
    int error = 0;

    if (follow->state != PROBITY_STATE_ENDED) {
        error = put_loss(context, follow);
        if (error == 0)
            error = put_held(context, follow);
        if (error == 0 && follow->last_ns != 0)
            error = put(context, follow, end_ns,
                        (struct probity_state_event){.state = PROBITY_STATE_UNKNOWN});
    }
    int ended = probity_sched_blocks_end(&context->blocks, &follow->stream);
    return error != 0 ? error : ended;
}
