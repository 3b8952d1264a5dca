/* SPDX-License-Identifier: MIT
 *
 * threads.c: threads that start and end: thousands in sequence, thousands at once, and in every way
 * a thread can end.
 *
 *     threads HOW [THREADS [HITS]]
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "programs/hits.h"
#include "programs/resource_usage.h"

static uint32_t threads;
static uint64_t hits;
static pthread_barrier_t meet;
static pthread_mutex_t under_way = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;

static void expect_all(void)
{
    for (uint32_t i = 0; i < threads; i++)
        hits_expect(getpid(), i, hits);
}

static void *record(void *argument)
{
    hits_make((uint32_t)(uintptr_t)argument, 0, hits);
    return NULL;
}

static pthread_t start_thread(void *(*run)(void *), uint32_t stream)
{
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    hits_need(!pthread_create(&thread, &small, run, (void *)(uintptr_t)stream), "thread");
    pthread_attr_destroy(&small);
    return thread;
}

static void churn(void)
{
    for (uint32_t i = 0; i < threads; i++)
        pthread_join(start_thread(record, i), NULL);
}

/* Runs the threads in groups of limited size; prints to stderr how much the process has grown since
 * the first groups. */
static void crowds(void)
{
    enum { CROWD = 500, FIRST = 2 };
    pthread_t thread[CROWD];
    struct resource_usage start = {0};

    for (uint32_t begun = 0; begun < threads; begun += CROWD) {
        uint32_t count = threads - begun < CROWD ? threads - begun : CROWD;
        if (begun == FIRST * CROWD)
            start = resource_usage_now();
        for (uint32_t i = 0; i < count; i++)
            thread[i] = start_thread(record, begun + i);
        for (uint32_t i = 0; i < count; i++)
            pthread_join(thread[i], NULL);
    }
    resource_usage_print(&start);
}

static void one_by_one(void)
{
    struct resource_usage start = {0};

    for (uint32_t i = 0; i < threads; i++) {
        if (i == threads / 10)
            start = resource_usage_now();
        pthread_join(start_thread(record, i), NULL);
    }
    resource_usage_print(&start);
}

/* Runs short-lived threads next to two that record all the time, while thread states and chunks are
 * reused. */
static void *record_long(void *argument)
{
    uint32_t stream = (uint32_t)(uintptr_t)argument;
    uint64_t made = 0;

    /* A mutex, because helgrind and DRD would report an atomic variable as a race. */
    while (pthread_mutex_trylock(&under_way) != 0) {
        hits_make(stream, made, 1000);
        made += 1000;
    }
    pthread_mutex_unlock(&under_way);
    hits_expect(getpid(), stream, made);
    return NULL;
}

static void *record_three(void *argument)
{
    hits_make((uint32_t)(uintptr_t)argument, 0, 3);
    return NULL;
}

