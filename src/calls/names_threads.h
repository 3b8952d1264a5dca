/* SPDX-License-Identifier: MIT
 *
 * names_threads.h: the functions of the family `threads`, for names.h.
 */
#ifndef PROBITY_CALLS_NAMES_THREADS_H
#define PROBITY_CALLS_NAMES_THREADS_H

#include <pthread.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#define PROBITY_CALLS_NAMES_THREADS(X)                                                             \
    X(pthread_create) X(pthread_join) X(pthread_timedjoin_np) X(pthread_clockjoin_np)              \
    X(pthread_setname_np) X(thrd_create) X(thrd_join)                                              \
    X(fork) X(execve) X(execv) X(execvp) X(execvpe) X(fexecve) X(execl) X(execlp) X(execle)        \
    X(posix_spawn) X(posix_spawnp) X(wait) X(waitpid) X(waitid) X(wait3) X(wait4)

#endif
