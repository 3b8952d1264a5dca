/* SPDX-License-Identifier: MIT
 *
 * deep_threads.c: 64 threads that recurse deeply, each for a different length of time.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"

#include <pthread.h>
#include <stdint.h>

enum { THREADS = 64, DEPTH = 40 };

static volatile unsigned sink;

static void descend(unsigned left)
{
    FN_FUNC(void, FN_1);

    for (unsigned i = 0; i < 200 + left % 7 * 100; i++)
        sink = sink * 31 + i;
    if (left > 0)
        descend(left - 1);
    if (left % 9 == 0 && left > 9)
        descend(left / 9);
}

static void *run(void *number)
{
    unsigned times = 4 + (unsigned)(uintptr_t)number % 5;

    for (unsigned i = 0; i < times; i++)
        descend(DEPTH + 2 * (unsigned)(uintptr_t)number);
    return NULL;
}

int main(void)
{
    FN_FUNC(int, FN_1);
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, run, (void *)i) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
