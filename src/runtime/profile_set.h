/* SPDX-License-Identifier: MIT
 *
 * profile_set.h: a thread's set: process-private, in memory that a forked child sees as zeroes.
 * About 6 MiB of addresses, of which only what is used has pages.
 */
#ifndef PROBITY_RUNTIME_PROFILE_SET_H
#define PROBITY_RUNTIME_PROFILE_SET_H

#include "runtime/profile.h"
#include "runtime/session.h"
#include "spool/cells.h"

enum { PROBITY_PROFILE_DEPTH_MAX = 65536 }; /* scopes below count a call and no time */

/* One function in this set. */
struct probity_profile_entry {
    struct probity_cell *cell;
    uint64_t outermost; /* depth + 1 of its outermost open scope; of none, where that is not open */
};

/* One open scope. */
struct probity_profile_frame {
    uintptr_t entry;     /* its address; + 1 where the scope is paused or has no times */
    uint64_t enter_tick;
    uint64_t self_from;  /* enter_tick, moved on by the times of callees and own pauses */
    uint64_t enter_off;  /* ticks off the CPU */
    /* Rare. 0 in a frame that is not in use, so that an enter need not store them. */
    uint64_t pauses;     /* ticks, those of callees too */
    uint64_t not_self_off, pauses_off; /* the same of ticks off the CPU; callees and own pauses */
    uint64_t reserved;
};

enum { PROBITY_PROFILE_IS_SLOW = 1 };

/* While a scope is paused: its self times at the pause. */
struct probity_profile_pause {
    uint64_t self, self_off;
};

struct probity_profile_set {
    uint32_t depth;
    uint32_t fast_depth_max; /* 0: leave by the slow path. So it reads in a forked child */
    uint64_t off;            /* ticks off the CPU, signed */
    uint32_t depth_max, clock, is_untimed;
    uint32_t in_use, session; /* 0: its thread has ended; the session's number */
    uint32_t busy;            /* the owner uses the session; an end of recording waits */
    uint32_t first_chunk, chunk;
    uint64_t ended;           /* its thread was the so-many-th to end */
    struct probity_profile_set *next;
    struct probity_cells_owner owner;
    struct probity_slot slot; /* for the CPU clock; not one of the session's */
    struct probity_profile_entry entry[PROBITY_LIMIT_SITES + 1];
    /* [0] is nobody's: whoever calls the outermost scope. */
    _Alignas(64) struct probity_profile_frame frame[PROBITY_PROFILE_DEPTH_MAX + 1];
    struct probity_profile_pause pause[PROBITY_PROFILE_DEPTH_MAX + 1];
};

/* The calling thread's; NULL without. In a forked child it is all zeroes. */
extern __thread struct probity_profile_set *probity_profile_own
    __attribute__((tls_model("initial-exec")));

/* The calling thread's set in this recording, made where it is missing; NULL where a limit is
 * reached. Signals blocked, inside probity_session_enter(). */
struct probity_profile_set *probity_profile_set_here(struct probity_session *session);

/* The entry of a function (its number + 1), with a cell; NULL where a limit is reached.
 * Likewise. */
struct probity_profile_entry *probity_profile_entry_here(struct probity_session *session,
                                                         struct probity_profile_set *set,
                                                         uint32_t number);

/* Closes frames from the innermost down to `depth`, at this tick. By the set's thread, or once it
 * is dead. In profile.c. */
void probity_profile_close(struct probity_profile_set *set, uint32_t depth, uint64_t tick,
                           int is_unwound);

#endif
