/* SPDX-License-Identifier: MIT
 *
 * reused.c: 1,000 objects of six types, one after the other at one address; waits with a clock,
 * some of them until a timeout; and a mutex that is held during fork(). If the calls do not behave
 * as without the library, the program fails. Prints "NAME ADDRESS" of each object.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(is_right) check(is_right, #is_right)
static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "reused: %s\n", what);
    exit(1);
}

static void show(const char *name, const volatile void *object)
{
    printf("%s %lu\n", name, (unsigned long)(uintptr_t)object);
}

/* ---- One address -------------------------------------------------------------------------------
 */

static union {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    pthread_spinlock_t spin;
    sem_t semaphore;
} one;

static void use_mutex(int type, int robust, int protocol)
{
    pthread_mutexattr_t attributes;

    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, type) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, robust) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attributes, protocol) == 0);
    CHECK(pthread_mutex_init(&one.mutex, &attributes) == 0);
    CHECK(pthread_mutex_lock(&one.mutex) == 0 && pthread_mutex_unlock(&one.mutex) == 0);
    CHECK(pthread_mutex_destroy(&one.mutex) == 0);
}

static void use_other(int type)
{
    if (type == 0) {
        CHECK(pthread_rwlock_init(&one.rwlock, NULL) == 0);
        CHECK(pthread_rwlock_rdlock(&one.rwlock) == 0 && pthread_rwlock_unlock(&one.rwlock) == 0);
        CHECK(pthread_rwlock_wrlock(&one.rwlock) == 0 && pthread_rwlock_unlock(&one.rwlock) == 0);
        CHECK(pthread_rwlock_destroy(&one.rwlock) == 0);
    } else if (type == 1) {
        CHECK(pthread_spin_init(&one.spin, 0) == 0);
        CHECK(pthread_spin_lock(&one.spin) == 0 && pthread_spin_unlock(&one.spin) == 0);
        CHECK(pthread_spin_destroy(&one.spin) == 0);
    } else {
        CHECK(sem_init(&one.semaphore, 0, 1) == 0);
        CHECK(sem_wait(&one.semaphore) == 0 && sem_post(&one.semaphore) == 0);
        CHECK(sem_destroy(&one.semaphore) == 0);
    }
}

static void reuse(void)
{
    show("reused", &one);
    for (int i = 0; i < 1000; i++) {
        if (i % 6 < 3)
            use_other(i % 6);
        else if (i % 6 == 3)
            use_mutex(i / 6 % 3, 0, PTHREAD_PRIO_NONE);
        else
            use_mutex(PTHREAD_MUTEX_NORMAL, i % 6 == 4, i % 6 == 4 ? 0 : PTHREAD_PRIO_INHERIT);
    }
}

/* ---- Clocks ------------------------------------------------------------------------------------
 */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition;
static sem_t semaphore, taken, over;

static struct timespec after(time_t seconds)
{
    struct timespec limit;

    CHECK(clock_gettime(CLOCK_MONOTONIC, &limit) == 0);
    limit.tv_sec += seconds;
    return limit;
}

static void *hold(void *unused)
{
    CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_rwlock_wrlock(&rwlock) == 0);
    CHECK(sem_post(&taken) == 0 && sem_wait(&over) == 0);
    CHECK(pthread_rwlock_unlock(&rwlock) == 0 && pthread_mutex_unlock(&mutex) == 0);
    return unused;
}

/* All limits of 0 seconds are over when the wait begins. */
static void wait_by_clocks(void)
{
    const struct timespec now = after(0), later = after(3600);
    pthread_condattr_t attributes;
    pthread_t thread;

    show("mutex", &mutex);
    show("rwlock", &rwlock);
    show("condition", &condition);
    show("semaphore", &semaphore);
    CHECK(pthread_condattr_init(&attributes) == 0);
    CHECK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_cond_init(&condition, &attributes) == 0);
    CHECK(sem_init(&semaphore, 0, 0) == 0 && sem_init(&taken, 0, 0) == 0);
    CHECK(sem_init(&over, 0, 0) == 0 && pthread_create(&thread, NULL, hold, NULL) == 0);
    CHECK(sem_clockwait(&taken, CLOCK_MONOTONIC, &later) == 0);
    CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &now) == ETIMEDOUT);
    CHECK(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &now) == ETIMEDOUT);
    CHECK(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &now) == ETIMEDOUT);
    CHECK(sem_post(&over) == 0);
    CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &later) == 0);
    CHECK(pthread_cond_timedwait(&condition, &mutex, &now) == ETIMEDOUT);
    CHECK(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &now) == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &later) == 0);
    CHECK(pthread_rwlock_unlock(&rwlock) == 0);
    errno = 0;
    CHECK(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &now) == -1 && errno == ETIMEDOUT);
    CHECK(sem_post(&semaphore) == 0);
    CHECK(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &later) == 0);
}

/* ---- fork --------------------------------------------------------------------------------------
 */

static void fork_with_lock(void)
{
    static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    int status;

    show("held", &held);
    fflush(stdout);
    CHECK(pthread_mutex_lock(&held) == 0);
    pid_t child = fork();
    if (child == 0) {
        CHECK(pthread_mutex_unlock(&held) == 0 && pthread_mutex_lock(&held) == 0);
        CHECK(pthread_mutex_unlock(&held) == 0);
        exit(0);
    }
    CHECK(pthread_mutex_unlock(&held) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
    reuse();
    wait_by_clocks();
    fork_with_lock();
    return 0;
}
