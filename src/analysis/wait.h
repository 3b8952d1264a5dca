/* SPDX-License-Identifier: MIT
 *
 * wait.h: one wait of a thread, with what it waited for and which threads caused it. waits.h finds
 * the waits in events.
 */
#ifndef PROBITY_ANALYSIS_WAIT_H
#define PROBITY_ANALYSIS_WAIT_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/scope.h"
#include "analysis/thread_past.h"
#include "reader/reader.h"

/* Limits of the analysis. */
enum {
    PROBITY_WAITS_OBJECTS_MAX = 1 << 18,
    PROBITY_WAITS_HOLDS_MAX = 1024,
    PROBITY_WAITS_HOLDERS_MAX = 4096, /* per object, at the same time */
    PROBITY_WAITS_TOKENS_MAX = 64 /* notifies per object that are not assigned yet */
};

/* Used in place of a thread's slot. */
#define PROBITY_WAITS_NO_THREAD UINT32_MAX

enum probity_wait_kind {
    PROBITY_WAIT_LOCK,      /* held by threads: mutex, read-write lock, spin lock, once */
    PROBITY_WAIT_SEMAPHORE,
    PROBITY_WAIT_CONDITION, /* ended by threads: condition variable, barrier, join, futex */
    PROBITY_WAIT_IO,        /* a call to the C library in which the thread was off the CPU */
    PROBITY_WAIT_SLEEP,
    PROBITY_WAIT_THREADS,   /* waitpid and similar calls */
    PROBITY_WAIT_KINDS
};

/* A lock, or another object that threads wait for. Valid during the call that passes it. */
struct probity_wait_object {
    uint32_t trace;
    uint64_t id;
    const char *name; /* of its first site, without the role: "cache", "mutex"; valid until close */
    uint64_t place;   /* return address of its initialization, or first hit; 0: unknown */
    uint64_t place_tick; /* time of that call */
    int is_place_made;
};

/* The place where a thread called the C library to wait, to take a lock or to wake others. */
struct probity_wait_place {
    uint64_t address; /* return address of the call; 0: not recorded */
    uint64_t tick;
};

/* A thread that held the object during a wait. */
struct probity_wait_holder {
    uint32_t thread_slot; /* PROBITY_WAITS_NO_THREAD: only its thread id is known */
    uint32_t tid;         /* 0: its slot is known */
    uint64_t from_ns, to_ns; /* during the wait; if equal, it is unknown how long it held */
    int has_released;
    struct probity_wait_place place; /* where it took the object */
};

struct probity_wait {
    enum probity_wait_kind kind;
    uint32_t thread_slot;
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
    uint64_t waited_ns;      /* to - from; for calls to the C library, the time off the CPU */
    struct probity_past_doing doing; /* activity of the waiter when the wait began */
    struct probity_wait_place place;
    int error;               /* error number, if the wait was given up */
    int is_open;             /* has not ended; to_ns is that of the last event */
    const struct probity_wait_object *object; /* NULL for calls to the C library */
    uint64_t mutex;          /* for a condition: the lock that was released; 0: none or unknown */
    /* In order of release, followed by those that have not released. */
    const struct probity_wait_holder *holders;
    size_t holder_count;
    int culprit;             /* the holder that released last before the wait's end; -1: none */
    int is_holder_forgotten; /* there were earlier holders, which did not fit */
    /* For a condition or semaphore, or without holders: the thread that ended the wait, and when.
     * NO_THREAD: unknown. */
    uint32_t waker_slot;
    uint64_t waker_ns;
    struct probity_past_doing waker_doing;
    struct probity_wait_place waker_place;
    const struct probity_scope *scope; /* for calls to the C library */
};

/* Takes a wait. Returns 0, or an error that stops the analysis. event: the event that ended the
 * wait, NULL at the end of the trace. */
typedef int probity_waits_take(void *context, const struct probity_wait *wait,
                               const struct probity_event *event);

struct probity_waits_facts {
    uint64_t waits;
    uint64_t lost;              /* waits whose end is not in the trace */
    uint64_t orphans;           /* releases whose hold is not in the trace */
    uint64_t objects_forgotten; /* in use when evicted */
    uint64_t holds_forgotten;
    uint64_t ambiguous;         /* waits that several threads may have ended */
    uint64_t points_forgotten;  /* see thread_past.h */
};

#endif
