/* SPDX-License-Identifier: MIT
 *
 * switched.h: shared by switched.c and switched_sites.c: threads that work continually while the
 * main thread executes its input.
 */
#ifndef PROBITY_TESTS_SWITCHED_H
#define PROBITY_TESTS_SWITCHED_H

#include <pthread.h>
#include <stdio.h>

/* A function that is not recorded, whatever the flags. */
#define PLAIN __attribute__((noinline, no_instrument_function, patchable_function_entry(0, 0)))

enum { THREADS_MAX = 8 };

static int is_over;

/* Returns whether a thread must end. */
static inline __attribute__((always_inline, no_instrument_function)) int threads_end(void)
{
    return __atomic_load_n(&is_over, __ATOMIC_RELAXED);
}

/*
 * Starts threads that work until threads_end(), and prints "ready". For each line of the input,
 * "NAME TIMES", calls do_once(NAME) TIMES times and prints "done". Then ends the threads. Returns
 * the program's exit status.
 */
PLAIN static int follow_input(int threads, void *(*work)(void *), void (*do_once)(const char *))
{
    pthread_t thread[THREADS_MAX];
    unsigned long times;
    char name[16];

    if (threads > THREADS_MAX)
        return 2;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, work, NULL) != 0)
            return 1;
    puts("ready");
    fflush(stdout);
    while (scanf("%15s %lu", name, &times) == 2) {
        for (unsigned long i = 0; i < times; i++)
            do_once(name);
        puts("done");
        fflush(stdout);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return 0;
}

#endif
