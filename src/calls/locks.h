/* SPDX-License-Identifier: MIT
 *
 * locks.h: hits of the objects that threads wait for (doc/calls.md, "Hits with ids"). The usual
 * case is inline: a free lock costs one hit, or, if it is only counted (locks=waits, or by a
 * budget), one increment of a counter of the thread.
 *
 * First tries the lock, which is equivalent to taking it if it is free; otherwise records the wait,
 * and calls libc's function.
 */
#ifndef PROBITY_CALLS_LOCKS_H
#define PROBITY_CALLS_LOCKS_H

#include <errno.h>

#include "calls/calls.h"
#include "calls/cost.h"
#include "probity_typed.h"

/* ---- Sites -------------------------------------------------------------------------------------
 */

enum probity_calls_kind {
    PROBITY_CALLS_MUTEX,
    PROBITY_CALLS_RWLOCK_READ,
    PROBITY_CALLS_RWLOCK_WRITE,
    PROBITY_CALLS_SPIN,
    PROBITY_CALLS_SEMAPHORE,
    PROBITY_CALLS_ONCE, /* kinds before this one can be only counted */
    PROBITY_CALLS_CONDITION,
    PROBITY_CALLS_BARRIER,
    PROBITY_CALLS_FUTEX,
    PROBITY_CALLS_JOIN,
    PROBITY_CALLS_THREAD,
    PROBITY_CALLS_KINDS,
    PROBITY_CALLS_COUNTED = PROBITY_CALLS_ONCE
};

/* Other things that are counted; numbers after the kinds of locks. */
enum {
    PROBITY_CALLS_ALLOCATION = PROBITY_CALLS_COUNTED,
    PROBITY_CALLS_FREE,
    PROBITY_CALLS_CONDITION_WAIT,
    PROBITY_CALLS_NOTIFY,
    PROBITY_CALLS_COUNTERS
};

/* A bit of probity_calls_shared.counted is set for each of these numbers that is only counted (of
 * locks, the free ones). */
static inline int probity_calls_only_counts(uint32_t counter)
{
    return (__atomic_load_n(&probity_calls_shared.counted, __ATOMIC_RELAXED) >> counter & 1) != 0;
}

/* Sets probity_calls_shared.counted as the families require. */
void probity_calls_count_by(uint32_t families) __attribute__((visibility("hidden")));

/* Sites of one kind of object, shared by all functions. */
struct probity_calls_sites {
    struct probity_site wait, hold, release, given_up, woken, notify, made, gone, begin, end;
};
extern struct probity_calls_sites probity_calls_sites[PROBITY_CALLS_KINDS]
    __attribute__((visibility("hidden")));

/* A kind's name without the role: "mutex", ... */
extern const char *const probity_calls_kind_names[PROBITY_CALLS_KINDS]
    __attribute__((visibility("hidden")));

/* Records a hit, or one with a correlation id. Not inline, so that all functions use the same code:
 * after a system call, most of it must be fetched again. */
void probity_calls_hit(struct probity_site *site, enum probity_role role,
                       const volatile void *object, const void *place)
    __attribute__((visibility("hidden")));
void probity_calls_hit_with(struct probity_site *site, enum probity_role role,
                            uint64_t correlation, const volatile void *object, const void *place)
    __attribute__((visibility("hidden")));

/* ---- The thread --------------------------------------------------------------------------------
 */

enum { PROBITY_CALLS_REMEMBERED = 8 };

/* Used if something is only counted: a thread's counts, and the locks that it holds with a recorded
 * hit. */
struct probity_calls_thread {
    struct probity_calls_thread *next; /* never changes */
    uint32_t tid;
    uint32_t is_used;
    uint64_t counts[PROBITY_CALLS_COUNTERS];
    uint64_t recorded[PROBITY_CALLS_COUNTERS]; /* the part of these that is already recorded; for
                                                * the recording thread */
    uint32_t remembered_count;
    const volatile void *remembered[PROBITY_CALLS_REMEMBERED];
    const volatile void *of_condition; /* taken by the latest wait that was only counted */
};

/* Returns the calling thread's id. Makes a system call only once. */
uint32_t probity_calls_thread_id(void) __attribute__((visibility("hidden")));

/* Call before locks are recorded for the first time: determines the layout of libc's objects
 * (unknown until then), and makes forked children discard their parents' threads. At load, or in
 * the writer thread. */
void probity_calls_locks_prepare(void) __attribute__((visibility("hidden")));
void probity_calls_thread_prepare(void) __attribute__((visibility("hidden")));

