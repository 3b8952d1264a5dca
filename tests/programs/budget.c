/* SPDX-License-Identifier: MIT
 *
 * budget.c: calls a short function so often that a budget is exceeded, from several threads, and
 * prints how often each function was called. Some of its scopes record parameters, are paused, or
 * are left by a jump.
 *
 *     budget THREADS CALLS         CALLS of `often` in each thread
 *     budget kill THREADS CALLS    the same, but ends by SIGKILL
 */
#define FN_INSTRUMENT
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "FnTrace.h"

enum { OFTEN_IN_SELDOM = 1000, JUMPS_EVERY = 1000 };

static unsigned long calls;
static __thread volatile unsigned sink;
static __thread jmp_buf back;

static __attribute__((noinline)) int often(int value)
{
    FN_FUNC(int, 1);
    FN_PARAM(value);
    if (value % 3 == 0) {
        FN_PAUSE();
        sink += 1;
        FN_RESUME();
    }
    if (value == JUMPS_EVERY - 1)
        longjmp(back, 1);
    sink += (unsigned)value;
    return value;
}

static __attribute__((noinline)) void seldom(void)
{
    FN_FUNC(void, 1);
    for (volatile int i = 0; i < OFTEN_IN_SELDOM; i++) {
        if (setjmp(back) == 0)
            often(i % JUMPS_EVERY);
    }
}

static void *run(void *unused)
{
    (void)unused;
    for (unsigned long i = 0; i < calls / OFTEN_IN_SELDOM; i++)
        seldom();
    return NULL;
}

int main(int argc, char **argv)
{
    enum { THREADS_MAX = 8 };
    int kills = argc > 3 && strcmp(argv[1], "kill") == 0;
    unsigned long threads = argc > 2 ? strtoul(argv[1 + kills], NULL, 10) : 1;
    pthread_t thread[THREADS_MAX];

    calls = argc > 2 ? strtoul(argv[2 + kills], NULL, 10) : 0;
    for (unsigned long i = 0; i < threads && i < THREADS_MAX; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    for (unsigned long i = 0; i < threads && i < THREADS_MAX; i++)
        pthread_join(thread[i], NULL);
    printf("often %lu\nseldom %lu\n", threads * (calls / OFTEN_IN_SELDOM) * OFTEN_IN_SELDOM,
           threads * (calls / OFTEN_IN_SELDOM));
    fflush(stdout);
    if (kills)
        raise(SIGKILL);
    return 0;
}
