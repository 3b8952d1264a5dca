/* SPDX-License-Identifier: MIT
 *
 * stress.c: threads that take mutexes, conditions, read-write locks and semaphores in random order,
 * a timer whose handler posts a semaphore, and short-lived threads. `stress N [end]`: N mutexes
 * taken by each of 4 threads; without "end", forever. Prints how often a mutex was taken.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { THREADS = 4, LOCKS = 3 };

static pthread_mutex_t mutexes[LOCKS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                         PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static unsigned long turns, taken;
static long left;

static void on_timer(int signal)
{
    (void)signal;
    sem_post(&semaphore);
}

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 16;
}

static void take_turn(uint32_t random)
{
    pthread_mutex_t *mutex = &mutexes[random % LOCKS];

    pthread_mutex_lock(mutex);
    __atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED);
    if (mutex == &mutexes[0])
        turns++;
    if (random % 64 == 0)
        pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(mutex);
}

static void *none(void *unused)
{
    return unused;
}

static void take_others(uint32_t random)
{
    pthread_t thread;

    if (random % 2 == 0)
        pthread_rwlock_rdlock(&rwlock);
    else
        pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    if (random % 8 == 1)
        sem_trywait(&semaphore);
    if (random % 256 == 3 && pthread_create(&thread, NULL, none, NULL) == 0)
        pthread_join(thread, NULL);
}

static void *run(void *argument)
{
    uint32_t state = (uint32_t)(uintptr_t)argument;
    long mine = left;

    for (; mine != 0; mine--) {
        uint32_t random = next(&state);
        take_turn(random);
        take_others(random >> 4);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct itimerval every = {{0, 500}, {0, 500}};
    pthread_t threads[THREADS];

    left = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    if (argc < 3)
        left = -1;
    sem_init(&semaphore, 0, 0);
    signal(SIGALRM, on_timer);
    setitimer(ITIMER_REAL, &every, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%lu\n", taken);
    return turns == 0;
}
