/* SPDX-License-Identifier: MIT
 *
 * contended.c THREADS ROUNDS: threads that wait for each other at mutexes, a read-write lock,
 * semaphores and conditions, with nested and recursive locks and timed waits, while threads start
 * and end; finally writes a line. Some locks are recorded by typed probes, the others only if calls
 * to libc are recorded.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FN_INSTRUMENT
#include <FnTrace.h>
#include <probity_typed.h>

enum { LOCKS = 5, ITEMS = 8 };

static pthread_mutex_t locks[LOCKS];
static pthread_mutex_t recursive;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static sem_t places;
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static unsigned items, is_over;
static unsigned long rounds;

static void hold(const pthread_mutex_t *const_lock)
{
    FN_FUNC(void, FN_1);
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)const_lock;

    if (pthread_mutex_trylock(lock) != 0) {
        PROBITY_LOCK_WAIT("table", lock);
        pthread_mutex_lock(lock);
    }
    PROBITY_LOCK_HOLD("table", lock);
}

static void release(pthread_mutex_t *lock)
{
    PROBITY_LOCK_RELEASE("table", lock);
    pthread_mutex_unlock(lock);
}

static void work(unsigned *random)
{
    FN_FUNC(void, FN_1);
    volatile unsigned sum = 0;

    for (unsigned i = (unsigned)rand_r(random) % 64; i > 0; i--)
        sum = sum + i;
}

static void take_item(void)
{
    FN_FUNC(void, FN_1);
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 200000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&queue);
    while (items == 0 && !is_over && pthread_cond_timedwait(&filled, &queue, &until) == 0)
        continue;
    items -= items > 0;
    pthread_mutex_unlock(&queue);
}

static void give_items(unsigned count)
{
    pthread_mutex_lock(&queue);
    items = items + count < ITEMS ? items + count : ITEMS;
    pthread_mutex_unlock(&queue);
    if (count > 1)
        pthread_cond_broadcast(&filled);
    else
        pthread_cond_signal(&filled);
}

static void turn(unsigned *random)
{
    FN_FUNC(void, FN_1);
    unsigned what = (unsigned)rand_r(random) % 8, first = (unsigned)rand_r(random) % (LOCKS - 1);

    switch (what) {
    case 0: take_item(); break;
    case 1: give_items(1 + (unsigned)rand_r(random) % 2); break;
    case 2:
        sem_wait(&places);
        work(random);
        sem_post(&places);
        break;
    case 3:
        pthread_rwlock_rdlock(&shared);
        work(random);
        pthread_rwlock_unlock(&shared);
        break;
    case 4:
        pthread_rwlock_wrlock(&shared);
        work(random);
        pthread_rwlock_unlock(&shared);
        break;
    case 5:
        pthread_mutex_lock(&recursive);
        pthread_mutex_lock(&recursive);
        work(random);
        pthread_mutex_unlock(&recursive);
        pthread_mutex_unlock(&recursive);
        break;
    default:
        hold(&locks[first]);
        hold(&locks[first + 1]);
        work(random);
        release(&locks[first + 1]);
        work(random);
        release(&locks[first]);
    }
}

static void *run(void *number)
{
    unsigned random = (unsigned)(uintptr_t)number;

    for (unsigned long i = 0; i < rounds; i++) {
        PROBITY_REQUEST_BEGIN("round", (uintptr_t)number << 32 | i);
        turn(&random);
        PROBITY_REQUEST_END("round", (uintptr_t)number << 32 | i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 4;
    pthread_mutexattr_t attributes;

    rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attributes);
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    sem_init(&places, 0, 1);
    for (unsigned long turn_of = 0; turn_of < 4; turn_of++) {
        for (unsigned long i = 0; i < count && i < 64; i++)
            pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)(1 + turn_of * 64 + i));
        for (unsigned long i = 0; i < count && i < 64; i++)
            pthread_join(threads[i], NULL);
    }
    return write(STDOUT_FILENO, "done\n", 5) != 5;
}
