/* SPDX-License-Identifier: MIT
 *
 * waits_parts.h: state of the waits analysis. waits.c follows threads, waits_open.c what
 * each of them waits for, waits_objects.c what they hold, waits_holders.c determines which threads
 * held an object during a wait.
 *
 *     thread ──► open wait ──► object ──► holds, now
 *                    ▲            │ ├───► past: holds that ended during an open wait
 *                    └─ waiters ──┘ └───► tokens: notifies not yet assigned to a waiter
 */
#ifndef PROBITY_ANALYSIS_WAITS_PARTS_H
#define PROBITY_ANALYSIS_WAITS_PARTS_H

#include "analysis/scopes.h"
#include "analysis/wait.h"
#include "base/hashtable.h"

/* A thread that holds an object. */
struct object_hold {
    uint32_t slot, tid, depth;
    uint32_t epoch;     /* that of the thread when it took the object: see wait_thread */
    uint64_t from_ns;
    struct probity_wait_place place;
    uint8_t is_shared, is_doubtful; /* doubtful: another thread also took it. Either the release is
                                     * lost or, if a release follows, the hold was shared */
};

/* A hold that ended. from_ns equals to_ns if its beginning is unknown. */
struct object_held {
    uint32_t slot, tid;
    uint64_t from_ns, to_ns;
    struct probity_wait_place place;
    uint8_t is_shared;
};

/* A notify that woke fewer threads than were waiting. */
struct object_token {
    uint32_t slot;
    uint64_t at_ns, left;
    struct probity_past_doing doing;
    struct probity_wait_place place;
    int is_doubtful; /* its waiter may have been assigned to another notify */
};

struct wait_object {
    struct probity_link link;
    struct probity_wait_object public;
    struct wait_object *older, *newer; /* by use; newer: in the free list, the next object */
    struct object_hold *holds;
    size_t hold_count, hold_capacity;
    struct object_held *past; /* a ring; in order of to_ns */
    uint32_t past_first, past_count, past_capacity;
    uint64_t past_lost_ns;    /* holds that ended by then may be missing */
    struct object_token *tokens;
    size_t token_count, token_capacity;
    uint64_t token_lost_ns; /* notifies by then may be missing */
    uint64_t token_lost_tick;
    struct open_wait *waiters;
    uint64_t waiter_count, unassigned; /* unassigned: waiters without a waker */
    uint32_t released_slot;            /* the thread that released last; NO_THREAD: unknown */
    struct probity_wait_place released_place; /* where it had taken the object */
};

/* The end of a blocked state, according to the kernel. */
struct thread_wake {
    uint64_t at_ns, tick; /* at_ns 0: none */
    uint32_t slot;      /* the waker; NO_THREAD: not a thread of the trace */
    struct probity_past_doing doing; /* activity of the waker */
};

struct open_wait {
    struct wait_object *object; /* NULL: not waiting */
    struct open_wait *older, *newer;             /* waits for locks, by begin */
    struct open_wait *previous_waiter, *next_waiter; /* of the same object */
    enum probity_wait_kind kind;
    uint32_t slot, depth; /* depth: number of open scopes when it began */
    uint64_t from_ns, correlation;
    int has_correlation, is_shared;
    int is_ambiguous;
    uint32_t waker_slot;
    uint64_t waker_ns;
    struct probity_past_doing doing, waker_doing;
    struct probity_wait_place place, waker_place;
};

struct wait_thread {
    struct open_wait wait;
    uint32_t state; /* according to the scheduler */
    struct thread_wake first_wake, latest_wake; /* first_wake: of the open wait */
    uint32_t trace, tid, number; /* number: within the trace */
    uint32_t epoch; /* incremented when records of the thread are dropped */
    uint64_t ended_ns, ended_tick; /* end of its latest wait */
};

struct thread_id {
    struct probity_link link;
    uint64_t key; /* trace and thread id */
    uint32_t slot;
};

struct wait_name {
    struct probity_link link;
    size_t bytes;
    char text[];
};

