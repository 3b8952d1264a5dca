/* SPDX-License-Identifier: MIT
 *
 * profile_set.h: the set of a thread in profile mode: process-private, in memory that a forked
 * child sees as zeroes. About 6 MiB of address space; only the used parts have pages.
 */
#ifndef PROBITY_RUNTIME_PROFILE_SET_H
#define PROBITY_RUNTIME_PROFILE_SET_H

#include "base/thread_local.h"
#include "runtime/profile.h"
#include "runtime/session_mapping.h"
#include "spool/cells.h"

enum { PROBITY_PROFILE_DEPTH_MAX = 65536 }; /* deeper scopes are counted but not timed */

/* One function in this set. */
struct probity_profile_entry {
    struct probity_profile_cell *cell;
    uint64_t outermost; /* depth + 1 of its outermost open scope; 0: none */
};

/* One open scope. */
struct probity_profile_frame {
    uintptr_t entry;     /* its address, + 1 if the scope is paused or has no times, + 2 if it
                          * counts only if confirmed */
    uint64_t enter_tick;
    uint64_t self_from;  /* enter_tick, advanced by the times of callees and own pauses */
    uint64_t enter_off;  /* ticks off the CPU */
    /* The rest is rarely used. It is 0 in an unused frame, so that an enter need not store it. */
    uint64_t pauses;     /* ticks, including those of callees */
    uint64_t not_self_off, pauses_off; /* the same for ticks off the CPU; callees and own pauses */
    uint64_t outer; /* in a call made in a pause: the entry's previous `outermost` */
};

enum { PROBITY_PROFILE_IS_SLOW = 1, PROBITY_PROFILE_IS_DEFERRED = 2 };

/* For a paused scope: when the pause began, and the contents of its frame then. */
struct probity_profile_pause {
    uint64_t tick, self_from, pauses;
    uint64_t off, not_self_off, pauses_off;
    uint32_t floor; /* previous pause_floor of the set */
    /* For an unconfirmed scope: its pauses so far, and the times of callees in them. */
    uint64_t own, own_off, inside;
};

struct probity_profile_set {
    uint32_t depth;
    uint32_t fast_depth_max; /* 0: take the slow path; a forked child sees 0 */
    uint64_t off;            /* ticks off the CPU, signed */
    uint32_t depth_max, clock, is_untimed;
    uint32_t pause_floor;     /* depth + 1 of the innermost paused scope; 0: none */
    uint32_t in_use, session; /* 0: its thread has ended; the session's number */
    uint32_t busy;            /* the owner is using the session; the end of the recording waits */
    uint32_t first_chunk, chunk;
    uint64_t ended;           /* order in which its thread ended */
    struct probity_profile_set *next;
    struct probity_cells_owner owner;
    struct probity_thread_state slot; /* for the CPU clock; not one of the session's */
    struct probity_profile_entry entry[PROBITY_LIMIT_SITES + 1];
    uint64_t *counter[PROBITY_LIMIT_SITES + 1]; /* probity_scope_counters */
    /* [0] is unused: the caller of the outermost scope. */
    _Alignas(64) struct probity_profile_frame frame[PROBITY_PROFILE_DEPTH_MAX + 1];
    struct probity_profile_pause pause[PROBITY_PROFILE_DEPTH_MAX + 1];
};

/* The calling thread's set; NULL if none. All zeroes in a forked child. */
PROBITY_THREAD_LOCAL(extern, struct probity_profile_set *, probity_profile_own);

/* Makes the set that of the calling thread; NULL: it has none. */
void probity_profile_set_own(struct probity_profile_set *set);

/* Returns the calling thread's set in this recording, created if missing; NULL if a limit is
 * reached. Signals blocked, inside probity_session_enter(). */
struct probity_profile_set *probity_profile_set_here(struct probity_session *session);

/* Sets whether scopes entered from now on are timed, in all threads of a recording. Call with
 * signals blocked. */
void probity_profile_sets_time(struct probity_profile_sets *sets, int is_timed);

/* Returns the entry of a function (its number + 1), with a cell; NULL if a limit is reached. Same
 * contract as above. */
struct probity_profile_entry *probity_profile_entry_here(struct probity_session *session,
                                                         struct probity_profile_set *set,
                                                         uint32_t number);

/* Closes frames from the innermost down to `depth`, at this tick. Called by the set's thread, or
 * once that is dead. In profile.c. */
void probity_profile_close(struct probity_profile_set *set, uint32_t depth, uint64_t tick,
                           int is_unwound);

#endif
