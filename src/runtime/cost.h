/* SPDX-License-Identifier: MIT
 *
 * cost.h: what recording costs in this process, measured by the code that programs are compiled
 * with, against memory of its own: no record comes of it.
 */
#ifndef PROBITY_RUNTIME_COST_H
#define PROBITY_RUNTIME_COST_H

#include "format/cost.h"
#include "runtime/session.h"

/* Measures what the session's mode needs, in some 150 microseconds; with another clock than the
 * processor's counter, or in profile mode, in less. The session's clock, rate and chunk size must
 * be known. Without memory it gives no rows. The calling thread has signals blocked meanwhile, and
 * afterwards its state of scopes and probes is as it was; errno stays. Any thread; a signal handler
 * may, as it may end a recording. */
void probity_cost_measure(struct probity_session *session, enum probity_cost_moment moment,
                          struct probity_cost *ret_cost);

/* The same at the start of a recording: a forked child takes over the figures of its parent. Under
 * the session's lock. */
void probity_cost_begin(struct probity_session *session, int is_child,
                        struct probity_cost *ret_cost);

#endif
