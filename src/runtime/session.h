/* SPDX-License-Identifier: MIT
 *
 * session.h: starts and ends a recording, and admits threads to the slow paths that use it.
 */
#ifndef PROBITY_RUNTIME_SESSION_H
#define PROBITY_RUNTIME_SESSION_H

#include "runtime/session_mapping.h"

/* Enters a slow path: returns the session if it is recording, else NULL; the session persists until
 * the thread leaves. Starts recording if the environment requests it. Signals blocked. */
struct probity_session *probity_session_enter(void);
void probity_session_leave(struct probity_session *session);

/* Whether a thread is still in a slow path of the last recording, which ended without waiting any
 * longer for it. Such a thread still uses data that a start replaces. Waits briefly. Lock held. */
int probity_session_is_late(struct probity_session *session);

/* Starts recording. is_main: in a constructor or on an explicit request, when a thread may be
 * created. Lock held, and no thread is late. */
int probity_session_start(struct probity_session *session, const struct probity_settings *settings,
                          int is_main);

/* Begin and end a change of the returned settings, with which a forked child starts. Call in the
 * writer thread. */
struct probity_settings *probity_session_inherit_begin(void);
void probity_session_inherit_end(void);

/* Call at the first probe without a session: starts recording if the environment requests it, or if
 * the parent of this forked child is recording. Lock held. Returns 0 if it is recording now. */
int probity_session_start_if_asked(struct probity_session *session, int is_main);

/* Ends recording with an END reason. Lock not held. Returns PROBITY_ERROR_STATE if another thread
 * is already ending it. */
int probity_session_stop(struct probity_session *session, uint32_t reason);

/* Discards a recording that the constructor started and that is still empty, without leaving files,
 * because an explicit start has other options. Lock not held. A no-op for any other recording. */
void probity_session_discard_autostart(struct probity_session *session);

/* Keeps probes and scopes from taking the slow path. Lock held, not while recording. */
void probity_session_switch_off(void);

/* Call if there is no memory for a session: reports that, and stops probes from trying to create
 * one. */
void probity_session_give_up(void);

/* Adds a segment. Lock held. Returns 0 or an error; PROBITY_ERROR_STATE if backing off after a
 * failure. */
int probity_session_grow(struct probity_session *session);

/* Starts the writer thread if there is none yet. Returns PROBITY_ERROR_STATE in a foreign process,
 * whose exit would end the thread, or if backing off after a failure. Lock held. */
int probity_session_need_writer(struct probity_session *session);

#endif
