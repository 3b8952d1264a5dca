/* SPDX-License-Identifier: MIT
 *
 * path_internal.h: state of path.c (spans and the waits of each thread), which path_walk.c reads
 * backward.
 */
#ifndef PROBITY_ANSWERS_PATH_PATH_INTERNAL_H
#define PROBITY_ANSWERS_PATH_PATH_INTERNAL_H

#include "analysis/inflight.h"
#include "answers/path/path.h"

enum { PATH_OPEN_MAX = 1 << 14 };

/* A wait that has ended, or the known part of an open one. */
struct path_wait {
    enum probity_wait_kind kind;
    enum probity_wait_what what;
    char *name;
    uint64_t object, from_ns, to_ns;
    struct probity_past_doing doing;
    uint32_t waker_slot;
    uint64_t waker_ns;
    struct probity_wait_holder *holders;
    size_t holder_count;
};

struct path_thread {
    struct path_wait *waits; /* sorted by end */
    size_t first, count, capacity;
};

/* A span that has begun. Only the first hop_count items of each array are set. */
struct path_open {
    struct path_open *next; /* next free one */
    uint32_t slots[PROBITY_PATH_HOPS_MAX]; /* the threads that it was in, and since when */
    uint64_t since_ns[PROBITY_PATH_HOPS_MAX];
    uint8_t is_wire[PROBITY_PATH_HOPS_MAX]; /* 1: between two traces, in no thread */
    size_t hop_count;      /* if there were more hops, the last one has no thread */
    uint64_t latest_ns;    /* its latest hit */
    int is_in_range;       /* it began in the range */
};

struct probity_path {
    struct probity_path_options options;
    struct probity_waits *waits;
    struct probity_thread_states *states;
    int has_states; /* there was at least one thread state */
    struct probity_wait_names names;
    struct probity_thread_table threads;
    const struct probity_thread_label **labels; /* by slot */
    uint32_t label_count;
    struct path_thread *of_threads; /* by slot */
    uint32_t thread_count;
    size_t wait_count; /* in all threads */
    uint64_t waits_forgotten;
    struct probity_inflight open; /* by id, or by thread and depth; owner: a struct path_open */
    struct path_open *free;
    uint64_t pending; /* open spans that began in the range */
    struct probity_inflight shared; /* ids of requests in several traces; thread_slot: the trace
                                     * that each began in */
    struct probity_path_span **spans;
    size_t span_count, span_capacity;
};

static inline const struct probity_thread_label *path_label(const struct probity_path *path,
                                                            uint32_t thread_slot)
{
    return thread_slot < path->label_count ? path->labels[thread_slot] : NULL;
}

/* Finds the parts of a span from its hops. Returns 0 or PROBITY_ERROR_MEMORY. */
int path_walk(struct probity_path *path, const struct path_open *open,
              struct probity_path_span *span);

#endif
