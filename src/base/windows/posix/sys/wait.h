/* SPDX-License-Identifier: MIT
 *
 * posix/sys/wait.h: waiting for programs, of which none are started.
 */
#ifndef PROBITY_POSIX_SYS_WAIT_H
#define PROBITY_POSIX_SYS_WAIT_H

#include <sys/types.h>

enum { WNOHANG = 1 };
#define WIFEXITED(status) ((status) >= 0)
#define WEXITSTATUS(status) (status)

static inline pid_t waitpid(pid_t pid, int *ret_status, int options)
{
    (void)pid;
    (void)ret_status;
    (void)options;
    return -1;
}

#endif
