/* SPDX-License-Identifier: MIT
 *
 * waits.h: turns events into waits: which thread waited, for how long, for what, and which thread
 * caused it. The rules are in doc/calls.md, "How a reader assigns waiting". If anything is
 * uncertain (records were dropped, the trace is incomplete, several threads may have woken the
 * waiter), the cause stays unknown: this code never guesses a thread.
 *
 *     holder    ───────hold═══════════════════release──────────────
 *     waiter    ────────────wait·····························hold──
 *                           |------ held ------|-- wake-up --|
 *
 * Memory: threads; PROBITY_WAITS_OBJECTS_MAX locks and other objects, of which those not in use are
 * evicted first; PROBITY_WAITS_HOLDS_MAX holds of an object that threads wait for; and
 * thread_past.h. Evictions are counted. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_WAITS_H
#define PROBITY_ANALYSIS_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/scopes.h"
#include "analysis/thread_past.h"
#include "reader/reader.h"

enum {
    PROBITY_WAITS_OBJECTS_MAX = 1 << 18,
    PROBITY_WAITS_HOLDS_MAX = 1024,
    PROBITY_WAITS_HOLDERS_MAX = 4096, /* of an object, at a time */
    PROBITY_WAITS_TOKENS_MAX = 64 /* notifies of an object that are not assigned yet */
};

/* In place of a thread's slot. */
#define PROBITY_WAITS_NO_THREAD UINT32_MAX

enum probity_wait_kind {
    PROBITY_WAIT_LOCK,      /* held by threads: mutex, read-write lock, spin lock, once */
    PROBITY_WAIT_SEMAPHORE,
    PROBITY_WAIT_CONDITION, /* woken by threads: condition variable, barrier, join, futex */
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
    uint64_t place;   /* return address of its initialization, else of its first hit; 0: unknown */
    uint64_t place_tick; /* when that was */
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
    uint64_t from_ns, to_ns; /* within the wait; if equal, how long it held is unknown */
    int has_released;
    struct probity_wait_place place; /* where it took the object */
};

struct probity_wait {
    enum probity_wait_kind kind;
    uint32_t thread_slot;
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
    uint64_t waited_ns;      /* to - from; for calls to the C library, the time off the CPU */
    struct probity_past_doing doing; /* of the waiter, when the wait began */
    struct probity_wait_place place;
    int error;               /* error number, if it was given up */
    int is_open;             /* has not ended; to_ns is that of the last event */
    const struct probity_wait_object *object; /* NULL for calls to the C library */
    uint64_t mutex;          /* for a condition: the lock that was released; 0: none or unknown */
    /* In order of release, followed by those that have not released. */
    const struct probity_wait_holder *holders;
    size_t holder_count;
    int culprit;             /* index of the holder that released last before the wait's end; -1 */
    int is_holder_forgotten; /* earlier holders did not fit */
    /* The thread that ended the wait, and when, if it is for a condition or semaphore, or has no
     * holders; NO_THREAD: unknown. */
    uint32_t waker_slot;
    uint64_t waker_ns;
    struct probity_past_doing waker_doing;
    struct probity_wait_place waker_place;
    const struct probity_scope *scope; /* of calls to the C library */
};

/* Returns 0, or an error that stops the analysis. event: the one that ended the wait, NULL at the
 * end of the trace. */
typedef int probity_waits_take(void *context, const struct probity_wait *wait,
                               const struct probity_event *event);

struct probity_waits_facts {
    uint64_t waits;
    uint64_t lost;              /* waits whose end is not in the trace */
    uint64_t orphans;           /* releases whose hold is not in the trace */
    uint64_t objects_forgotten; /* in use when they were evicted */
    uint64_t holds_forgotten;
    uint64_t ambiguous;         /* waits that several threads may have ended */
    uint64_t points_forgotten;  /* of thread_past.h */
};

/* The state of a trace at a tick. */
struct probity_waits_state {
    uint32_t trace;
    const uint8_t *bytes; /* NULL: the trace is read from its beginning */
    size_t byte_count;
    uint64_t tick, now_ns; /* now: the latest time up to then */
    const struct probity_reader *clock; /* converts ticks to times; NULL: the times in the state are
                                         * those of the events */
    int has_wakes; /* thread states were among the events, so the state has wakings */
    struct probity_waits_facts totals;
};

struct probity_waits;

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_waits_open(probity_waits_take *take, void *context, struct probity_waits **ret_waits);

