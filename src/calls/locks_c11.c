/* SPDX-License-Identifier: MIT
 *
 * locks_c11.c: replacements for the functions of <threads.h> that lock mutexes and wait for
 * conditions, whose objects in glibc are those of <pthread.h>. C11 has no error numbers: a timeout
 * is recorded as ETIMEDOUT, any other error as EINVAL. call_once() is in locks_condition.c, and
 * threads are in threads.c.
 */
#include "calls/locks.h"

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t),
               "the objects are the same");

static pthread_mutex_t *mutex_of(mtx_t *mutex)
{
    return (pthread_mutex_t *)mutex;
}

static int error_of(int status)
{
    return status == thrd_success ? 0 : status == thrd_timedout ? ETIMEDOUT : EINVAL;
}

/* ---- Mutexes -----------------------------------------------------------------------------------
 */

static int waited(mtx_t *mutex, int status, const void *place)
{
    probity_calls_waited(PROBITY_CALLS_MUTEX, mutex, error_of(status), place);
    return status;
}

#define LOCK(name, parameters, arguments)                                                          \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, name, parameters, arguments)                      \
    {                                                                                              \
        const void *place = PROBITY_CALLS_PLACE;                                                   \
                                                                                                   \
        if (!probity_calls_record_locks(place))                                                    \
            return probity_calls_next.name arguments;                                              \
        int status = probity_calls_next.mtx_trylock(mutex);                                        \
        if (status == thrd_busy) {                                                                 \
            probity_calls_mutex_waits(mutex_of(mutex), place);                                     \
            return waited(mutex, probity_calls_next.name arguments, place);                        \
        }                                                                                          \
        if (status == thrd_success)                                                                \
            probity_calls_mutex_took(mutex_of(mutex), place);                                      \
        return status;                                                                             \
    }

LOCK(mtx_lock, (mtx_t *mutex), (mutex))
LOCK(mtx_timedlock, (mtx_t *restrict mutex, const struct timespec *restrict limit),
     (mutex, limit))

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, mtx_trylock, (mtx_t *mutex), (mutex))
{
    const void *place = PROBITY_CALLS_PLACE;
    int status = probity_calls_next.mtx_trylock(mutex);

    if (status == thrd_success && probity_calls_record_locks(place))
        probity_calls_mutex_took(mutex_of(mutex), place);
    return status;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, mtx_unlock, (mtx_t *mutex), (mutex))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (probity_calls_record_locks(place))
        probity_calls_mutex_is_released(mutex_of(mutex), place);
    return probity_calls_next.mtx_unlock(mutex);
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, mtx_init, (mtx_t *mutex, int type), (mutex, type))
{
    const void *place = PROBITY_CALLS_PLACE;
    int status = probity_calls_next.mtx_init(mutex, type);

    if (status == thrd_success && probity_calls_record_locks(place))
        probity_calls_hit(&probity_calls_sites[PROBITY_CALLS_MUTEX].made,
                          PROBITY_ROLE_LOCK_MADE, mutex, place);
    return status;
}

PROBITY_CALLS_WRAP_VOID(PROBITY_CALLS_LOCKS, mtx_destroy, (mtx_t *mutex), (mutex))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (probity_calls_record_locks(place))
        probity_calls_hit(&probity_calls_sites[PROBITY_CALLS_MUTEX].gone,
                          PROBITY_ROLE_LOCK_GONE, mutex, place);
    probity_calls_next.mtx_destroy(mutex);
}

/* ---- Conditions --------------------------------------------------------------------------------
 */

#define WAIT(name, parameters, arguments)                                                          \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, name, parameters, arguments)                      \
    {                                                                                              \
        struct probity_calls_condition wait = {(pthread_cond_t *)condition, mutex_of(mutex),       \
                                               PROBITY_CALLS_PLACE, 0};                            \
        int status;                                                                                \
                                                                                                   \
        if (!probity_calls_record_locks(wait.place))                                               \
            return probity_calls_next.name arguments;                                              \
        probity_calls_condition_waits(&wait);                                                      \
        pthread_cleanup_push(probity_calls_condition_cancelled, &wait);                            \
        status = probity_calls_next.name arguments;                                                \
        pthread_cleanup_pop(0);                                                                    \
        probity_calls_condition_woken(&wait, error_of(status));                                    \
        return status;                                                                             \
    }

WAIT(cnd_wait, (cnd_t *condition, mtx_t *mutex), (condition, mutex))
WAIT(cnd_timedwait,
     (cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict limit),
     (condition, mutex, limit))

#define NOTIFY(name, most)                                                                         \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, name, (cnd_t *condition), (condition))            \
    {                                                                                              \
        const void *place = PROBITY_CALLS_PLACE;                                                   \
                                                                                                   \
        if (probity_calls_record_locks(place))                                                     \
            probity_calls_hit_with(&probity_calls_sites[PROBITY_CALLS_CONDITION].notify,      \
                                   PROBITY_ROLE_NOTIFY, most, condition, place);              \
        return probity_calls_next.name(condition);                                                 \
    }

NOTIFY(cnd_signal, 1)
NOTIFY(cnd_broadcast, UINT32_MAX)

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, cnd_init, (cnd_t *condition), (condition))
{
    const void *place = PROBITY_CALLS_PLACE;
    int status = probity_calls_next.cnd_init(condition);

    if (status == thrd_success && probity_calls_record_locks(place))
        probity_calls_hit(&probity_calls_sites[PROBITY_CALLS_CONDITION].made,
                          PROBITY_ROLE_LOCK_MADE, condition, place);
    return status;
}

PROBITY_CALLS_WRAP_VOID(PROBITY_CALLS_LOCKS, cnd_destroy, (cnd_t *condition), (condition))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (probity_calls_record_locks(place))
        probity_calls_hit(&probity_calls_sites[PROBITY_CALLS_CONDITION].gone,
                          PROBITY_ROLE_LOCK_GONE, condition, place);
    probity_calls_next.cnd_destroy(condition);
}
