/* SPDX-License-Identifier: MIT
 *
 * linux/os_signals.c: blocks and restores signals and cancellation. Separate from os.c, since
 * pending signals are delivered and asynchronous cancellation happens in these functions, which
 * therefore have unwind tables (Makefile, NOT_UNWOUND).
 */
#include "base/os.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Defined if the program is built with a thread sanitizer, while the library usually is not. */
void __tsan_ignore_thread_begin(void) __attribute__((weak));
void __tsan_ignore_thread_end(void) __attribute__((weak));

#ifdef __has_feature
#define IS_INSTRUMENTED __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_THREAD__)
#define IS_INSTRUMENTED 1
#else
#define IS_INSTRUMENTED 0
#endif

void probity_os_unwatched_begin(void)
{
    if (!IS_INSTRUMENTED && __tsan_ignore_thread_begin != NULL)
        __tsan_ignore_thread_begin();
}

void probity_os_unwatched_end(void)
{
    if (!IS_INSTRUMENTED && __tsan_ignore_thread_end != NULL)
        __tsan_ignore_thread_end();
}

void probity_os_signals_block(struct probity_os_signals *ret_before)
{
    uint64_t all = ~UINT64_C(0);
    int before = errno;

    ret_before->set = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &ret_before->set, sizeof all);
    /* A thread must not be cancelled during an open or a write under a lock. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ret_before->cancel);
    probity_os_unwatched_begin();
    errno = before;
}

void probity_os_signals_restore(const struct probity_os_signals *before)
{
    int saved = errno;

    probity_os_unwatched_end();
    pthread_setcancelstate(before->cancel, NULL);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before->set, NULL, sizeof before->set);
    errno = saved;
}
