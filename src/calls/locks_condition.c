/* SPDX-License-Identifier: MIT
 *
 * locks_condition.c: replacements for functions that wait for something that no thread holds:
 * condition variables, barriers, futexes by syscall(); and for pthread_once(), which runs a
 * function under a lock.
 */
#include "calls/locks.h"

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>

#define SITES(kind) (probity_calls_sites[PROBITY_CALLS_##kind])

static void made_or_gone(enum probity_calls_kind kind, int is_made, const volatile void *object,
                         const void *place)
{
    struct probity_calls_sites *sites = &probity_calls_sites[kind];

    probity_calls_hit(is_made ? &sites->made : &sites->gone,
                      is_made ? PROBITY_ROLE_LOCK_MADE : PROBITY_ROLE_LOCK_GONE, object,
                      place);
}

/* ---- Condition variables -----------------------------------------------------------------------
 */

/* Both ends of a wait are recorded, or neither: a budget may change this during the wait. */
void probity_calls_condition_waits(struct probity_calls_condition *wait)
{
    wait->is_counted = probity_calls_only_counts(PROBITY_CALLS_CONDITION_WAIT) &&
                       probity_calls_count(PROBITY_CALLS_CONDITION_WAIT);
    if (!wait->is_counted)
        probity_calls_hit_with(&SITES(CONDITION).wait, PROBITY_ROLE_CONDITION_WAIT,
                               (uintptr_t)wait->mutex, wait->condition, wait->place);
    probity_calls_mutex_gives(wait->mutex, wait->place);
}

/* The mutex is held again, even if the wait ended with an error or was cancelled. */
void probity_calls_condition_woken(const struct probity_calls_condition *wait, int error)
{
    if (!wait->is_counted)
        probity_calls_hit_with(&SITES(CONDITION).woken, PROBITY_ROLE_WOKEN, (uint32_t)error,
                               wait->condition, wait->place);
    else if (probity_calls_local.self != NULL)
        probity_calls_local.self->of_condition = wait->mutex;
    probity_calls_mutex_took(wait->mutex, wait->place);
}

void probity_calls_condition_cancelled(void *context)
{
    probity_calls_condition_woken(context, ECANCELED);
}

#define WAIT(name, parameters, arguments)                                                          \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, name, parameters, arguments)                      \
    {                                                                                              \
        struct probity_calls_condition wait = {condition, mutex, PROBITY_CALLS_PLACE, 0};          \
        int error;                                                                                 \
                                                                                                   \
        if (!probity_calls_record_locks(wait.place))                                               \
            return probity_calls_next.name arguments;                                              \
        probity_calls_condition_waits(&wait);                                                      \
        pthread_cleanup_push(probity_calls_condition_cancelled, &wait);                            \
        error = probity_calls_next.name arguments;                                                 \
        pthread_cleanup_pop(0);                                                                    \
        probity_calls_condition_woken(&wait, error);                                               \
        return error;                                                                              \
    }

WAIT(pthread_cond_wait, (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex),
     (condition, mutex))
WAIT(pthread_cond_timedwait,
     (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
      const struct timespec *restrict limit),
     (condition, mutex, limit))
WAIT(pthread_cond_clockwait,
     (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock,
      const struct timespec *restrict limit),
     (condition, mutex, clock, limit))