struct probity_waits {
    probity_waits_take *take;
    void *context;
    struct probity_scopes *scopes;
    struct probity_past past;
    struct wait_thread **threads; /* by slot; NULL: not seen yet */
    uint32_t thread_count;
    struct probity_hashtable tids, names, objects;
    struct wait_object *oldest, *newest, *free_objects;
    struct open_wait *oldest_wait, *newest_wait;
    uint64_t now_ns, need_ns;
    struct probity_waits_facts facts;
    int has_evicted; /* an object was evicted, even if no thread held it */
    uint64_t from_ns, to_ns, pending; /* pending: open waits that began in the range */
    struct waits_resumed **resumed;   /* by trace: its state until its tick; or NULL */
    uint32_t resumed_count, resumed_left;
    uint64_t objects_most;             /* maximum at a time */
    struct probity_waits_facts totals; /* for whole traces */
    int has_totals;
    const struct probity_event *event; /* the event being put */
    int error;                         /* returned by `take`, or MEMORY, in a callback */
    struct probity_wait_holder *holders;
    size_t holder_capacity;
};

static inline struct probity_wait_place waits_place_of(const struct probity_event *event)
{
    return (struct probity_wait_place){event->has_place ? event->place : 0, event->tick};
}

/* ---- waits_state.c ---- */

/* Whether the trace has a state that has not been taken yet. */
static inline int waits_is_resuming(const struct probity_waits *waits, uint32_t trace)
{
    return trace < waits->resumed_count && waits->resumed[trace] != NULL;
}

/* Takes an event of a trace whose analysis resumes from a state. Before the tick of the state,
 * follows only threads, scopes and functions, which the state refers to; takes the state at the
 * first event after it. Returns 0, PROBITY_ERROR_MEMORY or DAMAGED. */
int waits_follow_to_state(struct probity_waits *waits, const struct probity_event *event);

/* At the end of the traces: takes the states that have not been reached. Returns the same. */
int waits_take_states(struct probity_waits *waits);

void waits_drop_states(struct probity_waits *waits);

/* ---- waits_objects.c ---- */

/* Returns NULL if the object is not known. */
struct wait_object *waits_object_find(const struct probity_waits *waits, uint32_t trace,
                                      uint64_t id);

/* Adds the object at its first event. Returns NULL if out of memory. */
struct wait_object *waits_object_add(struct probity_waits *waits,
                                     const struct probity_event *event);

/* Finds or adds the object of an event. Returns NULL if out of memory. */
struct wait_object *waits_object_at(struct probity_waits *waits, const struct probity_event *event);

/* Discards the data of an object that was initialized or destroyed. */
void waits_object_reset(struct probity_waits *waits, struct wait_object *object);

/* Removes an object that no thread waits for. */
void waits_object_remove(struct probity_waits *waits, struct wait_object *object);

/* Adds a hold: a thread took the object, by the current event. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int waits_object_hold(struct probity_waits *waits, struct wait_object *object,
                      const struct wait_thread *thread, int is_shared);

/* Ends the hold of a thread that released the object. is_counted: a semaphore, which any thread may
 * release. Returns the same. */
int waits_object_release(struct probity_waits *waits, struct wait_object *object,
                         const struct wait_thread *thread, int is_counted);

void waits_object_add_waiter(struct wait_object *object, struct open_wait *wait);
void waits_object_remove_waiter(struct wait_object *object, struct open_wait *wait);

/* The current event wakes at most `limit` waiters. Returns 0 or PROBITY_ERROR_MEMORY. */
int waits_object_notify(struct probity_waits *waits, struct wait_object *object, uint32_t slot,
                        uint64_t limit);

/* Assigns a waker to a wait that ends, if that is certain. wake: when the kernel first made the
 * thread runnable; at_ns 0: not recorded. */
void waits_object_find_waker(struct wait_object *object, struct open_wait *wait,
                             const struct thread_wake *wake);

void waits_objects_release(struct probity_waits *waits);

/* ---- waits_holders.c ---- */

/* Sets the holders and the culprit of a wait that ends, or would end now. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int waits_find_holders(struct probity_waits *waits, const struct open_wait *open,
                       struct probity_wait *wait);

/* Returns the slot of a thread id; PROBITY_WAITS_NO_THREAD if it has no records so far. */
uint32_t waits_slot_of(const struct probity_waits *waits, uint32_t trace, uint64_t tid);

#endif
