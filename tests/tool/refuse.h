/* SPDX-License-Identifier: MIT
 *
 * refuse.h: how a program tells refuse.c which system calls are its own: between the two calls
 * nothing is refused to this thread. Without refuse, the kernel says that it knows no such command.
 */
#ifndef PROBITY_TESTS_REFUSE_H
#define PROBITY_TESTS_REFUSE_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REFUSE_OWN_CALLS = 0x52454655 };

static inline void refuse_own_calls(int are_own)
{
    int before = errno;

    syscall(SYS_membarrier, REFUSE_OWN_CALLS, are_own, 0);
    errno = before;
}

#endif