/* Gives the calling thread its counters. Returns whether it has any. This function and the next one
 * are not cold: otherwise the compiler would move counting out of the usual path, too. */
int probity_calls_thread_count_begin(void) __attribute__((visibility("hidden")));

/* Records the calling thread's counts since its last such record. */
void probity_calls_thread_record(void) __attribute__((visibility("hidden")));

/* Does the same for the last time: later locks are recorded instead. */
void probity_calls_thread_ends(void) __attribute__((visibility("hidden")));

/* Removes a lock for which the thread has a recorded hold. Returns whether there was one. */
int probity_calls_thread_forget(const volatile void *object)
    __attribute__((visibility("hidden")));
void probity_calls_thread_remember(const volatile void *object)
    __attribute__((visibility("hidden")));

/* ---- Layout of libc's objects ------------------------------------------------------------------
 */

/* Whether each layout was found to be as expected when the library was loaded. */
struct probity_calls_layout {
    int mutex, rwlock, semaphore, barrier;
};
extern struct probity_calls_layout probity_calls_layout __attribute__((visibility("hidden")));

/* Loads a field of an object by its offset. Relaxed: other threads change it. */
static inline uint32_t probity_calls_field(const volatile void *object, size_t offset)
{
    return __atomic_load_n((const volatile uint32_t *)((uintptr_t)object + offset),
                           __ATOMIC_RELAXED);
}

/* Offsets in bytes, in glibc. */
enum {
    PROBITY_CALLS_MUTEX_LOCK = 0,
    PROBITY_CALLS_MUTEX_OWNER = 8,
    PROBITY_CALLS_MUTEX_KIND = 16,
    PROBITY_CALLS_RWLOCK_READERS = 0,
    PROBITY_CALLS_RWLOCK_PHASE = 8,
    PROBITY_CALLS_RWLOCK_WRITERS = 12,
    PROBITY_CALLS_RWLOCK_WRITER = 24,
    PROBITY_CALLS_SEMAPHORE_VALUE = 0,
    PROBITY_CALLS_SEMAPHORE_WAITERS = 4,
    PROBITY_CALLS_BARRIER_IN = 0,
    PROBITY_CALLS_BARRIER_COUNT = 8
};

/* Returns a thread id in an object; 0 if the value is not one. */
static inline uint32_t probity_calls_owner(const volatile void *object, size_t offset)
{
    enum { TID_MAX = 1 << 22 }; /* the kernel's limit */
    uint32_t tid = probity_calls_field(object, offset);

    return tid <= TID_MAX ? tid : 0;
}

/* ---- Taking and releasing ----------------------------------------------------------------------
 */

/* Returns whether to record a call that returns to `place`. */
static inline __attribute__((always_inline)) int probity_calls_record_locks(const void *place)
{
    return __atomic_load_n(&probity_active, __ATOMIC_RELAXED) != 0 &&
           probity_calls_are_of_program(place);
}

/* A thread's counts are recorded after this number of calls of a kind. */
enum { PROBITY_CALLS_TELL_EVERY = 4096 };

/* Returns 0 if the thread cannot count. */
static inline __attribute__((always_inline)) int probity_calls_count(uint32_t counter)
{
    struct probity_calls_thread *self = probity_calls_local.self;

    if (__builtin_expect(self == NULL, 0)) {
        if (!probity_calls_thread_count_begin())
            return 0;
        self = probity_calls_local.self;
    }
    if (__builtin_expect(++self->counts[counter] % PROBITY_CALLS_TELL_EVERY == 0, 0))
        probity_calls_thread_record();
    return 1;
}

/* Call if free locks are only counted: after the lock was taken, and before it is released. For
 * unusual cases only: the work is timed, the thread has no counters yet, or it holds a lock with a
 * recorded hit. */
void probity_calls_took_counted(enum probity_calls_kind kind, const volatile void *lock,
                                const void *place) __attribute__((visibility("hidden")));
void probity_calls_gives_counted(enum probity_calls_kind kind, const volatile void *lock,
                                 const void *place, int has_waiters)
    __attribute__((visibility("hidden")));

/* Returns whether this is the usual case; if so, counts a piece of work that is not timed. */
static inline __attribute__((always_inline)) int
probity_calls_counts_usually(const struct probity_calls_thread *self)
{
    if (__builtin_expect(self == NULL || probity_calls_local.cost_left == 0, 0))
        return 0;
    probity_calls_local.cost_left--;
    return 1;
}

