/* SPDX-License-Identifier: MIT
 *
 * kept.h: the part of discarded events that is kept, so that states can be recorded indefinitely in
 * a file of limited size: each thread's latest event. So the state of a thread is known even if it
 * has been blocked since before the oldest event in the file. Memory: 40 bytes for each live
 * thread.
 */
#ifndef PROBITY_SCHED_KEPT_H
#define PROBITY_SCHED_KEPT_H

#include "base/hashtable.h"
#include "sched/events.h"

/* An event as stored in the file. */
struct probity_sched_spilled {
    uint64_t time_kind; /* time in ns << 4 | enum probity_sched_kind */
    uint32_t tid, other;
};

/* All zero: nothing has been discarded. */
struct probity_sched_kept {
    struct probity_hashtable threads; /* by thread id */
    uint64_t until_ns; /* time of the latest discarded event; later events are still there */
    uint64_t lost_ns;  /* end of the latest discarded loss: earlier states are uncertain */
    uint64_t lost;     /* number of records in discarded losses */
};

/* Discards events of a ring, which are in order of time. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_sched_kept_discard(struct probity_sched_kept *kept, uint32_t cpu,
                               const struct probity_sched_spilled *events, uint32_t count);

/* Discards threads that had ended by then. No earlier event may be discarded later. */
void probity_sched_kept_forget(struct probity_sched_kept *kept, uint64_t until_ns);

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_sched_kept_copy(const struct probity_sched_kept *kept,
                            struct probity_sched_kept *ret_copy);

/* Returns the latest events in order of time, malloc'ed, with the number of the CPU in `other`.
 * *ret_count may be 0. Returns NULL if out of memory. */
struct probity_sched_spilled *probity_sched_kept_events(const struct probity_sched_kept *kept,
                                                        uint32_t *ret_count);

void probity_sched_kept_release(struct probity_sched_kept *kept);

#endif
