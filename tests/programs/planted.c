/* SPDX-License-Identifier: MIT
 *
 * planted.c WAITS: waits with known causes: mutexes, read-write locks, semaphores and conditions,
 * each held (or notified) by a known thread in a known function for 1 us to 20 ms, and recorded
 * with the roles of doc/calls.md. Each wait has a separate object. For each, prints its kind and
 * address, the thread ids of waiter and holder, and the holder's function. With PLANTED_BY_CALLS
 * defined, only its functions are recorded here, and locks by --calls: the holder then counts the
 * time from when the lock itself shows a waiting thread (glibc 2.36).
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probity_typed.h"

#define NOINLINE __attribute__((noinline))

enum kind { MUTEX, READ, WRITE, SEMAPHORE, CONDITION, KINDS };
enum { THREADS = 4, FUNCTIONS = 3 };

struct item {
    enum kind kind;
    int holder, waiter, function;
    unsigned length_ns;
    atomic_int is_held, is_waiting;
    union {
        pthread_mutex_t mutex;
        pthread_rwlock_t rwlock;
        sem_t semaphore;
        pthread_cond_t condition;
    } lock;
    pthread_mutex_t mutex; /* of the condition */
    int is_due;
};

static struct item *items;
static size_t count;
static int tids[THREADS];
static pthread_barrier_t begun;

#ifdef PLANTED_BY_CALLS
#define HIT(name, role, flags, id, object) ((void)(id), (void)(object))
#else
#define HIT(name, role, flags, id, object)                                                         \
    PROBITY_X_NAMED(name, name, role, (flags) | PROBITY_WITH_OBJECT, id, object)
#endif
#define HIT_ID(name, role, id, object) HIT(name, role, PROBITY_WITH_CORRELATION, id, object)

