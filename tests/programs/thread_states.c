/* SPDX-License-Identifier: MIT
 *
 * thread_states.c: threads that run, sleep, wait for each other and compete for a CPU. Each prints
 * its id and, in ns: the time between its first and last probe, the times that it ran and waited
 * for a CPU according to /proc, and by how much at most the time between the probes exceeds their
 * sum. Usage: thread_states THREADS ROUNDS [kill]. With "kill", the program ends by SIGKILL.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probity.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long rounds;
static volatile unsigned sink;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Reads the time on a CPU and waiting for one; reading the CPU clock brings them up to date.
 * Returns 0 if they are not in /proc. */
static int read_schedstat(uint64_t times[2])
{
    char text[128] = "";
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        close(file);
    return got > 0 && sscanf(text, "%" SCNu64 " %" SCNu64, &times[0], &times[1]) == 2;
}

static unsigned compute(unsigned steps)
{
    unsigned sum = 1;

    for (unsigned i = 0; i < steps; i++)
        sum = sum * 31 + i;
    return sum;
}

static void *work(void *context)
{
    uint64_t before[2], after[2], at[4];
    long id = (long)(intptr_t)context;

    at[0] = now_ns();
    PROBITY_PROBE(1);
    int is_known = read_schedstat(before);
    at[1] = now_ns();
    for (long i = 0; i < rounds; i++) {
        sink = compute(2000000);
        pthread_mutex_lock(&lock);
        sink = compute(100000);
        pthread_mutex_unlock(&lock);
        if ((i + id) % 4 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        PROBITY_PROBE(2);
    }
    at[2] = now_ns();
    is_known = read_schedstat(after) && is_known;
    PROBITY_PROBE(3);
    at[3] = now_ns();
    if (is_known)
        printf("%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", gettid(), at[3] - at[0],
               after[0] - before[0], after[1] - before[1], at[1] - at[0] + at[3] - at[2]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    long count = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    cpu_set_t one;

    if (count < 1 || count > 64)
        return 2;
    rounds = strtol(argv[2], NULL, 10);
    /* On one CPU, threads have to wait for it. */
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof one, &one) == 0) {
        int cpu = 0;
        while (!CPU_ISSET(cpu, &one))
            cpu++;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    for (long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) != 0)
            return 1;
    }
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    fflush(stdout);
    return argc > 3 && strcmp(argv[3], "kill") == 0 ? raise(SIGKILL) : 0;
}
