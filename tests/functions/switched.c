/* SPDX-License-Identifier: MIT
 *
 * switched.c: functions that are switched off and on while threads call them. Each line of the
 * input, "NAME TIMES", is a number of calls by the main thread, answered by "done"; at its end the
 * program prints how often each function was called by all threads.
 *
 *     switched THREADS
 *
 * THREADS call busy() all the time, two deep. FUNCTION: a macro that records the function, or
 * nothing.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FUNCTION
#define FN_INSTRUMENT
#include "FnTrace.h"
#else
#define FUNCTION
#include "probity.h"
#endif

#define PLAIN __attribute__((noinline, no_instrument_function, patchable_function_entry(0, 0)))
#define RECORDED __attribute__((noinline))

enum { THREADS_MAX = 8 };

static int is_over;
static uint64_t busy_calls;
static __thread volatile unsigned sink;

RECORDED void early(void)
{
    FUNCTION;
    sink += 1;
}

RECORDED void later(void)
{
    FUNCTION;
    sink += 2;
}

RECORDED void busy(int depth)
{
    FUNCTION;
    sink += 3;
    if (depth > 1)
        busy(depth - 1);
    sink += 4;
}

PLAIN static void *work(void *unused)
{
    uint64_t calls = 0;

    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        busy(2);
        calls += 2;
        for (int i = 0; i < 2000; i++)
            sink += 1;
    }
    __atomic_fetch_add(&busy_calls, calls, __ATOMIC_RELAXED);
    return unused;
}

PLAIN int main(int argc, char **argv)
{
    int threads = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    unsigned long times, early_calls = 0, later_calls = 0;
    pthread_t thread[THREADS_MAX];
    char name[16];

    if (threads > THREADS_MAX)
        return 2;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, work, NULL) != 0)
            return 1;
    puts("ready");
    fflush(stdout);
    while (scanf("%15s %lu", name, &times) == 2) {
        int is_early = strcmp(name, "early") == 0;
        for (unsigned long i = 0; i < times; i++) {
            if (is_early)
                early();
            else
                later();
        }
        *(is_early ? &early_calls : &later_calls) += times;
        puts("done");
        fflush(stdout);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    printf("busy %llu\nearly %lu\nlater %lu\n", (unsigned long long)busy_calls, early_calls,
           later_calls);
    return 0;
}