static inline __attribute__((always_inline)) void notify(pthread_cond_t *condition, uint32_t most,
                                                         const void *place)
{
    if (!probity_calls_record_locks(place) || (probity_calls_only_counts(PROBITY_CALLS_NOTIFY) &&
                                               probity_calls_count(PROBITY_CALLS_NOTIFY)))
        return;
    probity_calls_hit_with(&SITES(CONDITION).notify, PROBITY_ROLE_NOTIFY, most, condition, place);
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_cond_signal, (pthread_cond_t *condition),
                   (condition))
{
    notify(condition, 1, PROBITY_CALLS_PLACE);
    return probity_calls_next.pthread_cond_signal(condition);
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_cond_broadcast, (pthread_cond_t *condition),
                   (condition))
{
    notify(condition, UINT32_MAX, PROBITY_CALLS_PLACE);
    return probity_calls_next.pthread_cond_broadcast(condition);
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_cond_init,
                   (pthread_cond_t *restrict condition,
                    const pthread_condattr_t *restrict attributes),
                   (condition, attributes))
{
    const void *place = PROBITY_CALLS_PLACE;
    int error = probity_calls_next.pthread_cond_init(condition, attributes);

    if (error == 0 && probity_calls_record_locks(place))
        made_or_gone(PROBITY_CALLS_CONDITION, 1, condition, place);
    return error;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_cond_destroy, (pthread_cond_t *condition),
                   (condition))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (probity_calls_record_locks(place))
        made_or_gone(PROBITY_CALLS_CONDITION, 0, condition, place);
    return probity_calls_next.pthread_cond_destroy(condition);
}

/* ---- Barriers ----------------------------------------------------------------------------------
 */

static int is_last(const pthread_barrier_t *barrier)
{
    if (!probity_calls_layout.barrier)
        return 0;
    uint32_t in = probity_calls_field(barrier, PROBITY_CALLS_BARRIER_IN);
    uint32_t count = probity_calls_field(barrier, PROBITY_CALLS_BARRIER_COUNT);
    return count != 0 && in % count == count - 1;
}

static void notify_all(const pthread_barrier_t *barrier, const void *place)
{
    probity_calls_hit_with(&SITES(BARRIER).notify, PROBITY_ROLE_NOTIFY, UINT32_MAX, barrier,
                           place);
}

/* The last thread to arrive gets the special result. It wakes the others even if is_last() returned
 * 0 because two threads arrived at the same time. */
PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_barrier_wait, (pthread_barrier_t *barrier),
                   (barrier))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (!probity_calls_record_locks(place))
        return probity_calls_next.pthread_barrier_wait(barrier);
    int notifies = is_last(barrier);
    if (notifies)
        notify_all(barrier, place);
    else
        probity_calls_hit_with(&SITES(BARRIER).wait, PROBITY_ROLE_CONDITION_WAIT, 0, barrier,
                               place);
    int result = probity_calls_next.pthread_barrier_wait(barrier);
    if (!notifies && result == PTHREAD_BARRIER_SERIAL_THREAD)
        notify_all(barrier, place);
    if (!notifies)
        probity_calls_hit_with(&SITES(BARRIER).woken, PROBITY_ROLE_WOKEN,
                               result > 0 ? (uint32_t)result : 0, barrier, place);
    return result;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_barrier_init,
                   (pthread_barrier_t *restrict barrier,
                    const pthread_barrierattr_t *restrict attributes, unsigned count),
                   (barrier, attributes, count))
{
    const void *place = PROBITY_CALLS_PLACE;
    int error = probity_calls_next.pthread_barrier_init(barrier, attributes, count);

    if (error == 0 && probity_calls_record_locks(place))
        made_or_gone(PROBITY_CALLS_BARRIER, 1, barrier, place);
    return error;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_barrier_destroy,
                   (pthread_barrier_t *barrier), (barrier))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (probity_calls_record_locks(place))
        made_or_gone(PROBITY_CALLS_BARRIER, 0, barrier, place);
    return probity_calls_next.pthread_barrier_destroy(barrier);
}

/* ---- pthread_once ------------------------------------------------------------------------------
 */

enum { ONCE_RUNNING = 1, ONCE_DONE = 2 }; /* bits of the control word, in glibc and musl */

/* Calls in progress in this thread, innermost first. If an exception leaves a call, the pointer
 * dangles, and the next call overwrites it before it is used. */
struct once {
    struct once *outer;
    pthread_once_t *control;
    void (*function)(void);
    const void *place;
    int has_run;
};
static __thread struct once *innermost __attribute__((tls_model("initial-exec")));

