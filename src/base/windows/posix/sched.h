/* SPDX-License-Identifier: MIT
 *
 * posix/sched.h: the processors, in the first group of 64, on which this process may run.
 */
#ifndef PROBITY_POSIX_SCHED_H
#define PROBITY_POSIX_SCHED_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t processors;
} cpu_set_t;
#define CPU_COUNT(set) __builtin_popcountll((set)->processors)

enum { SCHED_OTHER = 0 };

/* New threads have the normal priority of their process. */
static inline int sched_getscheduler(int pid)
{
    (void)pid;
    return SCHED_OTHER;
}

/* Only for the calling process. */
int sched_getaffinity(int pid, size_t bytes, cpu_set_t *ret_set)
    __asm__("probity_posix_sched_getaffinity");

#endif
