/* SPDX-License-Identifier: MIT
 *
 * levels.h: which function scopes are recorded: the levels that are wanted, and those in force,
 * which scopes look at (probity_scope_level, probity_scope_param_level; probity_scope.h). The
 * wanted ones outlast a recording and go on in a forked child; those in force are -1 while nothing
 * is recorded.
 *
 * Any thread, any time, unless it says otherwise.
 */
#ifndef PROBITY_RUNTIME_LEVELS_H
#define PROBITY_RUNTIME_LEVELS_H

#include "probity_scope.h"
#include "runtime/session.h"

/* Who brought levels about, as a trace tells it (event kind 14). */
enum probity_levels_origin {
    PROBITY_LEVELS_START = 1,
    PROBITY_LEVELS_PROGRAM = 2,
    PROBITY_LEVELS_TOOL = 3
};

/* The event's payload. */
enum { PROBITY_LEVELS_BYTES = 3 };

/* Levels that the environment names count from here on, unless the program has set others. */
void probity_levels_ask(int functions, int parameters);

/* The mode of the recording that is being started, for scopes that run before its levels come into
 * force: those that measure its cost. The one in force may be that of the recording before, or of a
 * forked child's parent. The session's lock held. */
void probity_levels_set_mode(int is_profile);

/* A recording begins: the wanted levels come into force, and into the spool's header. The session's
 * lock held, state not yet `recording`. */
void probity_levels_begin(struct probity_session *session);

/* Nothing is recorded now. */
void probity_levels_end(void);

/* The writing thread's change, at the wish of `probity level`; a level out of range is taken as -1.
 * Returns the levels then in force as the spool's header has them; the header does by then. The
 * program may change levels at the same time: the header never goes back. */
uint32_t probity_levels_change(int functions, int parameters);

/* The levels in force as an event of this thread: each recording begins with one. */
void probity_levels_record(struct probity_session *session, struct probity_slot *slot);

#endif
