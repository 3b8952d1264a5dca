/* SPDX-License-Identifier: MIT
 *
 * states_shown.c ROUNDS [INNER]: thread states with known causes, for the page. In each round of 8
 * ms or more, the keeper fills the table for 3 ms while it holds the lock; the server waits for the
 * lock in take(), then for a byte from the keeper in fetch(), then sleeps in nap(), and computes,
 * with INNER calls of step(). Without probes for locks and I/O: record its .shared variant with
 * --calls locks,io,sleep.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static sem_t has_table, is_served;
static int bytes[2];
static int rounds, inner;
static volatile unsigned sink;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void compute(uint64_t ns)
{
    uint64_t end_ns = now_ns() + ns;

    while (now_ns() < end_ns)
        sink = sink * 31 + 1;
}

static NOINLINE void step(void)
{
    FN_FUNC(FN_VOID, FN_1);
    sink = sink * 31 + 1;
}

static NOINLINE void fill(void)
{
    FN_FUNC(FN_VOID, FN_1);
    pthread_mutex_lock(&table);
    sem_post(&has_table);
    compute(3000000);
    pthread_mutex_unlock(&table);
}

static NOINLINE void answer(void)
{
    FN_FUNC(FN_VOID, FN_1);
    compute(1500000);
    if (write(bytes[1], "x", 1) != 1)
        abort();
}

static void *keep(void *context)
{
    (void)context;
    prctl(PR_SET_NAME, "keeper");
    for (int i = 0; i < rounds; i++) {
        fill();
        answer();
        while (sem_wait(&is_served) != 0)
            ;
    }
    return NULL;
}

static NOINLINE void take(void)
{
    FN_FUNC(FN_VOID, FN_1);
    pthread_mutex_lock(&table);
    pthread_mutex_unlock(&table);
}

static NOINLINE void fetch(void)
{
    FN_FUNC(FN_VOID, FN_1);
    char byte;

    if (read(bytes[0], &byte, 1) != 1)
        abort();
}

static NOINLINE void nap(void)
{
    FN_FUNC(FN_VOID, FN_1);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static NOINLINE void serve(void)
{
    FN_FUNC(FN_VOID, FN_1);
    take();
    fetch();
    nap();
    for (int i = 0; i < inner; i++)
        step();
    compute(1000000);
}

static void *run_server(void *context)
{
    (void)context;
    prctl(PR_SET_NAME, "server");
    for (int i = 0; i < rounds; i++) {
        while (sem_wait(&has_table) != 0)
            ;
        serve();
        sem_post(&is_served);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t keeper, server;

    rounds = count > 1 ? atoi(arguments[1]) : 1;
    inner = count > 2 ? atoi(arguments[2]) : 0;
    if (pipe(bytes) != 0 || sem_init(&has_table, 0, 0) != 0 || sem_init(&is_served, 0, 0) != 0 ||
        pthread_create(&keeper, NULL, keep, NULL) != 0 ||
        pthread_create(&server, NULL, run_server, NULL) != 0)
        return 1;
    pthread_join(keeper, NULL);
    pthread_join(server, NULL);
    return 0;
}
