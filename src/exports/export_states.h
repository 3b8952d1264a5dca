/* SPDX-License-Identifier: MIT
 *
 * export_states.h: thread states from the scheduler (doc/sched.md), each passed on when the next
 * one begins. Unknown time does not belong to any state.
 */
#ifndef PROBITY_EXPORTS_EXPORT_STATES_H
#define PROBITY_EXPORTS_EXPORT_STATES_H

#include "exports/export.h"

/* The latest state of a thread. */
struct export_state_now {
    struct probity_state_event event;
    uint64_t since_ns;
};

/* All zero: empty. */
struct export_states {
    struct export_state_now *threads; /* by slot */
    uint32_t thread_count;
    uint64_t latest_ns; /* of all events; set by the caller */
};

/* Takes a PROBITY_EVENT_THREAD_STATE. Returns 1 with the state that has ended, 0 if there is none,
 * or PROBITY_ERROR_MEMORY. */
int export_states_put(struct export_states *states, const struct probity_event *event,
                      struct probity_export_state *ret_state);

/* Finds the state of a thread that lasts until the latest event. Returns 1 or 0. */
int export_states_last(const struct export_states *states, uint32_t slot,
                       struct probity_export_state *ret_state);

void export_states_release(struct export_states *states);

#endif
