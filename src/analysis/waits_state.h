/* SPDX-License-Identifier: MIT
 *
 * waits_state.h: the state of the waits analysis at a mark of an index: saves it, and resumes from
 * it.
 */
#ifndef PROBITY_ANALYSIS_WAITS_STATE_H
#define PROBITY_ANALYSIS_WAITS_STATE_H

#include "analysis/wait.h"

/* The state of a trace at a tick. */
struct probity_waits_state {
    uint32_t trace;
    const uint8_t *bytes; /* NULL: the trace is read from its beginning */
    size_t byte_count;
    uint64_t tick, now_ns; /* now: the latest time up to then */
    const struct probity_reader *clock; /* converts ticks to times; NULL: the state's times are
                                         * those of the events */
    int has_wakes; /* thread states were among the events, so the state has wakings */
    struct probity_waits_facts totals;
};

struct probity_waits;

/* Saves the state at a tick, as a PROBITY_INDEX_WAITS block, to be freed. All events of the trace
 * up to the tick, and no later ones, must have been put. The block is NULL if a thread was woken
 * after the latest record: this state cannot be saved, but a later one may be. Returns 1; 0 if
 * something was evicted, after which no state is exact; or PROBITY_ERROR_MEMORY. */
int probity_waits_save(const struct probity_waits *waits, uint64_t tick, uint8_t **ret_bytes,
                       size_t *ret_count);

/* Returns the maximum number of objects at a time so far. */
uint64_t probity_waits_objects_most(const struct probity_waits *waits);

/* Call before the first put, if events before a mark are left out: continues from the state, whose
 * bytes must remain valid until the first event of its trace after its tick. Facts are then those
 * of the whole traces. Returns 0 or PROBITY_ERROR_MEMORY; probity_waits_put() and _finish() may
 * then also return PROBITY_ERROR_DAMAGED. */
int probity_waits_resume(struct probity_waits *waits, const struct probity_waits_state *state);

/* Resumes from the states of all traces of a reader with a window of waits, which must remain open.
 * Does nothing if it has no such window, or is NULL. */
int probity_waits_resume_all(struct probity_waits *waits, const struct probity_reader *reader);

/* Finds a function that was declared before the state of a trace. Returns NULL if there is none, or
 * if the state has been taken. For other states of the same tick. */
const struct probity_function *probity_waits_saved_function(const struct probity_waits *waits,
                                                           uint32_t trace, uint64_t number);

/* Identifies, in a state, the thread of a slot that has events. */
struct probity_waits_thread_id {
    uint32_t number, tid; /* those in its trace */
};
struct probity_waits_thread_id probity_waits_thread_id(const struct probity_waits *waits,
                                                       uint32_t thread_slot);

/* Returns the slot of such a thread; NO_THREAD if it has no events yet. */
uint32_t probity_waits_slot_of(const struct probity_waits *waits, uint32_t trace, uint64_t number,
                               uint64_t tid);

#endif
