/* SPDX-License-Identifier: MIT
 *
 * profile.h: profile mode: function scopes are not recorded but counted and timed, in cells of the
 * spool (src/spool/cells.h). Each thread has a set of cells, which a later thread goes on with once
 * many threads have ended: so neither trace nor memory grows with time.
 *
 *     set (process-private) ─► entry of each site ─► its cell (in the spool)
 *                           └► frame of each open scope, innermost last
 *
 * Frames lie here and not in the functions' own stacks: what longjmp left behind there must not be
 * read.
 */
#ifndef PROBITY_RUNTIME_PROFILE_H
#define PROBITY_RUNTIME_PROFILE_H

#include <stdint.h>

struct probity_session;
struct probity_profile_set;
struct probity_site_function;

/* Part of the session. */
struct probity_profile_sets {
    struct probity_profile_set *first; /* all that were ever made */
    uint32_t lock;                     /* hold with signals blocked */
    uint32_t made;
    uint32_t is_untimed; /* scopes entered now count a call and no time */
    uint64_t ended;      /* threads that have ended */
};

/* Enters a declared function. Returns PROBITY_SCOPE_PROFILED | depth << 32; 0 where it cannot be
 * counted, which is counted itself. Any thread, signal handlers too; errno stays. Enter
 * and leave are some 120 instructions with predicted branches, hidden behind the clock's own. */
uint64_t probity_profile_enter(struct probity_site_function *function);

/* Leaves the scope entered at this depth; those above it were left by a jump. Likewise. */
void probity_profile_leave(uint32_t depth);

/* The innermost scopes were left by a jump: they end at the thread's last enter or leave. */
void probity_profile_unwind(uint32_t count);

/* Pauses the innermost scope (1) or ends its pause (0). What changes nothing is passed over. */
void probity_profile_pause(int is_pause);

/* Whether scopes that are entered from now on are timed, 1 or 0: for the rest of the recording, in
 * all threads. */
void probity_profile_set_timed(int is_timed);

/* The calling thread ends: what it left open ends now, and its set stays readable. Signals
 * blocked. */
void probity_profile_thread_ends(void);

/* Recording ends: no scope is counted any more; those of the calling thread that are open end now.
 * All threads have left their slow paths. */
void probity_profile_end(struct probity_session *session);

#endif
