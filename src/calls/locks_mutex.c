/* SPDX-License-Identifier: MIT
 *
 * locks_mutex.c: replacements for the functions of mutexes and spin locks.
 *
 * A mutex that reports errors (recursive, error-checking, robust) cannot be released by a thread
 * that does not hold it: such an attempt is not recorded.
 */
#include "calls/locks.h"

enum {
    KIND_RECURSIVE = 1,
    KIND_ERRORCHECK = 2,
    KIND_TYPES = 3, /* both bits: adaptive */
    KIND_ROBUST = 16,
    KIND_PRIORITY_INHERIT = 32,
    LOCKED_WITH_WAITERS = 2,
    LOCK_TID = 0x3fffffff /* in robust and priority-inheriting mutexes */
};
#define KIND_SHARED UINT32_C(128)
#define OWNER_WITH_WAITERS UINT32_C(0x80000000) /* in the same */

/* ---- Mutexes -----------------------------------------------------------------------------------
 */

static uint32_t holder_of(const pthread_mutex_t *mutex)
{
    return probity_calls_layout.mutex ? probity_calls_owner(mutex, PROBITY_CALLS_MUTEX_OWNER) : 0;
}

static inline int has_waiters(const pthread_mutex_t *mutex)
{
    if (!probity_calls_layout.mutex)
        return 1;
    uint32_t lock = probity_calls_field(mutex, PROBITY_CALLS_MUTEX_LOCK);
    return lock == LOCKED_WITH_WAITERS || (lock & OWNER_WITH_WAITERS) != 0;
}

static int is_kept(const pthread_mutex_t *mutex, uint32_t kind)
{
    uint32_t type = kind & KIND_TYPES;

    if (kind & (KIND_ROBUST | KIND_PRIORITY_INHERIT))
        return (probity_calls_field(mutex, PROBITY_CALLS_MUTEX_LOCK) & LOCK_TID) !=
               probity_calls_thread_id();
    return (type == KIND_RECURSIVE || type == KIND_ERRORCHECK) &&
           probity_calls_field(mutex, PROBITY_CALLS_MUTEX_OWNER) != probity_calls_thread_id();
}

/* Returns whether the calling thread may release the mutex, as far as libc checks this. */
static inline int is_released_by_unlock(const pthread_mutex_t *mutex)
{
    uint32_t kind = probity_calls_field(mutex, PROBITY_CALLS_MUTEX_KIND);

    return __builtin_expect((kind & ~KIND_SHARED) == 0, 1) || !probity_calls_layout.mutex ||
           !is_kept(mutex, kind);
}

/* Returns whether a wait for a condition took the mutex: then it is marked as if it had waiters. */
static int is_of_condition(const pthread_mutex_t *mutex)
{
    struct probity_calls_thread *self = probity_calls_local.self;

    if (self == NULL || self->of_condition != mutex)
        return 0;
    self->of_condition = NULL;
    return 1;
}

void probity_calls_mutex_gives(pthread_mutex_t *mutex, const void *place)
{
    probity_calls_gives(PROBITY_CALLS_MUTEX, mutex, place,
                        has_waiters(mutex) && !is_of_condition(mutex));
}

void probity_calls_mutex_took(pthread_mutex_t *mutex, const void *place)
{
    probity_calls_took(PROBITY_CALLS_MUTEX, mutex, place);
}

static inline __attribute__((always_inline)) void took(pthread_mutex_t *mutex, int error,
                                                       const void *place)
{
    if (__builtin_expect(error == 0, 1) || error == EOWNERDEAD)
        probity_calls_took(PROBITY_CALLS_MUTEX, mutex, place);
}

void probity_calls_mutex_waits(pthread_mutex_t *mutex, const void *place)
{
    probity_calls_waits(PROBITY_CALLS_MUTEX, mutex, holder_of(mutex), place);
}

void probity_calls_mutex_is_released(pthread_mutex_t *mutex, const void *place)
{
    if (is_released_by_unlock(mutex))
        probity_calls_mutex_gives(mutex, place);
}

static int waited(pthread_mutex_t *mutex, int error, const void *place)
{
    probity_calls_waited(PROBITY_CALLS_MUTEX, mutex, error, place);
    return error;
}

