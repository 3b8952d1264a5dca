/* SPDX-License-Identifier: MIT
 *
 * export_states.c: keeps the latest state of each thread.
 */
#include "exports/export_states.h"

#include <stdlib.h>

#include "base/array_grow.h"
#include "probity.h"

const char *probity_export_state_name(uint32_t state)
{
    return state == PROBITY_STATE_RUNNING    ? "running"
           : state == PROBITY_STATE_RUNNABLE ? "waiting for a CPU"
                                             : "blocked";
}

static int end_state(const struct export_state_now *now, uint64_t end_ns,
                     struct probity_export_state *ret_state)
{
    if (now->event.state == PROBITY_STATE_UNKNOWN || now->event.state == PROBITY_STATE_ENDED ||
        end_ns <= now->since_ns)
        return 0;
    *ret_state = (struct probity_export_state){now->since_ns, end_ns - now->since_ns,
                                               now->event.state, now->event.cpu,
                                               now->event.waker};
    return 1;
}

int export_states_put(struct export_states *states, const struct probity_event *event,
                      struct probity_export_state *ret_state)
{
    uint32_t slot = event->thread_slot;
    struct probity_state_event next;

    if (probity_state_event_get(event->payload, event->payload_bytes, &next) != 0)
        return 0;
    if (slot >= states->thread_count) {
        void *grown = probity_array_grow(states->threads, sizeof *states->threads, slot,
                                         &states->thread_count);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        states->threads = grown;
    }
    struct export_state_now *now = &states->threads[slot];
    int has_ended = end_state(now, event->wall_ns, ret_state);
    now->event = next;
    if (event->wall_ns > now->since_ns)
        now->since_ns = event->wall_ns;
    return has_ended;
}

int export_states_last(const struct export_states *states, uint32_t slot,
                       struct probity_export_state *ret_state)
{
    return slot < states->thread_count
               ? end_state(&states->threads[slot], states->latest_ns, ret_state) : 0;
}

void export_states_release(struct export_states *states)
{
    free(states->threads);
}
