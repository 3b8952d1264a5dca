/* SPDX-License-Identifier: MIT
 *
 * wakings.c [ROUNDS]: a call of request() that is blocked by a pipe, to which another thread writes
 * in answer() after it has computed for 5 ms; sleeps for 5 ms in nap(); computes for 10 ms in
 * compete() while a third thread needs the same CPU; and waits in want() for a lock that the second
 * thread holds in keep() while it sleeps for 5 ms. All on one CPU. Prints the threads' ids.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probity_typed.h"

#define NOINLINE __attribute__((noinline))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ask_pipe[2], answer_pipe[2];
static atomic_int rival_state; /* 1: the thread must compute, 2: it must end */
static atomic_int is_wanting;
static int tids[3];
static pthread_barrier_t begun;

static void compute(long ns)
{
    struct timespec from, now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < ns);
}

static void doze(long ns)
{
    struct timespec left = {.tv_nsec = ns};

    while (nanosleep(&left, &left) != 0)
        ;
}

static void put(int fd, char byte)
{
    while (write(fd, &byte, 1) != 1)
        ;
}

static char get(int fd)
{
    char byte = 0;

    while (read(fd, &byte, 1) != 1)
        ;
    return byte;
}

static NOINLINE void answer(void)
{
    FN_FUNC(FN_VOID, FN_1);
    compute(5000000);
    put(answer_pipe[1], 'a');
}

static NOINLINE void keep(void)
{
    FN_FUNC(FN_VOID, FN_1);
    pthread_mutex_lock(&lock);
    PROBITY_LOCK_HOLD("table", &lock);
    put(answer_pipe[1], 'k');
    while (!atomic_load(&is_wanting)) /* set after the wait was recorded */
        doze(100000);
    doze(5000000);
    PROBITY_LOCK_RELEASE("table", &lock);
    pthread_mutex_unlock(&lock);
}

static void *serve(void *context)
{
    (void)context;
    tids[1] = (int)syscall(SYS_gettid);
    pthread_barrier_wait(&begun);
    for (char byte; (byte = get(ask_pipe[0])) != 'e';) {
        if (byte == 'a')
            answer();
        else
            keep();
    }
    return NULL;
}

static void *rival(void *context)
{
    (void)context;
    tids[2] = (int)syscall(SYS_gettid);
    pthread_barrier_wait(&begun);
    while (atomic_load(&rival_state) != 2) {
        if (atomic_load(&rival_state) == 1)
            compute(100000);
        else
            doze(1000000);
    }
    return NULL;
}

static NOINLINE void ask(void)
{
    FN_FUNC(FN_VOID, FN_1);
    put(ask_pipe[1], 'a');
    (void)get(answer_pipe[0]);
}

static NOINLINE void nap(void)
{
    FN_FUNC(FN_VOID, FN_1);
    doze(5000000);
}

static NOINLINE void compete(void)
{
    FN_FUNC(FN_VOID, FN_1);
    atomic_store(&rival_state, 1);
    compute(10000000);
    atomic_store(&rival_state, 0);
}

static NOINLINE void want(void)
{
    FN_FUNC(FN_VOID, FN_1);
    put(ask_pipe[1], 'k');
    (void)get(answer_pipe[0]);
    PROBITY_LOCK_WAIT("table", &lock);
    atomic_store(&is_wanting, 1);
    pthread_mutex_lock(&lock);
    PROBITY_LOCK_HOLD("table", &lock);
    PROBITY_LOCK_RELEASE("table", &lock);
    pthread_mutex_unlock(&lock);
    atomic_store(&is_wanting, 0);
}

static NOINLINE void request(void)
{
    FN_FUNC(FN_VOID, FN_1);
    ask();
    nap();
    compete();
    want();
}

static void use_one_cpu(void)
{
    cpu_set_t set;
    int cpu = 0;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 0) : 1;
    pthread_t threads[2];

    use_one_cpu();
    tids[0] = (int)syscall(SYS_gettid);
    pthread_barrier_init(&begun, NULL, 3);
    if (pipe(ask_pipe) != 0 || pipe(answer_pipe) != 0 ||
        pthread_create(&threads[0], NULL, serve, NULL) != 0 ||
        pthread_create(&threads[1], NULL, rival, NULL) != 0)
        return 1;
    pthread_barrier_wait(&begun);
    for (long i = 0; i < rounds; i++)
        request();
    put(ask_pipe[1], 'e');
    atomic_store(&rival_state, 2);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%d %d %d\n", tids[0], tids[1], tids[2]);
    return 0;
}
