/* SPDX-License-Identifier: MIT
 *
 * waiting_row.h: one row of what threads waited for, with its waiters, its holders and its longest
 * waits; and the subjects that rows may have.
 */
#ifndef PROBITY_ANSWERS_WAITS_WAITING_ROW_H
#define PROBITY_ANSWERS_WAITS_WAITING_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/duration_stats.h"
#include "analysis/thread_states.h"
#include "analysis/wait.h"
#include "answers/waits/wait_names.h"

enum {
    PROBITY_WAITING_ROWS_MAX = 16384,
    PROBITY_WAITING_HOLDERS_MAX = 48,
    PROBITY_WAITING_WORST = 3,
    PROBITY_WAITING_WAITERS_MAX = 4096
};

enum probity_waiting_by {
    PROBITY_WAITING_BY_OBJECT, /* anything that was waited for */
    PROBITY_WAITING_BY_LOCK,   /* locks and conditions */
    PROBITY_WAITING_BY_FILE,
    PROBITY_WAITING_BY_PEER,
    PROBITY_WAITING_BY_FUNCTION, /* of the waiter: all waits */
    PROBITY_WAITING_BY_THREAD    /* the waiter: all waits */
};

/* A thread in a function that held an object, or woke a waiter. */
struct probity_waiting_holder {
    uint32_t thread_slot; /* PROBITY_WAITS_NO_THREAD: only the thread id is known; or all others */
    uint32_t tid;         /* 0: the slot is known */
    uint32_t order;       /* the thread id; 0: all others */
    struct probity_past_doing doing;
    uint64_t waits;          /* number of waits of which it was the culprit */
    uint64_t ns;             /* waiting time that it accounts for */
    uint64_t known_ns, cpu_ns; /* the part of it with CPU times, and these times */
    struct probity_thread_split split; /* of ns, by the states of the thread */
};

/* One long wait. */
struct probity_waiting_case {
    uint64_t from_ns, ns; /* CLOCK_REALTIME */
    uint32_t thread_slot;
    struct probity_past_doing doing;
    uint32_t culprit_slot, culprit_tid; /* as in a holder */
    struct probity_past_doing culprit_doing;
    struct probity_thread_split split; /* of ns, by the states of the waiter */
    int is_open;
    char *what; /* name of the object, if the row has several; or NULL */
};

struct probity_waiting_row {
    enum probity_wait_what what; /* PROBITY_WAIT_WHATS for rows by function and thread */
    uint32_t trace;
    char *name;      /* as in wait_names.h; "" for rows by function and thread */
    uint64_t object; /* 0: none */
    const struct probity_function *function; /* of a row by function; may be NULL */
    uint32_t thread_slot;                    /* of a row by thread, else NO_THREAD */
    int is_rest;                             /* sums everything that has no row */
    struct probity_duration_stats durations;
    uint64_t open, given_up;
    uint64_t known_ns;       /* waiting time that holders and wakers account for */
    struct probity_thread_split split; /* of the total, by the states of the waiters */
    uint32_t *waiters;       /* slots */
    size_t waiter_count, waiter_capacity;
    int are_waiters_least;   /* there were more than are stored */
    struct probity_waiting_holder *holders; /* most time first, once finished */
    size_t holder_count, holder_capacity;
    struct probity_waiting_case worst[PROBITY_WAITING_WORST]; /* longest first */
    size_t worst_count;
};

struct probity_waiting_options {
    enum probity_waiting_by by;
    uint64_t from_ns, to_ns; /* waits that begin in [from, to) of CLOCK_REALTIME; both 0: all */
    struct probity_wait_symbols symbols;
    /* Whether to include a wait of a thread with this id and slot that began at from_ns: 1 or 0.
     * Called before put returns for the event that ends the wait. NULL: all. */
    int (*is_wanted)(void *context, uint32_t tid, uint32_t thread_slot, uint64_t from_ns);
    void *context;
    const struct probity_reader *resumed; /* if records are left out: continue from its states; or
                                           * NULL */
};

#endif
