/* SPDX-License-Identifier: MIT
 *
 * thread_states.c: sums and, if requested, periods for each thread. If CLOCK_REALTIME was set back,
 * a state begins no earlier than the one before it.
 */
#include "analysis/thread_states.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "probity.h"

/* A state begins; it lasts until the next one. */
struct change {
    uint64_t wall_ns;
    uint32_t state, cpu, waker;
};

struct thread_item {
    struct probity_thread_split sums; /* sums until the latest change */
    struct change last;               /* state UNKNOWN since 0: none yet */
    struct change *changes;           /* if periods are kept, in time order */
    size_t count, capacity;
};

struct probity_thread_states {
    struct thread_item *threads; /* by slot */
    uint32_t thread_count;
    int keeps;
    size_t kept; /* number of changes, of all threads */
    uint64_t forgotten;
    probity_thread_states_needed *needed;
    void *context;
};

/* Returns the part of the split to which the time in a state is added. */
static uint32_t part_of(uint32_t state)
{
    return state < PROBITY_STATES ? state : PROBITY_STATE_UNKNOWN;
}

int probity_thread_states_open(int keeps, struct probity_thread_states **ret_states)
{
    struct probity_thread_states *states = calloc(1, sizeof *states);

    if (states == NULL)
        return PROBITY_ERROR_MEMORY;
    states->keeps = keeps;
    *ret_states = states;
    return 0;
}

void probity_thread_states_forget(struct probity_thread_states *states,
                                  probity_thread_states_needed *needed, void *context)
{
    states->needed = needed;
    states->context = context;
}

uint64_t probity_thread_states_forgotten(const struct probity_thread_states *states)
{
    return states->forgotten;
}

/* Returns the number of changes that are not later than a moment. */
static size_t count_until(const struct thread_item *thread, uint64_t wall_ns)
{
    size_t low = 0, high = thread->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (thread->changes[middle].wall_ns <= wall_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Drops old changes from a full list if at least half of them are not needed, or if too many
 * changes are kept in total. */
static void forget(struct probity_thread_states *states, struct thread_item *thread)
{
    uint32_t slot = (uint32_t)(thread - states->threads);
    uint64_t need_ns = states->needed != NULL ? states->needed(states->context, slot) : 0;
    size_t until = count_until(thread, need_ns), old = until > 0 ? until - 1 : 0;

    if (old < thread->count / 2 && states->kept >= PROBITY_THREAD_STATES_MAX) {
        states->forgotten += thread->count / 2 - old;
        old = thread->count / 2;
    }
    if (old == 0 || old < thread->count / 2)
        return;
    thread->count -= old;
    states->kept -= old;
    memmove(thread->changes, thread->changes + old, thread->count * sizeof *thread->changes);
}

static int keep(struct probity_thread_states *states, struct thread_item *thread)
{
    if (thread->count > 0 && thread->count == thread->capacity)
        forget(states, thread);
    void *changes = probity_array_room(thread->changes, sizeof *thread->changes, thread->count,
                                       &thread->capacity);

    if (changes == NULL)
        return PROBITY_ERROR_MEMORY;
    thread->changes = changes;
    thread->changes[thread->count++] = thread->last;
    states->kept++;
    return 0;
}

int probity_thread_states_put(struct probity_thread_states *states,
                              const struct probity_event *event)
{
    struct probity_state_event state;
    uint32_t slot = event->thread_slot;

    if (event->kind != PROBITY_EVENT_THREAD_STATE ||
        probity_state_event_get(event->payload, event->payload_bytes, &state) != 0)
        return 0;
    if (slot >= states->thread_count) {
        void *grown = probity_array_grow(states->threads, sizeof *states->threads, slot,
                                         &states->thread_count);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        states->threads = grown;
    }
    struct thread_item *thread = &states->threads[slot];
    struct change next = {event->wall_ns, state.state, state.cpu, state.waker};
    next.wall_ns = next.wall_ns > thread->last.wall_ns ? next.wall_ns : thread->last.wall_ns;
    thread->sums.ns[part_of(thread->last.state)] += next.wall_ns - thread->last.wall_ns;
    thread->last = next;
    return states->keeps ? keep(states, thread) : 0;
}

void probity_thread_states_at(const struct probity_thread_states *states, uint32_t thread_slot,
                              uint64_t wall_ns, struct probity_thread_split *ret_split)
{
    if (thread_slot >= states->thread_count) {
        *ret_split = (struct probity_thread_split){.ns = {[PROBITY_STATE_UNKNOWN] = wall_ns}};
        return;
    }
    const struct thread_item *thread = &states->threads[thread_slot];
    *ret_split = thread->sums;
    if (wall_ns > thread->last.wall_ns)
        ret_split->ns[part_of(thread->last.state)] += wall_ns - thread->last.wall_ns;
}

struct probity_thread_split probity_thread_split_less(const struct probity_thread_split *a,
                                                      const struct probity_thread_split *b)
{
    struct probity_thread_split split = {{0}};

    for (size_t i = 0; i < PROBITY_STATES; i++)
        split.ns[i] = a->ns[i] > b->ns[i] ? a->ns[i] - b->ns[i] : 0;
    return split;
}

void probity_thread_split_add(struct probity_thread_split *to,
                              const struct probity_thread_split *split)
{
    for (size_t i = 0; i < PROBITY_STATES; i++)
        to->ns[i] += split->ns[i];
}

int probity_thread_states_has(const struct probity_thread_states *states, uint32_t thread_slot)
{
    return thread_slot < states->thread_count && states->threads[thread_slot].last.wall_ns != 0;
}

void probity_thread_states_as_cpu(const struct probity_thread_states *states,
                                  const struct probity_event *event,
                                  enum probity_sched_state state,
                                  struct probity_event *ret_event)
{
    struct probity_thread_split split;

    probity_thread_states_at(states, event->thread_slot, event->wall_ns, &split);
    *ret_event = *event;
    ret_event->cpu_known = 1;
    ret_event->cpu_ns = split.ns[part_of(state)];
}

void probity_thread_states_find(const struct probity_thread_states *states, uint32_t thread_slot,
                                uint64_t wall_ns, struct probity_thread_period *ret_period)
{
    static const struct thread_item none;
    const struct thread_item *thread =
        thread_slot < states->thread_count ? &states->threads[thread_slot] : &none;
    size_t next = count_until(thread, wall_ns);

    *ret_period = (struct probity_thread_period){.to_ns = UINT64_MAX};
    if (next < thread->count)
        ret_period->to_ns = thread->changes[next].wall_ns;
    if (next == 0)
        return;
    const struct change *change = &thread->changes[next - 1];
    ret_period->from_ns = change->wall_ns;
    ret_period->state = change->state;
    ret_period->cpu = change->cpu;
    ret_period->waker = change->waker;
}

void probity_thread_states_split(const struct probity_thread_states *states, uint32_t thread_slot,
                                 uint64_t from_ns, uint64_t to_ns,
                                 struct probity_thread_split *ret_split)
{
    struct probity_thread_period period;

    *ret_split = (struct probity_thread_split){{0}};
    while (from_ns < to_ns) {
        probity_thread_states_find(states, thread_slot, from_ns, &period);
        uint64_t end_ns = period.to_ns < to_ns ? period.to_ns : to_ns;
        ret_split->ns[part_of(period.state)] += end_ns - from_ns;
        from_ns = end_ns;
    }
}

void probity_thread_states_close(struct probity_thread_states *states)
{
    for (uint32_t slot = 0; slot < states->thread_count; slot++)
        free(states->threads[slot].changes);
    free(states->threads);
    free(states);
}
