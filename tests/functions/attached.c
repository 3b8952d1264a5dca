/* SPDX-License-Identifier: MIT
 *
 * attached.c THREADS [quiet] [paced] [low]: threads that call functions without macros and, except
 * with `quiet`, hit a probe in each round, with consecutive numbers; with `paced`, a thread sleeps
 * for 0.2 ms between rounds, so that little is recorded; with `low`, threads run only while nothing
 * else wants the CPU, so that others need not wait for them. For each line on standard input,
 * prints a checksum of the program's own code; at the end of the input the threads stop, and their
 * results are checked.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* SCHED_IDLE */
#endif
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probity.h"

#define NOINLINE __attribute__((noinline))
#define NOT_INSTRUMENTED __attribute__((no_instrument_function, patchable_function_entry(0, 0)))
enum { THREADS_MAX = 64, LEAVES = 10, NUMBERS = 1 << 20 };

static atomic_int is_over;
static int is_quiet, is_paced, is_low;
static uint64_t rounds[THREADS_MAX];

NOINLINE uint64_t leaf(uint64_t value, int number)
{
    __asm__ volatile("");
    return value * 3 + (uint64_t)number;
}

NOINLINE uint64_t middle(uint64_t value)
{
    for (int i = 0; i < LEAVES; i++)
        value = leaf(value, i);
    return value;
}

/* Is in a different source file, if the program has one. */
extern uint64_t elsewhere(uint64_t value) __attribute__((weak));

NOINLINE uint64_t other(uint64_t value)
{
    __asm__ volatile("");
    return value ^ 1;
}

static uint64_t expected(uint64_t value)
{
    for (int i = 0; i < LEAVES; i++)
        value = value * 3 + (uint64_t)i;
    return value ^ 1;
}

static void *work(void *argument)
{
    uint64_t *count = argument, value = 1, same = 1;

    if (is_low)
        sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0}); /* 0: this thread */
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        if (!is_quiet)
            PROBITY_PROBE(*count % NUMBERS);
        value = other(middle(value));
        if (elsewhere != NULL)
            (void)elsewhere(value);
        same = expected(same);
        if (value != same)
            abort();
        ++*count;
        if (is_paced)
            nanosleep(&(const struct timespec){0, 200000}, NULL);
    }
    return NULL;
}

/* The code in memory. */
static uint64_t checksum(void)
{
    extern const unsigned char __executable_start[], etext[];
    uint64_t sum = 0;

    for (const unsigned char *at = __executable_start; at < etext; at++)
        sum = sum * 1099511628211u + *at;
    return sum;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t thread[THREADS_MAX];
    char line[64];

    for (int i = 2; i < argc; i++) {
        is_quiet |= strcmp(argv[i], "quiet") == 0;
        is_paced |= strcmp(argv[i], "paced") == 0;
        is_low |= strcmp(argv[i], "low") == 0;
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, work, &rounds[i]);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        printf("%llx\n", (unsigned long long)checksum());
        fflush(stdout);
    }
    atomic_store(&is_over, 1);
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        printf("rounds %llu\n", (unsigned long long)rounds[i]);
    }
    return 0;
}