static void run_once(void)
{
    struct once *once = innermost;

    once->has_run = 1;
    probity_calls_hit(&SITES(ONCE).hold, PROBITY_ROLE_LOCK_HOLD, once->control, once->place);
    once->function();
    probity_calls_hit(&SITES(ONCE).release, PROBITY_ROLE_LOCK_RELEASE, once->control,
                      once->place);
}

/* Records only calls that run the function, or wait for a thread that does. */
static int once(pthread_once_t *control, void (*function)(void), const void *place)
{
    int state = __atomic_load_n(control, __ATOMIC_ACQUIRE);

    if ((state & ONCE_DONE) != 0 || !probity_calls_record_locks(place))
        return probity_calls_next.pthread_once(control, function);
    struct once once = {innermost, control, function, place, 0};
    if (state & ONCE_RUNNING)
        probity_calls_waits(PROBITY_CALLS_ONCE, control, 0, place);
    innermost = &once;
    int error = probity_calls_next.pthread_once(control, run_once);
    innermost = once.outer;
    if ((state & ONCE_RUNNING) && !once.has_run) {
        probity_calls_waited(PROBITY_CALLS_ONCE, control, error, place);
        probity_calls_hit(&SITES(ONCE).release, PROBITY_ROLE_LOCK_RELEASE, control, place);
    }
    return error;
}

PROBITY_CALLS_WRAP(PROBITY_CALLS_LOCKS, int, pthread_once,
                   (pthread_once_t *control, void (*function)(void)), (control, function))
{
    return once(control, function, PROBITY_CALLS_PLACE);
}

/* In glibc, the same function. */
PROBITY_CALLS_WRAP_VOID(PROBITY_CALLS_LOCKS, call_once,
                        (once_flag *flag, void (*function)(void)), (flag, function))
{
    once((pthread_once_t *)flag, function, PROBITY_CALLS_PLACE);
}

/* ---- Futexes by syscall() ----------------------------------------------------------------------
 */

#define SYSCALL_PARAMETERS (long number, long a, long b, long c, long d, long e, long f)
#define SYSCALL_ARGUMENTS (number, a, b, c, d, e, f)

/* Replaces syscall(), whose number of parameters depends on the system call: missing ones have
 * arbitrary values, and are ignored. */
PROBITY_API long probity_calls_syscall SYSCALL_PARAMETERS __asm__("syscall");

static long wait_for_futex(long number, long a, long b, long c, long d, long e, long f,
                           const void *place)
{
    const void *word = (const void *)a;

    probity_calls_hit_with(&SITES(FUTEX).wait, PROBITY_ROLE_CONDITION_WAIT, 0, word, place);
    long result = probity_calls_next.syscall SYSCALL_ARGUMENTS;
    int error = errno;
    probity_calls_hit_with(&SITES(FUTEX).woken, PROBITY_ROLE_WOKEN,
                           result == -1 ? (uint32_t)error : 0, word, place);
    errno = error;
    return result;
}

static __attribute__((noinline)) long record_syscall SYSCALL_PARAMETERS
{
    const void *place = PROBITY_CALLS_PLACE;

    if (!probity_calls_record_locks(place))
        return probity_calls_next.syscall SYSCALL_ARGUMENTS;
    switch (b & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI: return wait_for_futex(number, a, b, c, d, e, f, place);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
        probity_calls_hit_with(&SITES(FUTEX).notify, PROBITY_ROLE_NOTIFY, (uint32_t)c,
                               (const void *)a, place);
        break;
    default: break;
    }
    return probity_calls_next.syscall SYSCALL_ARGUMENTS;
}

PROBITY_API long probity_calls_syscall SYSCALL_PARAMETERS
{
    if (probity_calls_are_off(PROBITY_CALLS_LOCKS) || number != SYS_futex)
        return probity_calls_next.syscall SYSCALL_ARGUMENTS;
    return record_syscall SYSCALL_ARGUMENTS;
}
