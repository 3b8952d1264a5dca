/* SPDX-License-Identifier: MIT
 *
 * locks_semaphore.c: replacements for the functions of semaphores. Waiting for one is a
 * cancellation point, even if it is free; sem_post() may be called by signal handlers.
 */
#include "calls/locks.h"

struct wait {
    sem_t *semaphore;
    const void *place;
};

/* Called if the thread is cancelled while it waits. */
static void cancelled(void *context)
{
    const struct wait *wait = context;

    probity_calls_waited(PROBITY_CALLS_SEMAPHORE, wait->semaphore, ECANCELED, wait->place);
}

static int waited(sem_t *semaphore, int result, const void *place)
{
    int error = errno;

    probity_calls_waited(PROBITY_CALLS_SEMAPHORE, semaphore, result == 0 ? 0 : error, place);
    errno = error;
    return result;
}

/* Takes the semaphore if it is free. Returns 1; 0 if it is not free; or -1 with errno. */
static int take(sem_t *semaphore, const void *place)
{
    int before = errno;

    pthread_testcancel();
    if (probity_calls_next.sem_trywait(semaphore) == 0) {
        probity_calls_took(PROBITY_CALLS_SEMAPHORE, semaphore, place);
        return 1;
    }
    if (errno != EAGAIN)
        return -1;
    errno = before;
    probity_calls_waits(PROBITY_CALLS_SEMAPHORE, semaphore, 0, place);
    return 0;
}

/* A function that waits. */
#define WAIT(name, parameters, arguments, may_try)                                                 \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, name, parameters, arguments)                      \
    {                                                                                              \
        struct wait wait = {semaphore, PROBITY_CALLS_PLACE};                                       \
        int result;                                                                                \
                                                                                                   \
        if (!probity_calls_record_locks(wait.place) || !(may_try))                                 \
            return probity_calls_next.name arguments;                                              \
        int taken = take(semaphore, wait.place);                                                   \
        if (taken != 0)                                                                            \
            return taken > 0 ? 0 : -1;                                                             \
        pthread_cleanup_push(cancelled, &wait);                                                    \
        result = probity_calls_next.name arguments;                                                \
        pthread_cleanup_pop(0);                                                                    \
        return waited(semaphore, result, wait.place);                                              \
    }

WAIT(sem_wait, (sem_t * semaphore), (semaphore), 1)
WAIT(sem_timedwait, (sem_t *restrict semaphore, const struct timespec *restrict limit),
     (semaphore, limit), probity_calls_limit_is_usual(CLOCK_REALTIME, limit))
WAIT(sem_clockwait,
     (sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict limit),
     (semaphore, clock, limit), probity_calls_limit_is_usual(clock, limit))

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, sem_trywait, (sem_t * semaphore), (semaphore))
{
    const void *place = PROBITY_CALLS_PLACE;
    int result = probity_calls_next.sem_trywait(semaphore);

    if (result == 0 && probity_calls_record_locks(place))
        probity_calls_took(PROBITY_CALLS_SEMAPHORE, semaphore, place);
    return result;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, sem_post, (sem_t * semaphore), (semaphore))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (probity_calls_record_locks(place))
        probity_calls_gives(PROBITY_CALLS_SEMAPHORE, semaphore, place,
                            !probity_calls_layout.semaphore ||
                                probity_calls_field(semaphore, PROBITY_CALLS_SEMAPHORE_WAITERS));
    return probity_calls_next.sem_post(semaphore);
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, sem_init,
                   (sem_t * semaphore, int shared, unsigned value), (semaphore, shared, value))
{
    const void *place = PROBITY_CALLS_PLACE;
    int result = probity_calls_next.sem_init(semaphore, shared, value);

    if (result == 0 && probity_calls_record_locks(place))
        probity_calls_hit(&probity_calls_sites[PROBITY_CALLS_SEMAPHORE].made,
                          PROBITY_ROLE_LOCK_MADE, semaphore, place);
    return result;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, sem_destroy, (sem_t * semaphore), (semaphore))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (probity_calls_record_locks(place))
        probity_calls_hit(&probity_calls_sites[PROBITY_CALLS_SEMAPHORE].gone,
                          PROBITY_ROLE_LOCK_GONE, semaphore, place);
    return probity_calls_next.sem_destroy(semaphore);
}
