/* SPDX-License-Identifier: MIT
 *
 * cost.h: the cost of recording in this process, measured by running, on private memory, the code
 * that is compiled into programs; leaves no records.
 */
#ifndef PROBITY_RUNTIME_COST_H
#define PROBITY_RUNTIME_COST_H

#include "format/cost.h"
#include "runtime/session_mapping.h"

/* Measures the costs that apply in the session's mode, in about 200 microseconds. Takes a third of
 * that at the start of a recording that may measure again at its end, and less in profile mode, or
 * with a clock other than the processor's counter. The session's clock, rate and chunk size must be
 * known. Gives no rows if out of memory. Blocks the calling thread's signals during the
 * measurement, and restores its state of scopes and probes; preserves errno. Any thread;
 * async-signal-safe, because a signal handler may end a recording. */
void probity_cost_measure(struct probity_session *session, enum probity_cost_moment moment,
                          struct probity_cost *ret_cost);

/* Does the same at the start of a recording: a forked child inherits its parent's figures. Call
 * with the session's lock held. */
void probity_cost_begin(struct probity_session *session, int is_child,
                        struct probity_cost *ret_cost);

#endif
