/* SPDX-License-Identifier: MIT
 *
 * top_locks.h: waits for locks and semaphores, from the events of one reader. The analysis begins
 * with the first record of a lock: a trace that has none costs nothing.
 */
#ifndef PROBITY_ANSWERS_TOP_TOP_LOCKS_H
#define PROBITY_ANSWERS_TOP_TOP_LOCKS_H

#include "analysis/waits.h"
#include "answers/waits/wait_names.h"

struct probity_top_locks {
    struct probity_wait_names names;
    struct probity_waits *waits; /* NULL: no record of a lock yet */
    /* Takes a wait that has ended. Returns 0 or PROBITY_ERROR_MEMORY. */
    int (*take)(void *context, const char *name, uint64_t from_ns, uint64_t to_ns);
    void *context;
};

/* Takes the next event in time order. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_top_locks_put(struct probity_top_locks *locks, const struct probity_event *event);
void probity_top_locks_release(struct probity_top_locks *locks);

#endif
