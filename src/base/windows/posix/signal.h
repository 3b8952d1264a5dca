/* SPDX-License-Identifier: MIT
 *
 * posix/signal.h: sets of signals. No signal interrupts a thread here, so blocking them does
 * nothing.
 */
#ifndef PROBITY_POSIX_SIGNAL_H
#define PROBITY_POSIX_SIGNAL_H

#include_next <signal.h>
#include <stdint.h>

#undef pthread_sigmask /* winpthreads defines a macro */

typedef uint64_t sigset_t;
/* The same numbers as on Linux. */
#define SIGHUP 1
#define SIGQUIT 3
#define SIGTRAP 5
#define SIGBUS 7
#define SIGUSR1 10
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGCHLD 17
#define SIGCONT 18
#define SIGTSTP 20
#define SIGURG 23
#define SIGXCPU 24
#define SIGXFSZ 25
#define SIGWINCH 28
#define SIGSYS 31
#define SIGRTMIN 34
#define SIGRTMAX 64
#undef SIG_BLOCK
#undef SIG_SETMASK
#define SIG_BLOCK 0
#define SIG_SETMASK 2
typedef struct {
    int si_signo, si_code;
    void *si_addr;
} siginfo_t;
enum { BUS_ADRERR = 2 };
struct sigaction {
    void (*sa_handler)(int);
    void (*sa_sigaction)(int, siginfo_t *, void *);
    sigset_t sa_mask;
    int sa_flags;
};
enum { SA_RESTART = 1, SA_ONSTACK = 2, SA_SIGINFO = 4, SA_RESETHAND = 8 };

/* There are no handlers, and none can be set. */
static inline int sigaction(int number, const struct sigaction *action,
                            struct sigaction *ret_before)
{
    (void)number;
    (void)action;
    (void)ret_before;
    return -1;
}

static inline int sigfillset(sigset_t *set)
{
    *set = UINT64_MAX;
    return 0;
}

static inline int sigemptyset(sigset_t *set)
{
    *set = 0;
    return 0;
}

static inline int sigaddset(sigset_t *set, int number)
{
    *set |= UINT64_C(1) << (number - 1);
    return 0;
}

static inline int sigdelset(sigset_t *set, int number)
{
    *set &= ~(UINT64_C(1) << (number - 1));
    return 0;
}

static inline int sigismember(const sigset_t *set, int number)
{
    return (*set >> (number - 1) & 1) != 0;
}

struct timespec;
static inline int sigtimedwait(const sigset_t *set, siginfo_t *ret_info,
                               const struct timespec *time)
{
    (void)set;
    (void)ret_info;
    (void)time;
    return -1;
}

/* Only checks whether the process exists: number must be 0. */
int kill(int pid, int number) __asm__("probity_posix_kill");

static inline int pthread_sigmask(int how, const sigset_t *set, sigset_t *ret_before)
{
    (void)how;
    (void)set;
    if (ret_before != NULL)
        *ret_before = 0;
    return 0;
}

#define sigprocmask pthread_sigmask

#endif
