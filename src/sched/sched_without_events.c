/* SPDX-License-Identifier: MIT
 *
 * sched_without_events.c: replaces the recording of thread states if the tool is built with
 * -DPROBITY_WITHOUT_PROGRAMS, since only programs that it runs are recorded.
 */
#include "sched/sched.h"

#ifdef PROBITY_WITHOUT_PROGRAMS

#include <errno.h>

int probity_sched_begin(pid_t pid, const char *near, const struct probity_sched_limits *limits,
                        struct probity_sched **ret_sched, int *ret_wakings)
{
    (void)pid;
    (void)near;
    (void)limits;
    (void)ret_sched;
    (void)ret_wakings;
    errno = ENOSYS;
    return -1;
}

/* Never called, since there is no recording. */

void probity_sched_end(struct probity_sched *sched)
{
    (void)sched;
}

int probity_sched_write(struct probity_sched *sched, const char *const *paths, size_t count,
                        struct probity_sched_result *ret_result)
{
    (void)sched;
    (void)paths;
    (void)count;
    *ret_result = (struct probity_sched_result){0};
    return 0;
}

int probity_sched_write_dump(struct probity_sched *sched, const char *path,
                             struct probity_sched_result *ret_result)
{
    (void)sched;
    (void)path;
    *ret_result = (struct probity_sched_result){0};
    return 0;
}

void probity_sched_release(struct probity_sched *sched)
{
    (void)sched;
}

#endif
