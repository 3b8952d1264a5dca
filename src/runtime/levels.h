/* SPDX-License-Identifier: MIT
 *
 * levels.h: levels of function scopes: the requested ones, and those in effect, which scopes read
 * (probity_scope_level, probity_scope_param_level; probity_scope.h). Requested levels outlast a
 * recording and are inherited by a forked child; those in effect are -1 while nothing is recorded.
 *
 * Any thread, any time, unless noted otherwise.
 */
#ifndef PROBITY_RUNTIME_LEVELS_H
#define PROBITY_RUNTIME_LEVELS_H

#include "probity_scope.h"
#include "runtime/session_mapping.h"

/* Source of the levels, as recorded in the trace (event kind 14). */
enum probity_levels_origin {
    PROBITY_LEVELS_START = 1,
    PROBITY_LEVELS_PROGRAM = 2,
    PROBITY_LEVELS_TOOL = 3
};

/* The event's payload. */
enum { PROBITY_LEVELS_BYTES = 3 };

/* Discards the levels of an earlier recording's settings; all: also those set by calls. */
void probity_levels_forget(int all);

/* Applies levels from the environment, unless the program has set others. */
void probity_levels_ask(int functions, int parameters);

/* Sets the mode of the recording being started, for the scopes that run before its levels take
 * effect, to measure its cost. The current mode may be that of the previous recording, or of a
 * forked child's parent. Call with the session's lock held. */
void probity_levels_set_mode(int is_profile);

/* Publishes levels and mode in the spool's header, and again if they change meanwhile, like the
 * variables in levels.c. The session must not end during the call. */
void probity_levels_publish(struct probity_session *session);

/* Sets whether all scopes take the slow path for now, 1 or 0. Any thread. */
void probity_levels_set_slow(int is_slow);

/* Call when a recording begins: the requested levels take effect and are stored in the spool's
 * header. With the session's lock held, state not yet `recording`. */
void probity_levels_begin(struct probity_session *session);

/* Call once nothing is being recorded. */
void probity_levels_end(void);

/* Changes levels in the writer thread, at the request of `probity level`; a level out of range is
 * treated as -1. Returns the resulting levels, encoded as in the spool's header, where they have
 * been stored. The program may change levels concurrently: the header never returns to older
 * ones. */
uint32_t probity_levels_change(int functions, int parameters);

/* Records the current levels as an event of this thread, at the beginning of each recording. */
void probity_levels_record(struct probity_session *session, struct probity_thread_state *slot);

#endif
