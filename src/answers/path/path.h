/* SPDX-License-Identifier: MIT
 *
 * path.h: critical paths: how a request, a call or a span between two probes spent its time, across
 * threads and locks. From the end backward, the path follows the thread; at a wait, it moves to the
 * thread that caused the wait (doc/calls.md, "Critical path"). Thread states (doc/sched.md), if
 * recorded, show which thread woke another, and how each part was spent. The parts of a path are
 * disjoint and sum to its time exactly. Memory: the records of all threads since the oldest open
 * span began, within the limits of thread_past.h, thread_states.h and PROBITY_PATH_WAITS_MAX.
 * Prints nothing.
 */
#ifndef PROBITY_ANSWERS_PATH_PATH_H
#define PROBITY_ANSWERS_PATH_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/thread_states.h"
#include "analysis/thread_table.h"
#include "analysis/waits.h"
#include "answers/waits/wait_names.h"

enum {
    PROBITY_PATH_WAITS_MAX = 1 << 18, /* stored at a time, over all threads */
    PROBITY_PATH_DEPTH_MAX = 16,      /* maximum number of moves to another thread */
    PROBITY_PATH_PARTS_MAX = 1 << 16, /* of one path; all earlier time is then one part */
    PROBITY_PATH_HOPS_MAX = 64        /* changes of thread of one request */
};

enum probity_path_state {
    PROBITY_PATH_RUNNING,
    PROBITY_PATH_RUNNABLE, /* waits for a CPU */
    PROBITY_PATH_BLOCKED,  /* waits for something else: that of the innermost link, if the link is
                              a wait of this thread */
    PROBITY_PATH_WAKE_UP,  /* after the lock was released or the waiter notified; with thread
                              states: until it was woken */
    PROBITY_PATH_WIRE,     /* between the last hit in one trace and the first in the next */
    /* Without thread states: */
    PROBITY_PATH_OFF,      /* off the CPU, for no recorded reason */
    PROBITY_PATH_WAIT,     /* in a part of a wait that no thread accounts for */
    PROBITY_PATH_UNKNOWN,  /* no records, or evicted */
    PROBITY_PATH_STATES
};

/* A wait through which the path moved to another thread, or that contains a part. */
struct probity_path_link {
    uint32_t thread_slot; /* the waiter */
    enum probity_wait_what what; /* PROBITY_WAIT_WHATS: the thread was blocked, for no recorded
                                    reason */
    char *name;
    uint64_t object;
    const struct probity_path_link *outer; /* the wait that led to this thread; or NULL */
};

struct probity_path_part {
    uint64_t from_ns, ns; /* CLOCK_REALTIME */
    enum probity_path_state state;
    uint32_t thread_slot; /* WIRE: the thread to which it leads */
    uint32_t from_slot;   /* WIRE: the thread from which it comes */
    struct probity_past_doing doing;
    const struct probity_path_link *link; /* the innermost wait; NULL: the span's own thread */
};

struct probity_path_span {
    uint64_t from_ns, to_ns;
    uint32_t thread_slot; /* the thread in which it ended */
    uint64_t id;          /* of a request; else 0 */
    int has_id;
    struct probity_path_part *parts; /* in time order */
    size_t part_count, part_capacity;
    struct probity_path_link **links;
    size_t link_count, link_capacity;
    /* The parts by state of their threads, with wake-up as blocked. Set if states are known. */
    struct probity_thread_split split;
    int has_states;
};

struct probity_path_options {
    uint64_t from_ns, to_ns; /* spans that begin in [from, to); both 0: all */
    size_t slowest;          /* number of spans to keep, at least 1 */
    int has_request;         /* only requests with this id */
    uint64_t request;
    uint64_t at_ns;          /* only spans that contain this time and end in this thread; 0: all */
    uint32_t at_tid;
    /* Whether to include spans that begin in a thread with this id; NULL: all. */
    int (*is_wanted)(void *context, uint32_t tid);
    int is_threadwise;       /* 1: hits with ids also mark spans within their thread */
    /* Returns 1 if an event begins a span, 2 if it ends one, 3 for both, or 0. NULL: requests. */
    unsigned (*marks)(void *context, const struct probity_event *event);
    /* Takes each wait that ended, or was open at the end, while a span was open. Returns 0 or an
     * error. May be NULL. */
    int (*waited)(void *context, const struct probity_wait *wait,
                  const struct probity_wait_name *name);
    void *context;
    struct probity_wait_symbols symbols;
    const struct probity_reader *resumed; /* if records are left out: continue from its states; or
                                           * NULL */
};

struct probity_path;

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_path_open(const struct probity_path_options *options, struct probity_path **ret_path);

/* Replaces at_ns of the options. */
void probity_path_choose(struct probity_path *path, uint64_t at_ns);

/* Takes the next event in time order. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_path_put(struct probity_path *path, const struct probity_event *event);

/* Notes only the thread of an event whose path is not needed. Returns the same as above. */
int probity_path_note_thread(struct probity_path *path, const struct probity_event *event);

/* Returns the number of spans and calls that began in the range and have not ended. */
uint64_t probity_path_pending(const struct probity_path *path);

/* Returns the slowest spans that have ended, slowest first. Valid until close. */
const struct probity_path_span *const *probity_path_spans(const struct probity_path *path,
                                                          size_t *ret_count);

/* Returns NULL if the thread is unknown. */
const struct probity_thread_label *probity_path_thread(const struct probity_path *path,
                                                       uint32_t thread_slot);

struct probity_waits_facts probity_path_facts(const struct probity_path *path);
const struct probity_scopes_repairs *probity_path_repairs(const struct probity_path *path);

void probity_path_close(struct probity_path *path);

#endif
