/* SPDX-License-Identifier: MIT
 *
 * waiting_states.c: uses thread states to split waits into parts, and adds waits for a CPU.
 */
#include "answers/waits/waiting_rows.h"
#include "probity.h"

static uint64_t needed_ns(void *context, uint32_t thread_slot)
{
    const struct probity_waiting *waiting = context;

    (void)thread_slot;
    return probity_waits_oldest_ns(waiting->waits);
}

int waiting_states_open(struct probity_waiting *waiting)
{
    int error = probity_thread_states_open(1, &waiting->states);

    if (error == 0)
        probity_thread_states_forget(waiting->states, needed_ns, waiting);
    return error;
}

/* Adds the time in which a thread was runnable, from the beginning of a period to an event. */
static int add_cpu_wait(struct probity_waiting *waiting, const struct probity_event *event,
                        const struct probity_thread_period *period)
{
    const struct probity_wait_name name = {PROBITY_WAIT_WHAT_CPU, "CPU", 0};
    struct probity_waiting_case instance = {
        .from_ns = period->from_ns, .ns = event->wall_ns - period->from_ns,
        .thread_slot = event->thread_slot,
        .doing = probity_past_now(probity_waits_past(waiting->waits), event->thread_slot),
        .culprit_slot = PROBITY_WAITS_NO_THREAD};

    waiting->trace = event->trace;
    instance.split.ns[PROBITY_STATE_RUNNABLE] = instance.ns;
    struct probity_waiting_row *row = waiting_row_at(waiting, &name);
    return row != NULL ? waiting_add_case(row, &instance) : PROBITY_ERROR_MEMORY;
}

/* Whether a thread began to wait for a CPU in the range and is still waiting: 1 or 0. */
static uint64_t is_pending(const struct probity_waiting *waiting, uint32_t thread_slot)
{
    const struct probity_waiting_options *options = &waiting->options;
    struct probity_thread_period latest;

    probity_thread_states_find(waiting->states, thread_slot, UINT64_MAX, &latest);
    return latest.state == PROBITY_STATE_RUNNABLE && options->by == PROBITY_WAITING_BY_OBJECT &&
           latest.from_ns >= options->from_ns &&
           (options->to_ns == 0 || latest.from_ns < options->to_ns);
}

static int put_state(struct probity_waiting *waiting, const struct probity_event *event)
{
    waiting->runnable -= is_pending(waiting, event->thread_slot);
    int error = probity_thread_states_put(waiting->states, event);
    waiting->runnable += is_pending(waiting, event->thread_slot);
    return error;
}

int waiting_states_put(struct probity_waiting *waiting, const struct probity_event *event)
{
    struct probity_thread_period period;
    int error = 0;

    if (event->kind != PROBITY_EVENT_THREAD_STATE)
        return 0;
    probity_thread_states_find(waiting->states, event->thread_slot, event->wall_ns, &period);
    if (period.state == PROBITY_STATE_RUNNABLE && event->wall_ns > period.from_ns &&
        waiting->options.by == PROBITY_WAITING_BY_OBJECT &&
        waiting_is_wanted(waiting, event->tid, event->thread_slot, period.from_ns))
        error = add_cpu_wait(waiting, event, &period);
    if (error == 0)
        error = put_state(waiting, event);
    return error;
}

struct probity_thread_split waiting_states_of(const struct probity_waiting *waiting,
                                              const struct probity_wait *wait,
                                              uint64_t *ret_waited_ns)
{
    struct probity_thread_split split;

    probity_thread_states_split(waiting->states, wait->thread_slot, wait->from_ns, wait->to_ns,
                                &split);
    if (wait->object != NULL)
        return split;
    if (split.ns[PROBITY_STATE_UNKNOWN] > 0) /* then only CPU time shows how long it ran */
        return (struct probity_thread_split){{[PROBITY_STATE_UNKNOWN] = wait->waited_ns}};
    split.ns[PROBITY_STATE_RUNNING] = 0;
    *ret_waited_ns = split.ns[PROBITY_STATE_RUNNABLE] + split.ns[PROBITY_STATE_BLOCKED];
    return split;
}
