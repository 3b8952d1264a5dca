/* SPDX-License-Identifier: MIT
 *
 * helper_thread.h: a second thread of the tool, which signals to the process do not interrupt.
 */
#ifndef PROBITY_BASE_HELPER_THREAD_H
#define PROBITY_BASE_HELPER_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* Starts a thread that blocks all signals except those raised by its own faults. Returns 0 or an
 * errno. */
static inline int probity_helper_thread_start(pthread_t *ret_thread, void *(*run)(void *context),
                                              void *context)
{
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked, before;

    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int error = pthread_create(ret_thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

#endif
