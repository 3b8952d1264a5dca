/* SPDX-License-Identifier: MIT
 *
 * counted.c: threads that pass probes with successive numbers, so that the trace of any part of the
 * run shows whether a hit is missing. From time to time, each thread ends, and a new one continues
 * its numbers. Prints "ready", runs until its input ends, and prints "end".
 *
 *     counted THREADS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "probity.h"

enum { NUMBERS = 1000000, THREADS_MAX = 64, HITS_OF_A_THREAD = 20000, WORK = 500 };

static int is_over;

static void *pass_probes(void *unused)
{
    volatile uint32_t sum = 0;

    for (uint32_t i = 0; i < HITS_OF_A_THREAD && !__atomic_load_n(&is_over, __ATOMIC_RELAXED);
         i++) {
        PROBITY_PROBE(i % NUMBERS);
        for (uint32_t j = 0; j < WORK; j++)
            sum += j;
    }
    (void)sum;
    return unused;
}

/* Runs one thread after another. */
static void *run(void *unused)
{
    pthread_t thread;

    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED) &&
           pthread_create(&thread, NULL, pass_probes, NULL) == 0)
        pthread_join(thread, NULL);
    return unused;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t threads[THREADS_MAX];

    if (count < 1 || count > THREADS_MAX)
        return 2;
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, run, NULL) != 0)
            return 1;
    }
    puts("ready");
    fflush(stdout);
    getchar();
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    puts("end");
    return 0;
}
