/* SPDX-License-Identifier: MIT
 *
 * special.c: mutexes of all kinds, cancellation and timeouts. If the calls do not behave as without
 * the library, the program fails; tests/calls/calls_locks.sh checks how they appear in the trace.
 * Prints "NAME ADDRESS" of each object.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore, available;
static int is_there; /* a thread is about to wait */
static pid_t waiter;

#define CHECK(is_right) check(is_right, #is_right)
static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "special: %s\n", what);
    exit(1);
}

static void show(const char *name, const volatile void *object)
{
    printf("%s %lu\n", name, (unsigned long)(uintptr_t)object);
}

/* ---- Kinds of mutexes --------------------------------------------------------------------------
 */

static void make(pthread_mutex_t *made, int type, int robust, int protocol, int shared)
{
    pthread_mutexattr_t attributes;

    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, type) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, robust) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attributes, protocol) == 0);
    CHECK(pthread_mutexattr_setpshared(&attributes, shared) == 0);
    CHECK(pthread_mutex_init(made, &attributes) == 0);
    CHECK(pthread_mutexattr_destroy(&attributes) == 0);
}

static void *unlock_of_another(void *one)
{
    CHECK(pthread_mutex_unlock(one) == EPERM);
    CHECK(pthread_mutex_trylock(one) == EBUSY);
    return NULL;
}

static void *die_with(void *one)
{
    CHECK(pthread_mutex_lock(one) == 0);
    return NULL;
}

static void in_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, function, argument) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void kinds(void)
{
    static pthread_mutex_t recursive, errorcheck, robust, inheriting;

    make(&recursive, PTHREAD_MUTEX_RECURSIVE, 0, 0, 0);
    show("recursive", &recursive);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_mutex_lock(&recursive) == 0);
    in_thread(unlock_of_another, &recursive);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_mutex_unlock(&recursive) == 0);
    CHECK(pthread_mutex_unlock(&recursive) == EPERM);
    make(&errorcheck, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0);
    show("errorcheck", &errorcheck);
    CHECK(pthread_mutex_lock(&errorcheck) == 0);
    CHECK(pthread_mutex_lock(&errorcheck) == EDEADLK);
    CHECK(pthread_mutex_unlock(&errorcheck) == 0);
    CHECK(pthread_mutex_destroy(&errorcheck) == 0);
    make(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, 0, 0);
    show("robust", &robust);
    in_thread(die_with, &robust);
    CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD);
    CHECK(pthread_mutex_unlock(&robust) == 0); /* not marked consistent */
    CHECK(pthread_mutex_lock(&robust) == ENOTRECOVERABLE);
    make(&inheriting, PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT, 0);
    show("inheriting", &inheriting);
    CHECK(pthread_mutex_lock(&inheriting) == 0);
    CHECK(pthread_mutex_unlock(&inheriting) == 0);
}

/* The child finds the mutex held by the parent, and waits until the timeout. */
static void between_processes(void)
{
    pthread_mutex_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct timespec past = {1, 0};
    int status;

    CHECK(shared != MAP_FAILED);
    make(shared, PTHREAD_MUTEX_NORMAL, 0, 0, PTHREAD_PROCESS_SHARED);
    show("shared", shared);
    CHECK(pthread_mutex_lock(shared) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CHECK(pthread_mutex_timedlock(shared, &past) == ETIMEDOUT);
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(pthread_mutex_unlock(shared) == 0);
}

/* ---- Time limits -------------------------------------------------------------------------------
 */

static void limits(void)
{
    struct timespec past = {1, 0}, invalid = {1, 1000000000};
    pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    sem_t one;

    CHECK(sem_init(&one, 0, 1) == 0);
    show("limited", &one);
    errno = 0;
    CHECK(sem_timedwait(&one, &invalid) == -1 && errno == EINVAL);
    CHECK(sem_timedwait(&one, &past) == 0); /* it is free */
    CHECK(sem_timedwait(&one, &past) == -1 && errno == ETIMEDOUT);
    CHECK(sem_trywait(&one) == -1 && errno == EAGAIN);
    CHECK(pthread_rwlock_timedrdlock(&rwlock, &invalid) == EINVAL);
    CHECK(pthread_rwlock_timedrdlock(&rwlock, &past) == 0);
    CHECK(pthread_rwlock_timedwrlock(&rwlock, &past) == ETIMEDOUT);
    CHECK(pthread_rwlock_unlock(&rwlock) == 0);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_cond_timedwait(&condition, &mutex, &past) == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
}

/* ---- Cancellation ------------------------------------------------------------------------------
 */

static void unlock(void *one)
{
    CHECK(pthread_mutex_unlock(one) == 0);
}

static void *wait_for_condition(void *unused)
{
    (void)unused;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    pthread_cleanup_push(unlock, &mutex);
    __atomic_store_n(&is_there, 1, __ATOMIC_RELEASE);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *wait_for_semaphore(void *unused)
{
    waiter = gettid();
    __atomic_store_n(&is_there, 1, __ATOMIC_RELEASE);
    sem_wait(&semaphore);
    return unused;
}

/* The cancellation is pending when it calls sem_wait(), which acts on it although it need not
 * wait. */
static void *take_when_cancelled(void *unused)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    __atomic_store_n(&is_there, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&is_there, __ATOMIC_ACQUIRE) == 1)
        sched_yield();
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    sem_wait(&available);
    return unused;
}

static void *join_main(void *main_thread)
{
    __atomic_store_n(&is_there, 1, __ATOMIC_RELEASE);
    pthread_join(*(pthread_t *)main_thread, NULL);
    return NULL;
}

static void *leave(void *unused)
{
    pthread_exit(unused);
}

static void until_it_sleeps(void)
{
    char path[64], line[512] = "";

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)waiter);
    while (strrchr(line, ')') == NULL || strrchr(line, ')')[2] != 'S') {
        FILE *file = fopen(path, "r");
        CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
        fclose(file);
    }
}

static void cancel(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    void *result;

    __atomic_store_n(&is_there, 0, __ATOMIC_RELEASE);
    CHECK(pthread_create(&thread, NULL, function, argument) == 0);
    while (!__atomic_load_n(&is_there, __ATOMIC_ACQUIRE))
        sched_yield();
    if (function == wait_for_semaphore)
        until_it_sleeps();
    CHECK(pthread_cancel(thread) == 0);
    __atomic_store_n(&is_there, 2, __ATOMIC_RELEASE);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

int main(void)
{
    pthread_t self = pthread_self();
    int value;

    CHECK(sem_init(&semaphore, 0, 0) == 0 && sem_init(&available, 0, 1) == 0);
    show("mutex", &mutex);
    show("condition", &condition);
    show("semaphore", &semaphore);
    show("available", &available);
    kinds();
    limits();
    between_processes();
    cancel(wait_for_condition, NULL);
    CHECK(pthread_mutex_trylock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
    cancel(wait_for_semaphore, NULL);
    cancel(take_when_cancelled, NULL);
    CHECK(sem_getvalue(&available, &value) == 0 && value == 1);
    cancel(join_main, &self);
    in_thread(leave, NULL);
    return 0;
}
