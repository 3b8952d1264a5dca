/* SPDX-License-Identifier: MIT
 *
 * often.c MS: two threads that each lock a free mutex, post and take a semaphore, notify a
 * condition, and allocate and free, for that time, and wait for the condition now and then; in
 * the second half, another thread repeatedly waits for a mutex that the main thread holds.
 * Prints how often each was done: "mutex N", "semaphore N", "allocation N", "free N",
 * "condition N", "notify N", "wait N", and "main TID".
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 2, BATCH = 1000, ALLOCATED = 12347 };

struct worker {
    pthread_t thread;
    pthread_mutex_t own;
    uint64_t batches;
};

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static int is_held, is_waiting; /* atomic */
static uint64_t end_ns, waits;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *work(void *context)
{
    struct worker *worker = context;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    const struct timespec passed = {0, 0};
    sem_t semaphore;

    if (sem_init(&semaphore, 0, 0) != 0)
        exit(1);
    while (now_ns() < end_ns) {
        for (int i = 0; i < BATCH; i++) {
            pthread_mutex_lock(&worker->own);
            void *volatile at = malloc(ALLOCATED);
            sem_post(&semaphore);
            sem_wait(&semaphore);
            free(at);
            pthread_cond_signal(&condition);
            pthread_mutex_unlock(&worker->own);
        }
        pthread_mutex_lock(&worker->own);
        if (pthread_cond_timedwait(&condition, &worker->own, &passed) != ETIMEDOUT)
            exit(1);
        pthread_mutex_unlock(&worker->own);
        worker->batches++;
    }
    return NULL;
}

/* Waits for the mutex that the main thread holds. */
static void *wait_for_main(void *unused)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)syscall(SYS_gettid));
    (void)unused;
    for (uint64_t i = 0; i < waits; i++) {
        while (!__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
            usleep(10);
        __atomic_store_n(&is_waiting, 1, __ATOMIC_RELEASE);
        pthread_mutex_lock(&shared);
        __atomic_store_n(&is_waiting, 0, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&shared);
        __atomic_store_n(&is_held, 0, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Holds the mutex until the other thread waits, and a millisecond longer. */
static void hold(void)
{
    pthread_mutex_lock(&shared);
    __atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&is_waiting, __ATOMIC_ACQUIRE))
        usleep(10);
    usleep(1000);
    pthread_mutex_unlock(&shared);
    while (__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
        usleep(10);
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS];
    uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 100, batches = 0;
    pthread_t waiter;

    waits = 50;
    end_ns = now_ns() + ms * 1000000;
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_init(&workers[i].own, NULL);
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    }
    /* Only once calls have become too frequent. */
    while (now_ns() < end_ns - ms * 500000)
        usleep(1000);
    if (pthread_create(&waiter, NULL, wait_for_main, NULL) != 0)
        return 1;
    for (uint64_t i = 0; i < waits; i++)
        hold();
    pthread_join(waiter, NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        batches += workers[i].batches;
    }
    printf("mutex %llu\n", (unsigned long long)(batches * (BATCH + 2) + 2 * waits));
    printf("semaphore %llu\nallocation %llu\nfree %llu\n", (unsigned long long)(batches * BATCH),
           (unsigned long long)(batches * BATCH), (unsigned long long)(batches * BATCH));
    printf("condition %llu\nnotify %llu\n", (unsigned long long)batches,
           (unsigned long long)(batches * BATCH));
    printf("wait %llu\nmain %d\n", (unsigned long long)waits, (int)getpid());
    return 0;
}