/* Call after a free lock was taken. */
static inline __attribute__((always_inline)) void
probity_calls_took(enum probity_calls_kind kind, const volatile void *lock, const void *place)
{
    struct probity_calls_thread *self = probity_calls_local.self;

    if (!probity_calls_only_counts(kind))
        probity_calls_hit(&probity_calls_sites[kind].hold, PROBITY_ROLE_LOCK_HOLD, lock, place);
    else if (!probity_calls_counts_usually(self))
        probity_calls_took_counted(kind, lock, place);
    else if (__builtin_expect(++self->counts[kind] % PROBITY_CALLS_TELL_EVERY == 0, 0))
        probity_calls_thread_record();
}

/* Call before a lock is released. has_waiters: used only if free locks are counted. */
static inline __attribute__((always_inline)) void
probity_calls_gives(enum probity_calls_kind kind, const volatile void *lock, const void *place,
                    int has_waiters)
{
    const struct probity_calls_thread *self = probity_calls_local.self;

    if (!probity_calls_only_counts(kind))
        probity_calls_hit(&probity_calls_sites[kind].release, PROBITY_ROLE_LOCK_RELEASE, lock,
                          place);
    else if (has_waiters || self == NULL || self->remembered_count != 0 ||
             !probity_calls_counts_usually(self))
        probity_calls_gives_counted(kind, lock, place, has_waiters);
}

/* Call before a wait. holder: a thread id, or 0. */
void probity_calls_waits(enum probity_calls_kind kind, const volatile void *lock, uint32_t holder,
                         const void *place) __attribute__((visibility("hidden")));

/* Call after a wait. error: 0, or that of libc's function; EOWNERDEAD is success. */
void probity_calls_waited(enum probity_calls_kind kind, const volatile void *lock, int error,
                          const void *place) __attribute__((visibility("hidden")));

/* Returns whether libc takes a free lock even with this timeout, so that a try-lock is
 * equivalent. */
int probity_calls_limit_is_usual(clockid_t clock, const struct timespec *limit)
    __attribute__((visibility("hidden")));

/* In locks_mutex.c, for the mutex of a condition. The last function is for an unlock that the mutex
 * may refuse. */
void probity_calls_mutex_gives(pthread_mutex_t *mutex, const void *place)
    __attribute__((visibility("hidden")));
void probity_calls_mutex_took(pthread_mutex_t *mutex, const void *place)
    __attribute__((visibility("hidden")));
void probity_calls_mutex_waits(pthread_mutex_t *mutex, const void *place)
    __attribute__((cold, visibility("hidden")));
void probity_calls_mutex_is_released(pthread_mutex_t *mutex, const void *place)
    __attribute__((visibility("hidden")));

/* In locks_condition.c. */
struct probity_calls_condition {
    pthread_cond_t *condition;
    pthread_mutex_t *mutex;
    const void *place;
    int is_counted; /* set at the beginning of the wait: it is only counted */
};

/* Call before a wait for the condition; after it, with its error; and after a wait that is
 * cancelled (context: the condition). */
void probity_calls_condition_waits(struct probity_calls_condition *wait)
    __attribute__((visibility("hidden")));
void probity_calls_condition_woken(const struct probity_calls_condition *wait, int error)
    __attribute__((visibility("hidden")));
void probity_calls_condition_cancelled(void *context) __attribute__((visibility("hidden")));

/* Defines the functions NAME_init and NAME_destroy of a lock, which are recorded because a new lock
 * may have the address of an earlier one. */
#define PROBITY_CALLS_MADE_AND_GONE(KIND, NAME)                                                    \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, NAME##_init,                                      \
                       (NAME##_t *lock, const NAME##attr_t *attributes), (lock, attributes))       \
    {                                                                                              \
        const void *place = PROBITY_CALLS_PLACE;                                                   \
        int error = probity_calls_next.NAME##_init(lock, attributes);                              \
                                                                                                   \
        if (error == 0 && probity_calls_record_locks(place))                                       \
            probity_calls_hit(&probity_calls_sites[KIND].made, PROBITY_ROLE_LOCK_MADE, lock,  \
                              place);                                                         \
        return error;                                                                              \
    }                                                                                              \
                                                                                                   \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, NAME##_destroy, (NAME##_t *lock), (lock))         \
    {                                                                                              \
        const void *place = PROBITY_CALLS_PLACE;                                                   \
                                                                                                   \
        if (probity_calls_record_locks(place))                                                     \
            probity_calls_hit(&probity_calls_sites[KIND].gone, PROBITY_ROLE_LOCK_GONE, lock,  \
                              place);                                                         \
        return probity_calls_next.NAME##_destroy(lock);                                            \
    }

#endif
