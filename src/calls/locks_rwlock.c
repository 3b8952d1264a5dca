/* SPDX-License-Identifier: MIT
 *
 * locks_rwlock.c: replacements for the functions of read-write locks. One lock is an object of two
 * kinds: held for reading, and held for writing.
 */
#include "calls/locks.h"

enum { FUTEX_USED = 2, READER_WAITS = 2 };

static uint32_t writer_of(const pthread_rwlock_t *lock)
{
    return probity_calls_layout.rwlock ? probity_calls_owner(lock, PROBITY_CALLS_RWLOCK_WRITER) : 0;
}

static int has_waiters(const pthread_rwlock_t *lock)
{
    if (!probity_calls_layout.rwlock)
        return 1;
    uint32_t phase = probity_calls_field(lock, PROBITY_CALLS_RWLOCK_PHASE);
    uint32_t writers = probity_calls_field(lock, PROBITY_CALLS_RWLOCK_WRITERS);
    uint32_t readers = probity_calls_field(lock, PROBITY_CALLS_RWLOCK_READERS);
    return ((phase | writers) & FUTEX_USED) != 0 || (readers & READER_WAITS) != 0;
}

static void waits(enum probity_calls_kind kind, const pthread_rwlock_t *lock, const void *place)
{
    probity_calls_waits(kind, lock, writer_of(lock), place);
}

static int waited(enum probity_calls_kind kind, const pthread_rwlock_t *lock, int error,
                  const void *place)
{
    probity_calls_waited(kind, lock, error, place);
    return error;
}

/* A function that takes the lock. `call`: that of libc, for the wait; `may_try`: whether trying is
 * equivalent if the lock is free. */
#define TAKE(kind, name, parameters, arguments, try, may_try)                                      \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, name, parameters, arguments)                      \
    {                                                                                              \
        const void *place = PROBITY_CALLS_PLACE;                                                   \
                                                                                                   \
        if (!probity_calls_record_locks(place) || !(may_try))                                      \
            return probity_calls_next.name arguments;                                              \
        int error = probity_calls_next.try(lock);                                                  \
        if (error == EBUSY) {                                                                      \
            waits(kind, lock, place);                                                              \
            return waited(kind, lock, probity_calls_next.name arguments, place);                   \
        }                                                                                          \
        if (error == 0)                                                                            \
            probity_calls_took(kind, lock, place);                                                 \
        return error;                                                                              \
    }

#define TRY(kind, name)                                                                            \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, name, (pthread_rwlock_t *lock), (lock))           \
    {                                                                                              \
        const void *place = PROBITY_CALLS_PLACE;                                                   \
        int error = probity_calls_next.name(lock);                                                 \
                                                                                                   \
        if (error == 0 && probity_calls_record_locks(place))                                       \
            probity_calls_took(kind, lock, place);                                                 \
        return error;                                                                              \
    }

#define LIMIT const struct timespec *restrict limit

/* All functions that take a lock on one side, rd or wr. */
#define TAKE_SIDE(KIND, SIDE)                                                                      \
    TAKE(KIND, pthread_rwlock_##SIDE##lock, (pthread_rwlock_t *lock), (lock),                      \
         pthread_rwlock_try##SIDE##lock, 1)                                                        \
    TAKE(KIND, pthread_rwlock_timed##SIDE##lock, (pthread_rwlock_t *restrict lock, LIMIT),         \
         (lock, limit), pthread_rwlock_try##SIDE##lock,                                            \
         probity_calls_limit_is_usual(CLOCK_REALTIME, limit))                                      \
    TAKE(KIND, pthread_rwlock_clock##SIDE##lock,                                                   \
         (pthread_rwlock_t *restrict lock, clockid_t clock, LIMIT), (lock, clock, limit),          \
         pthread_rwlock_try##SIDE##lock, probity_calls_limit_is_usual(clock, limit))               \
    TRY(KIND, pthread_rwlock_try##SIDE##lock)

TAKE_SIDE(PROBITY_CALLS_RWLOCK_READ, rd)
TAKE_SIDE(PROBITY_CALLS_RWLOCK_WRITE, wr)

/* If the lock has a writer, that is the calling thread. If the writer is unknown, a read lock is
 * assumed: a reader of the trace finds the earlier hold. */
PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_rwlock_unlock, (pthread_rwlock_t *lock),
                   (lock))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (probity_calls_record_locks(place)) {
        if (writer_of(lock) != 0)
            probity_calls_gives(PROBITY_CALLS_RWLOCK_WRITE, lock, place, has_waiters(lock));
        else
            probity_calls_gives(PROBITY_CALLS_RWLOCK_READ, lock, place, has_waiters(lock));
    }
    return probity_calls_next.pthread_rwlock_unlock(lock);
}

PROBITY_CALLS_MADE_AND_GONE(PROBITY_CALLS_RWLOCK_WRITE, pthread_rwlock)
