/* SPDX-License-Identifier: MIT
 *
 * profile.h: profile mode: function scopes are counted and timed, in cells of the spool
 * (src/spool/cells.h), instead of recorded. Each thread has a set of cells, which later threads
 * reuse once many threads have ended, so neither trace nor memory grows with time.
 *
 *     set (process-private) ─► entry of each site ─► its cell (in the spool)
 *                           └► frame of each open scope, innermost last
 *
 * Frames are kept here and not on the functions' stacks, because stack memory abandoned by longjmp
 * must not be read.
 */
#ifndef PROBITY_RUNTIME_PROFILE_H
#define PROBITY_RUNTIME_PROFILE_H

#include <stdint.h>

struct probity_session;
struct probity_site_function;

/* Enters a declared function. Returns PROBITY_SCOPE_PROFILED | depth << 32; if the call cannot be
 * counted, returns 0 and counts that instead. Any thread, async-signal-safe; preserves errno. Enter
 * and leave together take about 120 instructions, with predicted branches, which overlap with
 * reading the clock. */
uint64_t probity_profile_enter(struct probity_site_function *function);

/* Leaves the scope entered at this depth; those above it were left by a jump. Same contract as
 * above. */
void probity_profile_leave(uint32_t depth);

/* Counts a call of a declared function, without times and without a scope. Same contract as above.
 * From then on, probity_scope_counters has its counter. */
void probity_profile_count(const struct probity_site_function *function);

/* Ends the innermost `count` scopes, which were left by a jump, at the thread's last enter or
 * leave. */
void probity_profile_unwind(uint32_t count);

/* Pauses the innermost scope (1) or ends its pause (0). Redundant calls are ignored. */
void probity_profile_pause(int is_pause);

/* Defers the innermost scope, entered at this depth: it counts only if it is confirmed. If it is
 * left unconfirmed, its callees count as its caller's. */
void probity_profile_defer(uint32_t depth);
void probity_profile_confirm(uint32_t depth);

/* Sets whether scopes entered from now on are timed, 1 or 0: applies to the rest of the recording,
 * in all threads. */
void probity_profile_set_timed(int is_timed);

/* Call when the calling thread ends, with signals blocked: closes its open scopes. Its set stays
 * readable. */
void probity_profile_thread_ends(void);

/* Call when recording ends and all threads have left their slow paths: closes open scopes of the
 * calling thread; no more scopes are counted. */
void probity_profile_end(struct probity_session *session);

#endif
