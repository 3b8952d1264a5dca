/* SPDX-License-Identifier: MIT
 *
 * planted.c: waits whose object, waiter, holder and minimum duration are known. Each is printed as
 * "KIND OBJECT WAITER HOLDER LEAST_NS CODE", where CODE is the address of the function that waits.
 * The holder releases the object once the waiter is asleep according to the kernel, or has spun for
 * a while.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t condition_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t word;
static int is_set, may_return, once_runs;

static int waiter_is_about_to;
static pid_t waiter;
static pthread_t thread;

static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec time;

    check(clock_gettime(clock, &time) == 0, "clock_gettime");
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int sleeps(pid_t tid)
{
    char path[64], line[512];

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    FILE *file = fopen(path, "r");
    check(file != NULL && fgets(line, sizeof line, file) != NULL, path);
    fclose(file);
    return strrchr(line, ')')[2] == 'S';
}

/* ---- The waiter --------------------------------------------------------------------------------
 */

static void about_to_wait(void)
{
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    __atomic_store_n(&waiter_is_about_to, 1, __ATOMIC_RELEASE);
}

static void once_function(void)
{
    while (!__atomic_load_n(&once_runs, __ATOMIC_ACQUIRE))
        sched_yield();
}

static __attribute__((noinline)) void wait_for(const char *kind)
{
    about_to_wait();
    if (strcmp(kind, "mutex") == 0) {
        check(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0, kind);
    } else if (strcmp(kind, "rwlock-read") == 0) {
        check(pthread_rwlock_rdlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0, kind);
    } else if (strcmp(kind, "rwlock-write") == 0) {
        check(pthread_rwlock_wrlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0, kind);
    } else if (strcmp(kind, "spin") == 0) {
        check(pthread_spin_lock(&spin) == 0 && pthread_spin_unlock(&spin) == 0, kind);
    } else if (strcmp(kind, "semaphore") == 0) {
        check(sem_wait(&semaphore) == 0, kind);
    } else if (strcmp(kind, "condition") == 0) {
        pthread_mutex_lock(&condition_mutex);
        while (!is_set)
            check(pthread_cond_wait(&condition, &condition_mutex) == 0, kind);
        pthread_mutex_unlock(&condition_mutex);
    } else if (strcmp(kind, "barrier") == 0) {
        check(pthread_barrier_wait(&barrier) <= 0, kind);
    } else if (strcmp(kind, "once") == 0) {
        check(pthread_once(&once, once_function) == 0, kind);
    } else if (strcmp(kind, "futex") == 0) {
        while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0)
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
}

static void *wait_in_thread(void *kind)
{
    errno = 77;
    wait_for(kind);
    check(strcmp(kind, "futex") == 0 || errno == 77, "errno of the waiter");
    return NULL;
}

/* ---- The holder --------------------------------------------------------------------------------
 */

static void until_it_waits(int is_spinning)
{
    while (!__atomic_load_n(&waiter_is_about_to, __ATOMIC_ACQUIRE))
        sched_yield();
    if (is_spinning) {
        clockid_t clock;
        check(pthread_getcpuclockid(thread, &clock) == 0, "pthread_getcpuclockid");
        int64_t start = now_ns(clock);
        while (now_ns(clock) - start < 2000000)
            sched_yield();
        return;
    }
    while (!sleeps(waiter))
        sched_yield();
}

static __attribute__((noinline)) void take(const char *kind)
{
    if (strcmp(kind, "mutex") == 0)
        check(pthread_mutex_lock(&mutex) == 0, kind);
    else if (strcmp(kind, "rwlock-read") == 0)
        check(pthread_rwlock_wrlock(&rwlock) == 0, kind);
    else if (strcmp(kind, "rwlock-write") == 0)
        check(pthread_rwlock_rdlock(&rwlock) == 0, kind);
    else if (strcmp(kind, "spin") == 0)
        check(pthread_spin_lock(&spin) == 0, kind);
}

static __attribute__((noinline)) void give(const char *kind)
{
    if (strcmp(kind, "mutex") == 0) {
        check(pthread_mutex_unlock(&mutex) == 0, kind);
    } else if (strncmp(kind, "rwlock", 6) == 0) {
        check(pthread_rwlock_unlock(&rwlock) == 0, kind);
    } else if (strcmp(kind, "spin") == 0) {
        check(pthread_spin_unlock(&spin) == 0, kind);
    } else if (strcmp(kind, "semaphore") == 0) {
        check(sem_post(&semaphore) == 0, kind);
    } else if (strcmp(kind, "condition") == 0) {
        pthread_mutex_lock(&condition_mutex);
        is_set = 1;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&condition_mutex);
    } else if (strcmp(kind, "barrier") == 0) {
        check(pthread_barrier_wait(&barrier) <= 0, kind);
    } else if (strcmp(kind, "futex") == 0) {
        __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

static void plant(const char *kind, const volatile void *object)
{
    __atomic_store_n(&waiter_is_about_to, 0, __ATOMIC_RELEASE);
    take(kind);
    check(pthread_create(&thread, NULL, wait_in_thread, (void *)(uintptr_t)kind) == 0,
          "pthread_create");
    until_it_waits(strcmp(kind, "spin") == 0);
    int64_t start = now_ns(CLOCK_MONOTONIC);
    while (now_ns(CLOCK_MONOTONIC) - start < 1000000)
        ;
    int64_t least = now_ns(CLOCK_MONOTONIC) - start;
    give(kind);
    check(pthread_join(thread, NULL) == 0, "pthread_join");
    printf("%s %lu %d %d %lld %lu\n", kind, (unsigned long)(uintptr_t)object, (int)waiter,
           (int)getpid(), (long long)least, (unsigned long)(uintptr_t)wait_for);
}

/* ---- The other way around: this thread waits
 * ----------------------------------------------------
 */

static void *hold_once(void *unused)
{
    (void)unused;
    check(pthread_once(&once, once_function) == 0, "pthread_once");
    return NULL;
}

static void *let_wait(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&may_return, __ATOMIC_ACQUIRE))
        sched_yield();
    return NULL;
}

int main(void)
{
    pthread_t other;

    pthread_spin_init(&spin, 0);
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    errno = 77;
    plant("mutex", &mutex);
    plant("rwlock-read", &rwlock);
    plant("rwlock-write", &rwlock);
    plant("spin", &spin);
    plant("semaphore", &semaphore);
    plant("condition", &condition);
    plant("barrier", &barrier);
    plant("futex", &word);
    check(errno == 77, "errno");
    check(pthread_create(&other, NULL, hold_once, NULL) == 0, "pthread_create");
    while (__atomic_load_n(&once, __ATOMIC_ACQUIRE) == PTHREAD_ONCE_INIT)
        sched_yield();
    __atomic_store_n(&waiter_is_about_to, 0, __ATOMIC_RELEASE);
    check(pthread_create(&thread, NULL, wait_in_thread, (void *)(uintptr_t)"once") == 0, "create");
    until_it_waits(0);
    __atomic_store_n(&once_runs, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
    check(pthread_create(&other, NULL, let_wait, NULL) == 0, "pthread_create");
    __atomic_store_n(&may_return, 1, __ATOMIC_RELEASE);
    check(pthread_join(other, NULL) == 0, "pthread_join");
    return 0;
}
