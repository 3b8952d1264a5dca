/* SPDX-License-Identifier: MIT
 *
 * waits.h: turns events into waits: which thread waited, for how long, for what, and which thread
 * caused it. The rules are in doc/calls.md, "How a reader assigns waiting". If anything is
 * uncertain (records were dropped, the trace is incomplete, several threads may have woken the
 * waiter), the cause stays unknown: this code never guesses a thread.
 *
 *     holder    ───────hold═══════════════════release──────────────
 *     waiter    ────────────wait·····························hold──
 *                           |------ held ------|-- wake-up --|
 *
 * Memory: threads; PROBITY_WAITS_OBJECTS_MAX locks and other objects, of which those not in use are
 * evicted first; PROBITY_WAITS_HOLDS_MAX holds of an object that threads wait for; and
 * thread_past.h. Evictions are counted. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_WAITS_H
#define PROBITY_ANALYSIS_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/scopes.h"
#include "analysis/thread_past.h"
#include "analysis/wait.h"
#include "reader/reader.h"

struct probity_waits;

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_waits_open(probity_waits_take *take, void *context, struct probity_waits **ret_waits);

/* Takes the next event in time order. Thread states among them show which thread ended waits that
 * no other record explains. Returns 0, PROBITY_ERROR_MEMORY or the result of `take`. */
int probity_waits_put(struct probity_waits *waits, const struct probity_event *event);

/* Passes on the waits that have not ended, in order of their beginning. Returns the same as
 * probity_waits_put(). */
int probity_waits_finish(struct probity_waits *waits);

/* Counts repairs only for scopes in the range: see probity_scopes_set_range(). */
void probity_waits_set_range(struct probity_waits *waits, uint64_t from_ns, uint64_t to_ns);

/* Permits discarding events before `ns`, except for open waits. UINT64_MAX, the initial value: all
 * events. */
void probity_waits_need(struct probity_waits *waits, uint64_t ns);

/* Returns the beginning of the oldest open wait, including calls to the C library, or the time
 * passed to probity_waits_need(); UINT64_MAX: none. */
uint64_t probity_waits_oldest_ns(const struct probity_waits *waits);

/* Returns the recent activity of each thread: at least since the beginning of each open wait for a
 * lock. */
const struct probity_past *probity_waits_past(const struct probity_waits *waits);

/* Describes a thread's wait that began before a time and has not ended, as if it were passed on
 * now. Returns 0 if there is none. Valid until the next call. */
int probity_waits_open_wait(struct probity_waits *waits, uint32_t thread_slot, uint64_t before_ns,
                            struct probity_wait *ret_wait);

/* Returns the time of the latest event, which never decreases, unlike CLOCK_REALTIME. */
uint64_t probity_waits_now(const struct probity_waits *waits);

const struct probity_scopes *probity_waits_scopes(const struct probity_waits *waits);

/* Returns the slot of the thread with this id in the trace of another thread; NO_THREAD if there is
 * none. */
uint32_t probity_waits_thread(const struct probity_waits *waits, uint32_t thread_slot,
                              uint32_t tid);

/* Returns the number of waits that began in the range of probity_waits_set_range() and have not
 * ended, excluding calls to the C library. */
uint64_t probity_waits_pending(const struct probity_waits *waits);

/* Whether a thread has such a wait: 1 or 0. */
int probity_waits_is_pending(const struct probity_waits *waits, uint32_t thread_slot);

struct probity_waits_facts probity_waits_facts(const struct probity_waits *waits);

void probity_waits_close(struct probity_waits *waits);

#endif
