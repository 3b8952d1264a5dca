/* SPDX-License-Identifier: MIT
 *
 * often.c [FILE]: two threads that each wait for a condition, then lock a free mutex, post and take
 * a semaphore, notify the condition, and allocate and free, with another wait now and then. Once
 * FILE exists, and each thread has done all that again, a third one repeatedly waits for a mutex
 * that the main thread holds, and then all end. Prints how often each was done: "mutex N",
 * "semaphore N", "allocation N", "free N", "condition N", "notify N", "wait N", and "main TID".
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 2, BATCH = 1000, ALLOCATED = 12347 };

struct worker {
    pthread_t thread;
    pthread_mutex_t own;
    uint64_t batches; /* atomic */
};

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static int is_held, is_over; /* atomic */
static long waiting; /* atomic: the thread that is about to wait; 0: none */
static uint64_t waits;

static void wait_for(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    const struct timespec passed = {0, 0};

    pthread_mutex_lock(mutex);
    if (pthread_cond_timedwait(condition, mutex, &passed) != ETIMEDOUT)
        exit(1);
    pthread_mutex_unlock(mutex);
}

/* A budget may decide to count before the first batch is over. Waits for conditions and notifies
 * are counted together, so a wait comes before that. */
static void *work(void *context)
{
    struct worker *worker = context;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    sem_t semaphore;

    if (sem_init(&semaphore, 0, 0) != 0)
        exit(1);
    wait_for(&condition, &worker->own);
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < BATCH; i++) {
            pthread_mutex_lock(&worker->own);
            void *volatile at = malloc(ALLOCATED);
            sem_post(&semaphore);
            sem_wait(&semaphore);
            free(at);
            pthread_cond_signal(&condition);
            pthread_mutex_unlock(&worker->own);
        }
        wait_for(&condition, &worker->own);
        __atomic_add_fetch(&worker->batches, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Waits for the mutex that the main thread holds. */
static void *wait_for_main(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; i < waits; i++) {
        while (!__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
            usleep(10);
        __atomic_store_n(&waiting, (long)syscall(SYS_gettid), __ATOMIC_RELEASE);
        pthread_mutex_lock(&shared);
        __atomic_store_n(&waiting, 0, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&shared);
        __atomic_store_n(&is_held, 0, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Returns whether a thread waits: its state is S. Allocates nothing, unlike stdio. */
static int is_asleep(long thread)
{
    char path[64], stat[512];

    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = file >= 0 ? read(file, stat, sizeof stat - 1) : -1;
    if (file >= 0)
        close(file);
    stat[bytes > 0 ? bytes : 0] = '\0';
    const char *name_end = strrchr(stat, ')');
    return name_end != NULL && strncmp(name_end, ") S", 3) == 0;
}

/* Holds the mutex until the other thread waits for it, however late that is, and a millisecond
 * longer. */
static void hold(void)
{
    long thread;

    pthread_mutex_lock(&shared);
    __atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
    while ((thread = __atomic_load_n(&waiting, __ATOMIC_ACQUIRE)) == 0 || !is_asleep(thread))
        usleep(10);
    usleep(1000);
    pthread_mutex_unlock(&shared);
    while (__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
        usleep(10);
}

/* Waits until the file exists, and then until each worker has begun and ended a batch. */
static void wait_for_batches(const char *path, const struct worker *workers)
{
    uint64_t before[THREADS];

    while (path != NULL && access(path, F_OK) != 0)
        usleep(1000);
    for (int i = 0; i < THREADS; i++)
        before[i] = __atomic_load_n(&workers[i].batches, __ATOMIC_ACQUIRE);
    for (int i = 0; i < THREADS; i++)
        while (__atomic_load_n(&workers[i].batches, __ATOMIC_ACQUIRE) < before[i] + 2)
            usleep(1000);
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS];
    uint64_t batches = 0;
    pthread_t waiter;

    waits = 50;
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_init(&workers[i].own, NULL);
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    }
    wait_for_batches(argc > 1 ? argv[1] : NULL, workers);
    if (pthread_create(&waiter, NULL, wait_for_main, NULL) != 0)
        return 1;
    for (uint64_t i = 0; i < waits; i++)
        hold();
    pthread_join(waiter, NULL);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        batches += workers[i].batches;
    }
    /* A wait takes the mutex twice. */
    printf("mutex %llu\n",
           (unsigned long long)(batches * BATCH + 2 * (batches + THREADS) + 2 * waits));
    printf("semaphore %llu\nallocation %llu\nfree %llu\n", (unsigned long long)(batches * BATCH),
           (unsigned long long)(batches * BATCH), (unsigned long long)(batches * BATCH));
    printf("condition %llu\nnotify %llu\n", (unsigned long long)batches + THREADS,
           (unsigned long long)(batches * BATCH));
    printf("wait %llu\nmain %d\n", (unsigned long long)waits, (int)getpid());
    return 0;
}
