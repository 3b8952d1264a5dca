/* SPDX-License-Identifier: MIT
 *
 * lives.h: the threads of a program, from their creation to their end, as reported by the kernel.
 * Thread ids are reused, so an id may have several lives. Memory: 48 bytes for each life, 4 bytes
 * for each id up to the highest.
 */
#ifndef PROBITY_SCHED_LIVES_H
#define PROBITY_SCHED_LIVES_H

#include <stddef.h>
#include <stdint.h>

#include "sched/events.h"

struct probity_sched_life {
    uint64_t born_ns, ended_ns; /* ended_ns: UINT64_MAX: it has not ended */
    uint32_t tid;
    uint32_t before; /* index + 1 of the previous life with the same id; 0: none */
    uint32_t trace, thread; /* trace UINT32_MAX: not in any trace */
    struct probity_sched_follow *follow; /* NULL unless its states are being followed */
};

struct probity_sched_lives {
    struct probity_sched_life *items; /* in order of birth */
    size_t count, capacity;
    size_t next;        /* in a second pass: the next life to begin */
    uint32_t *latest;   /* by thread id: index + 1 of the latest life */
    uint32_t latest_count;
};

/* Finds the life that an event belongs to, which may begin or end with it. In a second pass over
 * the same events, finds the same life. Returns 1; 0 if it belongs to none; or
 * PROBITY_ERROR_MEMORY. is_lossy: events before this one may be missing. */
int probity_sched_lives_take(struct probity_sched_lives *lives,
                             const struct probity_sched_event *event, int is_lossy,
                             size_t *ret_index);

/* Begins the second pass. */
void probity_sched_lives_rewind(struct probity_sched_lives *lives);

/* Finds the life of a thread with this id at a time that may be wrong by slack_ns. Returns its
 * index, or SIZE_MAX. */
size_t probity_sched_lives_find(const struct probity_sched_lives *lives, uint32_t tid,
                                uint64_t raw_ns, uint64_t slack_ns);

void probity_sched_lives_release(struct probity_sched_lives *lives);

#endif
