/* SPDX-License-Identifier: MIT
 *
 * thread_states.h: how the time of a thread splits into running, waiting for a CPU (runnable),
 * blocked and unknown, from the events of TRACE.sched (doc/sched.md). There are two ways:
 *
 * - As events are read: probity_thread_states_at() at the beginning and at the end of an interval;
 *   the split is the difference. Memory: threads.
 * - Afterwards, in any order, if periods are kept: probity_thread_states_split() and _find().
 *   Memory: 24 bytes for each change of a state, PROBITY_THREAD_STATES_MAX in total. Beyond that, a
 * thread's oldest ones are evicted, and counted.
 *
 * The parts of a split always sum to the length of its interval. Times are CLOCK_REALTIME in ns, as
 * wall_ns of events; threads are identified by the reader's thread_slot. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_THREAD_STATES_H
#define PROBITY_ANALYSIS_THREAD_STATES_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* 96 MiB. */
enum { PROBITY_THREAD_STATES_MAX = 1 << 22 };

/* Time by enum probity_sched_state. The time after a thread's end is in ns[UNKNOWN]. */
struct probity_thread_split {
    uint64_t ns[PROBITY_STATES];
};

/* A time in which a thread had one state. */
struct probity_thread_period {
    uint64_t from_ns;
    uint64_t to_ns; /* UINT64_MAX: no later state is known */
    uint32_t state; /* enum probity_sched_state */
    uint32_t cpu;   /* if RUNNING */
    uint32_t waker; /* if RUNNABLE: id of the thread that woke it, or 0 */
};

struct probity_thread_states;

/* keeps: 1 to keep periods. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_thread_states_open(int keeps, struct probity_thread_states **ret_states);

/* Returns the time from which a thread's periods are needed; UINT64_MAX: only the current one. */
typedef uint64_t probity_thread_states_needed(void *context, uint32_t thread_slot);

/* From now on, permits discarding periods that are not needed; without this call, all are
 * needed. */
void probity_thread_states_forget(struct probity_thread_states *states,
                                  probity_thread_states_needed *needed, void *context);

/* Returns the number of periods that were discarded although they were needed. */
uint64_t probity_thread_states_forgotten(const struct probity_thread_states *states);

/* Takes the next event in time order; all kinds but PROBITY_EVENT_THREAD_STATE are ignored. Returns
 * 0 or PROBITY_ERROR_MEMORY. */
int probity_thread_states_put(struct probity_thread_states *states,
                              const struct probity_event *event);

/* Returns the time in each state until wall_ns, which is not before the thread's latest state. Only
 * differences between two calls are meaningful. */
void probity_thread_states_at(const struct probity_thread_states *states, uint32_t thread_slot,
                              uint64_t wall_ns, struct probity_thread_split *ret_split);

/* Returns a - b, for results of two calls of probity_thread_states_at(), of which b is the earlier
 * one. */
struct probity_thread_split probity_thread_split_less(const struct probity_thread_split *a,
                                                      const struct probity_thread_split *b);
void probity_thread_split_add(struct probity_thread_split *to,
                              const struct probity_thread_split *split);

/* Whether any state of the thread has been reported: 1 or 0. */
int probity_thread_states_has(const struct probity_thread_states *states, uint32_t thread_slot);

/* Copies an event, replacing the CPU time with the thread's time in a state until then: code that
 * sums CPU times of calls then sums the time in this state. */
void probity_thread_states_as_cpu(const struct probity_thread_states *states,
                                  const struct probity_event *event,
                                  enum probity_sched_state state,
                                  struct probity_event *ret_event);

/* Splits [from_ns, to_ns). Requires that periods are kept. */
void probity_thread_states_split(const struct probity_thread_states *states, uint32_t thread_slot,
                                 uint64_t from_ns, uint64_t to_ns,
                                 struct probity_thread_split *ret_split);

/* Finds the period that contains a moment. Before the first period that is kept, or if there is
 * none, its state is UNKNOWN and its from_ns is 0. Requires that periods are kept. */
void probity_thread_states_find(const struct probity_thread_states *states, uint32_t thread_slot,
                                uint64_t wall_ns, struct probity_thread_period *ret_period);

void probity_thread_states_close(struct probity_thread_states *states);

#endif
