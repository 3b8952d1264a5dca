/* SPDX-License-Identifier: MIT
 *
 * follow.h: follows the states of one thread, event by event (doc/sched.md, "States").
 */
#ifndef PROBITY_SCHED_FOLLOW_H
#define PROBITY_SCHED_FOLLOW_H

#include "sched/blocks.h"
#include "sched/moments.h"
#include "sched/order.h"

/* Data common to all threads of a recording. */
struct probity_sched_context {
    struct probity_sched_blocks blocks;
    const struct probity_sched_order *order;
    int has_wakings;
    uint64_t from_ns; /* states are written from this time on */
};

struct probity_sched_follow {
    struct probity_sched_stream stream;
    struct probity_sched_moments *moments; /* those of its trace */
    uint64_t last_ns;   /* time of its latest event */
    size_t next_loss;   /* the first loss that may still have been in progress at that time */
    uint32_t state;     /* enum probity_sched_state */
    int is_held;        /* blocked, but not written yet: the thread may have been woken before */
    int is_woken;       /* woken while it ran */
    uint32_t waker;
    int has_before;
    struct probity_state_event before; /* the latest state before from_ns, not yet written */
};

/* Processes an event of the thread. Returns the same as probity_sched_blocks_put(). */
int probity_sched_follow_take(struct probity_sched_context *context,
                              struct probity_sched_follow *follow,
                              const struct probity_sched_event *event);

/* Writes the remaining states. The state after end_ns is unknown, unless the thread has ended.
 * Returns the same. */
int probity_sched_follow_end(struct probity_sched_context *context,
                             struct probity_sched_follow *follow, uint64_t end_ns);

#endif
