/* SPDX-License-Identifier: MIT
 *
 * cpu_times.c: reads the thread's CPU clock before and after each hit, with random work, sleep or
 * both in between, so that the CPU time of each hit is known. For each hit, prints the thread and
 * the two readings in ns.
 *
 *     cpu_times SEED HITS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "probity.h"

enum { THREADS = 3, HITS_MAX = 10000 };

static struct {
    int tid;
    uint64_t before[HITS_MAX], behind[HITS_MAX];
} threads[THREADS];

static unsigned seed;
static int hits;

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pass_time(unsigned chance)
{
    const struct timespec pause = {0, 20000 + chance % 1000000};
    uint64_t until = cpu_ns() + chance / 7 % 300000;

    if (chance % 3 != 0)
        nanosleep(&pause, NULL);
    while (chance % 2 != 0 && cpu_ns() < until)
        ;
}

static void *run(void *argument)
{
    size_t thread = (size_t)(uintptr_t)argument;
    unsigned chance = seed + (unsigned)thread;

    threads[thread].tid = gettid();
    for (int i = 0; i < hits; i++) {
        threads[thread].before[i] = cpu_ns();
        probity_probe(5);
        threads[thread].behind[i] = cpu_ns();
        chance = chance * 1664525 + 1013904223;
        pass_time(chance >> 8);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t made[THREADS];

    seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    hits = argc > 2 ? atoi(argv[2]) : 200;
    hits = hits < HITS_MAX ? hits : HITS_MAX;
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&made[i], NULL, run, (void *)(uintptr_t)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(made[i], NULL);
    for (size_t i = 0; i < THREADS; i++) {
        for (int j = 0; j < hits; j++)
            printf("%d %llu %llu\n", threads[i].tid, (unsigned long long)threads[i].before[j],
                   (unsigned long long)threads[i].behind[j]);
    }
    return 0;
}