/* Takes the mutex after the first attempt failed. */
static __attribute__((noinline)) int lock_after(pthread_mutex_t *mutex, int error,
                                                const void *place)
{
    if (error == EBUSY) {
        probity_calls_mutex_waits(mutex, place);
        return waited(mutex, probity_calls_next.pthread_mutex_lock(mutex), place);
    }
    took(mutex, error, place);
    return error;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_mutex_lock, (pthread_mutex_t *mutex), (mutex))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (!probity_calls_record_locks(place))
        return probity_calls_next.pthread_mutex_lock(mutex);
    int error = probity_calls_next.pthread_mutex_trylock(mutex);
    if (__builtin_expect(error != 0, 0))
        return lock_after(mutex, error, place);
    probity_calls_took(PROBITY_CALLS_MUTEX, mutex, place);
    return 0;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_mutex_trylock, (pthread_mutex_t *mutex),
                   (mutex))
{
    const void *place = PROBITY_CALLS_PLACE;
    int error = probity_calls_next.pthread_mutex_trylock(mutex);

    if (error != EBUSY && probity_calls_record_locks(place))
        took(mutex, error, place);
    return error;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_mutex_timedlock,
                   (pthread_mutex_t *restrict mutex, const struct timespec *restrict limit),
                   (mutex, limit))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (!probity_calls_record_locks(place))
        return probity_calls_next.pthread_mutex_timedlock(mutex, limit);
    int error = probity_calls_next.pthread_mutex_trylock(mutex);
    if (error == EBUSY) {
        probity_calls_mutex_waits(mutex, place);
        return waited(mutex, probity_calls_next.pthread_mutex_timedlock(mutex, limit), place);
    }
    took(mutex, error, place);
    return error;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_mutex_clocklock,
                   (pthread_mutex_t *restrict mutex, clockid_t clock,
                    const struct timespec *restrict limit),
                   (mutex, clock, limit))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (!probity_calls_record_locks(place) || !probity_calls_limit_is_usual(clock, limit))
        return probity_calls_next.pthread_mutex_clocklock(mutex, clock, limit);
    int error = probity_calls_next.pthread_mutex_trylock(mutex);
    if (error == EBUSY) {
        probity_calls_mutex_waits(mutex, place);
        return waited(mutex, probity_calls_next.pthread_mutex_clocklock(mutex, clock, limit),
                      place);
    }
    took(mutex, error, place);
    return error;
}

/* Returns whether the release is not recorded, in the usual case of free mutexes that are only
 * counted: this mutex is of the default kind and has no waiters. */
static inline __attribute__((always_inline)) int is_released_quietly(const pthread_mutex_t *mutex)
{
    const struct probity_calls_thread *self = probity_calls_local.self;

    return probity_calls_only_counts(PROBITY_CALLS_MUTEX) && probity_calls_layout.mutex &&
           probity_calls_field(mutex, PROBITY_CALLS_MUTEX_LOCK) < LOCKED_WITH_WAITERS &&
           (probity_calls_field(mutex, PROBITY_CALLS_MUTEX_KIND) & ~KIND_SHARED) == 0 &&
           self != NULL && self->remembered_count == 0 && probity_calls_counts_usually(self);
}

static __attribute__((noinline)) int unlock(pthread_mutex_t *mutex, const void *place)
{
    probity_calls_mutex_is_released(mutex, place);
    return probity_calls_next.pthread_mutex_unlock(mutex);
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_mutex_unlock, (pthread_mutex_t *mutex),
                   (mutex))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (!probity_calls_record_locks(place) || is_released_quietly(mutex))
        return probity_calls_next.pthread_mutex_unlock(mutex);
    return unlock(mutex, place);
}

PROBITY_CALLS_MADE_AND_GONE(PROBITY_CALLS_MUTEX, pthread_mutex)

/* ---- Spin locks --------------------------------------------------------------------------------
 */

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_spin_lock, (pthread_spinlock_t *lock), (lock))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (!probity_calls_record_locks(place))
        return probity_calls_next.pthread_spin_lock(lock);
    int error = probity_calls_next.pthread_spin_trylock(lock);
    if (error == EBUSY) {
        probity_calls_waits(PROBITY_CALLS_SPIN, lock, 0, place);
        error = probity_calls_next.pthread_spin_lock(lock);
        probity_calls_waited(PROBITY_CALLS_SPIN, lock, error, place);
    } else if (error == 0) {
        probity_calls_took(PROBITY_CALLS_SPIN, lock, place);
    }
    return error;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_spin_trylock, (pthread_spinlock_t *lock),
                   (lock))
{
    const void *place = PROBITY_CALLS_PLACE;
    int error = probity_calls_next.pthread_spin_trylock(lock);

    if (error == 0 && probity_calls_record_locks(place))
        probity_calls_took(PROBITY_CALLS_SPIN, lock, place);
    return error;
}

/* It is unknown whether another thread waits. */
PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_spin_unlock, (pthread_spinlock_t *lock),
                   (lock))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (probity_calls_record_locks(place))
        probity_calls_gives(PROBITY_CALLS_SPIN, lock, place, 0);
    return probity_calls_next.pthread_spin_unlock(lock);
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_spin_init,
                   (pthread_spinlock_t *lock, int shared), (lock, shared))
{
    const void *place = PROBITY_CALLS_PLACE;
    int error = probity_calls_next.pthread_spin_init(lock, shared);

    if (error == 0 && probity_calls_record_locks(place))
        probity_calls_hit(&probity_calls_sites[PROBITY_CALLS_SPIN].made,
                          PROBITY_ROLE_LOCK_MADE, lock, place);
    return error;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_spin_destroy, (pthread_spinlock_t *lock),
                   (lock))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (probity_calls_record_locks(place))
        probity_calls_hit(&probity_calls_sites[PROBITY_CALLS_SPIN].gone,
                          PROBITY_ROLE_LOCK_GONE, lock, place);
    return probity_calls_next.pthread_spin_destroy(lock);
}
