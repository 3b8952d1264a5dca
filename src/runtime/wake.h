/* SPDX-License-Identifier: MIT
 *
 * wake.h: starts a recording that another process has requested (doc/attach.md). There is no thread
 * for it: the tool lets the next probe or scope take the slow path, which comes here.
 */
#ifndef PROBITY_RUNTIME_WAKE_H
#define PROBITY_RUNTIME_WAKE_H

#include "runtime/session.h"

/* Whether a request waits, or is about to be made. Any thread. */
int probity_wake_is_pending(void);

/* Takes the request and starts recording, unless another thread is doing so or the session is
 * recording. Without a request, and none to be expected, switches probes off again. Signals
 * blocked, no lock held. */
void probity_wake_take(struct probity_session *session);

#endif