static void until(atomic_int *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

#ifdef PLANTED_BY_CALLS
/* Returns whether a thread has found the lock taken, and waits. */
static int is_contended(struct item *item)
{
    const unsigned *semaphore = (const unsigned *)(const void *)&item->lock.semaphore;

    switch (item->kind) {
    case MUTEX: return __atomic_load_n(&item->lock.mutex.__data.__lock, __ATOMIC_ACQUIRE) == 2;
    case READ: /* readers, in the bits above those for phases */
        return __atomic_load_n(&item->lock.rwlock.__data.__readers, __ATOMIC_ACQUIRE) >> 3 > 0;
    case WRITE: /* the writer that is next */
        return (__atomic_load_n(&item->lock.rwlock.__data.__readers, __ATOMIC_ACQUIRE) & 2) != 0;
    case SEMAPHORE: return __atomic_load_n(&semaphore[1], __ATOMIC_ACQUIRE) > 0;
    default: return 1; /* holds the mutex until it waits */
    }
}
#endif

static void until_waited_for(struct item *item)
{
    until(&item->is_waiting);
#ifdef PLANTED_BY_CALLS
    while (!is_contended(item))
        sched_yield();
#endif
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void take_time(unsigned ns)
{
    uint64_t end_ns = now_ns() + ns;

    if (ns > 100000)
        nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
    while (now_ns() < end_ns)
        ;
}

static void hold(struct item *item)
{
    switch (item->kind) {
    case MUTEX:
        pthread_mutex_lock(&item->lock.mutex);
        HIT("mutex:hold", PROBITY_ROLE_LOCK_HOLD, 0, 0, &item->lock);
        break;
    case READ: /* the waiter needs it for reading */
        pthread_rwlock_wrlock(&item->lock.rwlock);
        HIT("rwlock-write:hold", PROBITY_ROLE_LOCK_HOLD, 0, 0, &item->lock);
        break;
    case WRITE:
        pthread_rwlock_rdlock(&item->lock.rwlock);
        HIT("rwlock-read:hold", PROBITY_ROLE_LOCK_HOLD, 0, 0, &item->lock);
        break;
    case SEMAPHORE:
        sem_wait(&item->lock.semaphore);
        HIT("semaphore:hold", PROBITY_ROLE_LOCK_HOLD, 0, 0, &item->lock);
        break;
    default: break;
    }
}

static void release(struct item *item)
{
    switch (item->kind) {
    case MUTEX:
        HIT("mutex:release", PROBITY_ROLE_LOCK_RELEASE, 0, 0, &item->lock);
        pthread_mutex_unlock(&item->lock.mutex);
        break;
    case READ:
        HIT("rwlock-write:release", PROBITY_ROLE_LOCK_RELEASE, 0, 0, &item->lock);
        pthread_rwlock_unlock(&item->lock.rwlock);
        break;
    case WRITE:
        HIT("rwlock-read:release", PROBITY_ROLE_LOCK_RELEASE, 0, 0, &item->lock);
        pthread_rwlock_unlock(&item->lock.rwlock);
        break;
    case SEMAPHORE:
        HIT("semaphore:release", PROBITY_ROLE_LOCK_RELEASE, 0, 0, &item->lock);
        sem_post(&item->lock.semaphore);
        break;
    default:
        pthread_mutex_lock(&item->mutex);
        item->is_due = 1;
        HIT_ID("condition:notify", PROBITY_ROLE_NOTIFY, 1, &item->lock);
        pthread_cond_signal(&item->lock.condition);
        pthread_mutex_unlock(&item->mutex);
    }
}

#define HOLDING(name)                                                                              \
    static NOINLINE void name(struct item *item)                                                   \
    {                                                                                              \
        FN_FUNC(FN_VOID, FN_1);                                                                    \
        hold(item);                                                                                \
        atomic_store(&item->is_held, 1);                                                           \
        until_waited_for(item);                                                                    \
        take_time(item->length_ns);                                                                \
        release(item);                                                                             \
    }

HOLDING(fill)
HOLDING(drain)
HOLDING(rebuild)

static void (*const functions[FUNCTIONS])(struct item *item) = {fill, drain, rebuild};
static const char *const function_names[FUNCTIONS] = {"fill", "drain", "rebuild"};

static void take_lock(struct item *item)
{
    switch (item->kind) {
    case MUTEX:
        HIT_ID("mutex:wait", PROBITY_ROLE_LOCK_WAIT, tids[item->holder], &item->lock);
        atomic_store(&item->is_waiting, 1);
        pthread_mutex_lock(&item->lock.mutex);
        HIT("mutex:hold", PROBITY_ROLE_LOCK_HOLD, 0, 0, &item->lock);
        break;
    case READ:
        HIT_ID("rwlock-read:wait", PROBITY_ROLE_LOCK_WAIT, 0, &item->lock);
        atomic_store(&item->is_waiting, 1);
        pthread_rwlock_rdlock(&item->lock.rwlock);
        HIT("rwlock-read:hold", PROBITY_ROLE_LOCK_HOLD, 0, 0, &item->lock);
        break;
    case WRITE:
        HIT_ID("rwlock-write:wait", PROBITY_ROLE_LOCK_WAIT, 0, &item->lock);
        atomic_store(&item->is_waiting, 1);
        pthread_rwlock_wrlock(&item->lock.rwlock);
        HIT("rwlock-write:hold", PROBITY_ROLE_LOCK_HOLD, 0, 0, &item->lock);
        break;
    default:
        HIT_ID("semaphore:wait", PROBITY_ROLE_LOCK_WAIT, 0, &item->lock);
        atomic_store(&item->is_waiting, 1);
        while (sem_wait(&item->lock.semaphore) != 0)
            ;
        HIT("semaphore:hold", PROBITY_ROLE_LOCK_HOLD, 0, 0, &item->lock);
    }
}

static NOINLINE void want(struct item *item)
{
    FN_FUNC(FN_VOID, FN_1);
    until(&item->is_held);
    if (item->kind != CONDITION) {
        take_lock(item);
        release(item);
        return;
    }
    pthread_mutex_lock(&item->mutex);
    HIT_ID("condition:wait", PROBITY_ROLE_CONDITION_WAIT, &item->mutex, &item->lock);
    atomic_store(&item->is_waiting, 1);
    while (!item->is_due)
        pthread_cond_wait(&item->lock.condition, &item->mutex);
    HIT_ID("condition:woken", PROBITY_ROLE_WOKEN, 0, &item->lock);
    pthread_mutex_unlock(&item->mutex);
}

static void *work(void *argument)
{
    int number = (int)(intptr_t)argument;

    tids[number] = (int)syscall(SYS_gettid);
    pthread_barrier_wait(&begun);
    for (size_t i = 0; i < count; i++) {
        struct item *item = &items[i];
        if (item->holder == number)
            functions[item->function](item);
        else if (item->waiter == number)
            want(item);
    }
    return NULL;
}

static void plant(struct item *item)
{
    static const double least = 1e3, factor = 20000; /* 1 us to 20 ms */

    item->kind = (enum kind)(rand() % KINDS);
    item->holder = rand() % THREADS;
    item->waiter = (item->holder + 1 + rand() % (THREADS - 1)) % THREADS;
    item->function = rand() % FUNCTIONS;
    item->length_ns = (unsigned)(least * pow(factor, (double)rand() / RAND_MAX));
    pthread_mutex_init(&item->mutex, NULL);
    if (item->kind == MUTEX)
        pthread_mutex_init(&item->lock.mutex, NULL);
    else if (item->kind == SEMAPHORE)
        sem_init(&item->lock.semaphore, 0, 1);
    else if (item->kind == CONDITION)
        pthread_cond_init(&item->lock.condition, NULL);
    else
        pthread_rwlock_init(&item->lock.rwlock, NULL);
}

int main(int argc, char **argv)
{
    static const char *const names[KINDS] = {"mutex", "rwlock", "rwlock", "semaphore",
                                             "condition"};
    pthread_t threads[THREADS];

    count = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000;
    items = calloc(count + 1, sizeof *items);
    if (items == NULL)
        return 1;
    srand(1);
    for (size_t i = 0; i < count; i++)
        plant(&items[i]);
    pthread_barrier_init(&begun, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < count; i++)
        printf("%s 0x%jx %d %d %s\n", names[items[i].kind], (uintmax_t)(uintptr_t)&items[i].lock,
               tids[items[i].waiter], tids[items[i].holder], function_names[items[i].function]);
    free(items);
    return 0;
}