static void churn_beside(void)
{
    pthread_t one, two;

    pthread_mutex_lock(&under_way);
    one = start_thread(record_long, 16000);
    two = start_thread(record_long, 16001);
    for (uint32_t i = 0; i < threads; i += 4) {
        pthread_t four[4];
        for (uint32_t j = 0; j < 4; j++)
            four[j] = start_thread(record_three, i + j);
        for (uint32_t j = 0; j < 4; j++)
            pthread_join(four[j], NULL);
    }
    pthread_mutex_unlock(&under_way);
    hits = 3;
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

static void *record_and_meet(void *argument)
{
    uint32_t stream = (uint32_t)(uintptr_t)argument;

    hits_make(stream, 0, hits / 2);
    pthread_barrier_wait(&meet);
    hits_make(stream, hits / 2, hits - hits / 2);
    pthread_barrier_wait(&meet);
    return NULL;
}

static void alive_at_once(void)
{
    pthread_t *thread = calloc(threads, sizeof *thread);

    pthread_barrier_init(&meet, NULL, threads);
    for (uint32_t i = 0; i < threads; i++)
        thread[i] = start_thread(record_and_meet, i);
    for (uint32_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}

static void *leave_by_pthread_exit(void *argument)
{
    record(argument);
    pthread_exit(NULL);
}

static void probe_in_cleanup(void *argument)
{
    uint32_t stream = (uint32_t)(uintptr_t)argument;

    PROBITY_PROBE(hits_id(stream, hits - 1));
}

static void *wait_to_be_cancelled(void *argument)
{
    hits_make((uint32_t)(uintptr_t)argument, 0, hits - 1);
    pthread_cleanup_push(probe_in_cleanup, argument);
    pthread_barrier_wait(&meet);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}

/* Counts the hits of a thread that is cancelled at any instruction of the record path. */
static uint64_t made_before_cancel;

static void *record_until_cancelled(void *argument)
{
    uint32_t stream = (uint32_t)(uintptr_t)argument;

    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (uint64_t i = 0;; i++) {
        PROBITY_PROBE(hits_id(stream, i));
        __atomic_store_n(&made_before_cancel, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void *leave_by_system_call(void *argument)
{
    record(argument);
    syscall(SYS_exit, 0);
    return NULL;
}

/* Probes in destructors of thread data that run after the library's own. */
static void probe_in_destructor(void *argument)
{
    uint64_t *left = argument;
    uint32_t stream = (uint32_t)left[0];

    PROBITY_PROBE(hits_id(stream, hits - left[1]));
    if (--left[1] > 0)
        pthread_setspecific(key, left);
    else
        free(left);
}

static void *record_and_set_key(void *argument)
{
    uint64_t *left = malloc(2 * sizeof *left);

    left[0] = (uintptr_t)argument;
    left[1] = 3;
    pthread_setspecific(key, left);
    hits_make((uint32_t)(uintptr_t)argument, 0, hits - 3);
    return NULL;
}

static void each(void *(*run)(void *), int cancels)
{
    pthread_barrier_init(&meet, NULL, 2);
    for (uint32_t i = 0; i < threads; i++) {
        pthread_t thread = start_thread(run, i);
        if (cancels) {
            pthread_barrier_wait(&meet);
            pthread_cancel(thread);
        }
        pthread_join(thread, NULL);
    }
}

/* The thread ends by a system call, bypassing libc, so it cannot be joined. */
static void gone_by_system_call(void)
{
    for (uint32_t i = 0; i < threads; i++) {
        pthread_t thread = start_thread(leave_by_system_call, i);
        pthread_join(thread, NULL); /* the kernel clears the id that join waits for */
    }
}

static void cancel_anywhere(void)
{
    for (uint32_t i = 0; i < threads; i++) {
        __atomic_store_n(&made_before_cancel, 0, __ATOMIC_RELEASE);
        pthread_t thread = start_thread(record_until_cancelled, i);
        while (__atomic_load_n(&made_before_cancel, __ATOMIC_ACQUIRE) < 1000 + 37 * i)
            sched_yield();
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        hits_expect(getpid(), i, made_before_cancel);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    threads = (uint32_t)hits_argument(argc, argv, 2, 100);
    hits = hits_argument(argc, argv, 3, 100);
    pthread_key_create(&key, probe_in_destructor);
    if (strcmp(how, "churn") == 0)
        churn();
    else if (strcmp(how, "one_by_one") == 0)
        one_by_one();
    else if (strcmp(how, "crowds") == 0)
        crowds();
    else if (strcmp(how, "beside") == 0)
        churn_beside();
    else if (strcmp(how, "alive") == 0)
        alive_at_once();
    else if (strcmp(how, "pthread_exit") == 0)
        each(leave_by_pthread_exit, 0);
    else if (strcmp(how, "cancel") == 0)
        each(wait_to_be_cancelled, 1);
    else if (strcmp(how, "destructor") == 0)
        each(record_and_set_key, 0);
    else if (strcmp(how, "system_call") == 0)
        gone_by_system_call();
    else if (strcmp(how, "cancel_anywhere") == 0)
        cancel_anywhere();
    else
        return 2;
    if (strcmp(how, "cancel_anywhere") != 0)
        expect_all();
    return 0;
}
