/* SPDX-License-Identifier: MIT
 *
 * wake.h: starts a recording that another process has requested (doc/attach.md). No thread waits
 * for requests unless the program has a control page (control_page.h): the tool makes the next
 * probe or scope take the slow path, which gets here.
 */
#ifndef PROBITY_RUNTIME_WAKE_H
#define PROBITY_RUNTIME_WAKE_H

#include "runtime/session_mapping.h"
#include "spool/wake.h"

/* Returns whether a request is pending, or about to be made. Any thread. */
int probity_wake_is_pending(void);

/* Takes the request and starts recording, unless another thread is doing so or the session is
 * recording. If there is no request, and none is expected, switches probes off again. Signals
 * blocked, no lock held. */
void probity_wake_take(struct probity_session *session);

/* Does the same for a request at another place, in a thread that may wait. text:
 * PROBITY_WAKE_TEXT_BYTES, which stay valid. */
void probity_wake_take_from(struct probity_session *session, struct probity_wake *block,
                            char *text);

/* Call in the writer thread when a recording has begun: applies the parts of a request that concern
 * the other libraries, and replies to it. owner: the session. */
void probity_wake_begun(void *owner);

/* To be called when a recording that may have been requested is about to end: restores code that
 * was patched for it. Returns 0, or -1 with errno if some code remains patched for now. Not in a
 * signal handler, nor with a lock held. */
int probity_wake_sleep(void);

#endif
