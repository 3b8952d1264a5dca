/* SPDX-License-Identifier: MIT
 *
 * parallel.c: several threads inside the same functions at the same time, with a probe in each
 * function, for `probity report`, `tree` and `threads`.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <probity.h>

#include <pthread.h>
#include <stdint.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 20 };

static __attribute__((noinline)) void nap(long us)
{
    FN_FUNC(FN_VOID, FN_1);
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static __attribute__((noinline)) void work(int round)
{
    FN_FUNC(FN_VOID, FN_1);
    volatile int spin = 20000;

    while (spin > 0)
        spin--;
    if (round % 3 == 0)
        nap(300);
    if (round % 5 == 0)
        work(round + 1);
}

static void *thread_main(void *argument)
{
    FN_FUNC(FN_VOID, FN_1);
    nap(200 * (long)(intptr_t)argument);
    for (int round = 0; round < ROUNDS; round++) {
        PROBITY_PROBE(1);
        work(round);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    FN_FUNC(int, FN_1);

    for (intptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, thread_main, (void *)i) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
