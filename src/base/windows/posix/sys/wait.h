/* SPDX-License-Identifier: MIT
 *
 * posix/sys/wait.h: waits for programs that posix_spawnp() started. A status is the exit code, even
 * of a terminated program: exceptions are 32-bit codes.
 */
#ifndef PROBITY_POSIX_SYS_WAIT_H
#define PROBITY_POSIX_SYS_WAIT_H

#include <sys/resource.h>
#include <sys/types.h>

enum { WNOHANG = 1 };
#define WIFEXITED(status) 1
#define WEXITSTATUS(status) (status)

/* options: 0 or WNOHANG. ret_usage, which may be NULL: that of the program without its children. */
pid_t wait4(pid_t pid, int *ret_status, int options, struct rusage *ret_usage)
    __asm__("probity_posix_wait4");

static inline pid_t waitpid(pid_t pid, int *ret_status, int options)
{
    return wait4(pid, ret_status, options, NULL);
}

#endif
