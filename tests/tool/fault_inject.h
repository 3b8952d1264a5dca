/* SPDX-License-Identifier: MIT
 *
 * fault_inject.h: marks a program's own system calls for fault_inject.c: none of the thread's calls
 * between these two fails. Without fault injection, the kernel rejects both as unknown commands.
 */
#ifndef PROBITY_TESTS_FAULT_INJECT_H
#define PROBITY_TESTS_FAULT_INJECT_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FAULT_INJECT_OWN_CALLS = 0x52454655 };

static inline void fault_inject_own_calls(int are_own)
{
    int before = errno;

    syscall(SYS_membarrier, FAULT_INJECT_OWN_CALLS, are_own, 0);
    errno = before;
}

#endif
