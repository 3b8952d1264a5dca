/* SPDX-License-Identifier: MIT
 *
 * posix/sys/resource.h: limits of a process (Windows has none for the size of files), and the CPU
 * time of a finished program.
 */
#ifndef PROBITY_POSIX_SYS_RESOURCE_H
#define PROBITY_POSIX_SYS_RESOURCE_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t rlim_t;
struct rlimit {
    rlim_t rlim_cur, rlim_max;
};
enum { RLIMIT_FSIZE = 1, RLIMIT_NOFILE = 7 };
#define RLIM_INFINITY UINT64_MAX
#ifndef _TIMEVAL_DEFINED
#define _TIMEVAL_DEFINED
struct timeval {
    long tv_sec, tv_usec;
};
#endif
struct rusage {
    struct timeval ru_utime, ru_stime;
};

static inline int getrlimit(int which, struct rlimit *ret_limit)
{
    (void)which;
    ret_limit->rlim_cur = ret_limit->rlim_max = RLIM_INFINITY;
    return 0;
}

static inline int setrlimit(int which, const struct rlimit *limit)
{
    (void)which;
    (void)limit;
    return 0;
}

#endif
