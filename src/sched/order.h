/* SPDX-License-Identifier: MIT
 *
 * order.h: returns the events of all rings in order of time. Memory: 64 KiB for each ring.
 */
#ifndef PROBITY_SCHED_ORDER_H
#define PROBITY_SCHED_ORDER_H

#include "sched/collect.h"

struct probity_sched_source; /* the events of one ring */

/* A time in which the kernel dropped records on a CPU, so that nothing is known about any
 * thread. */
struct probity_sched_loss {
    uint64_t from_ns, until_ns; /* until_ns: UINT64_MAX while it lasts */
};

struct probity_sched_order {
    const struct probity_sched_taken *taken;
    struct probity_sched_source *sources; /* a heap by the time of their next event */
    size_t source_count;
    struct probity_sched_loss *losses; /* losses so far, by from_ns */
    size_t loss_count, loss_capacity;
    uint64_t lost; /* number of records lost so far */
    uint64_t last_ns; /* time of the event that was returned */
};

/* Opens the sequence. Events kept from discarded chunks come first. Returns 0, PROBITY_ERROR_MEMORY
 * or PROBITY_ERROR_READ. */
int probity_sched_order_open(struct probity_sched_order *order,
                             const struct probity_sched_taken *taken);

/* Returns 1 with the next event, 0 at the end, PROBITY_ERROR_READ with errno set, or
 * PROBITY_ERROR_MEMORY. PROBITY_SCHED_LOST is not returned but added to `losses`. */
int probity_sched_order_next(struct probity_sched_order *order,
                             struct probity_sched_event *ret_event);

void probity_sched_order_close(struct probity_sched_order *order);

#endif