/* Takes the next event in time order. Thread states among them show which thread ended waits that
 * no other record explains. Returns 0, PROBITY_ERROR_MEMORY or the result of `take`. */
int probity_waits_put(struct probity_waits *waits, const struct probity_event *event);

/* Passes on the waits that have not ended, in order of their beginning. Returns as above. */
int probity_waits_finish(struct probity_waits *waits);

/* Counts repairs only for scopes of the range: see probity_scopes_set_range(). */
void probity_waits_set_range(struct probity_waits *waits, uint64_t from_ns, uint64_t to_ns);

/* Events before ns need not be kept, except for open waits. UINT64_MAX, the initial value: no
 * events need be kept. */
void probity_waits_need(struct probity_waits *waits, uint64_t ns);

/* The beginning of the oldest open wait, calls to the C library included, or the time that
 * probity_waits_need() was given; UINT64_MAX: none. */
uint64_t probity_waits_oldest_ns(const struct probity_waits *waits);

/* The recent activity of each thread: at least since the beginning of each open wait for a lock. */
const struct probity_past *probity_waits_past(const struct probity_waits *waits);

/* A thread's wait that began before a time and has not ended, as it would be passed on now; 0 if
 * there is none. Valid until the next call. */
int probity_waits_open_wait(struct probity_waits *waits, uint32_t thread_slot, uint64_t before_ns,
                            struct probity_wait *ret_wait);

/* Time of the latest event. Never steps back, unlike CLOCK_REALTIME. */
uint64_t probity_waits_now(const struct probity_waits *waits);

const struct probity_scopes *probity_waits_scopes(const struct probity_waits *waits);

/* The slot of the thread with this id in the trace of another one; NO_THREAD if there is none. */
uint32_t probity_waits_thread(const struct probity_waits *waits, uint32_t thread_slot,
                              uint32_t tid);

/* Number of waits that began in the range of probity_waits_set_range() and have not ended, without
 * calls to the C library. */
uint64_t probity_waits_pending(const struct probity_waits *waits);

/* Whether a thread has such a wait: 1 or 0. */
int probity_waits_is_pending(const struct probity_waits *waits, uint32_t thread_slot);

struct probity_waits_facts probity_waits_facts(const struct probity_waits *waits);

/* ---- In waits_state.c: for indexes -------------------------------------------------------------
 */

/* Saves the state at a tick, as a PROBITY_INDEX_WAITS block, to be freed. All events of a trace up
 * to the tick, and no later ones, must have been put. The block is NULL if a thread was woken after
 * the latest record: this state cannot be saved, but a later one may be. Returns 1; 0 if something
 * was evicted, so that no further state is exact; or PROBITY_ERROR_MEMORY. */
int probity_waits_save(const struct probity_waits *waits, uint64_t tick, uint8_t **ret_bytes,
                       size_t *ret_count);

/* The highest number of objects at a time so far. */
uint64_t probity_waits_objects_most(const struct probity_waits *waits);

/* To be called before the first put, if events before a mark are left out: continues from the
 * state, whose bytes must remain valid until the first event of its trace after its tick. Facts are
 * then the sum of those of the whole traces. Returns 0 or PROBITY_ERROR_MEMORY;
 * probity_waits_put() and _finish() then also return PROBITY_ERROR_DAMAGED. */
int probity_waits_resume(struct probity_waits *waits, const struct probity_waits_state *state);

/* The same with the states of all traces of a reader with a window of waits, which must remain
 * open. Does nothing if it has no such window, or is NULL. */
int probity_waits_resume_all(struct probity_waits *waits, const struct probity_reader *reader);

/* A function that was declared before the state of a trace; NULL if there is none, or the state has
 * been taken. For other states of the same tick. */
const struct probity_function *probity_waits_saved_function(const struct probity_waits *waits,
                                                           uint32_t trace, uint64_t number);

/* How a state refers to the thread of a slot that has events. */
struct probity_waits_thread_id {
    uint32_t number, tid; /* in its trace */
};
struct probity_waits_thread_id probity_waits_thread_id(const struct probity_waits *waits,
                                                       uint32_t thread_slot);

/* The slot of such a thread; NO_THREAD if it has no events yet. */
uint32_t probity_waits_slot_of(const struct probity_waits *waits, uint32_t trace, uint64_t number,
                               uint64_t tid);

void probity_waits_close(struct probity_waits *waits);

#endif
