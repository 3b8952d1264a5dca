/* SPDX-License-Identifier: MIT
 *
 * sleep.c: replacements for functions that sleep. select() is in io_wait.c.
 */
#include "calls/scopes.h"

#define SITE(type, name, parameters) PROBITY_CALLS_SITE("sleep", type, name, parameters)
#define SLEEP(type, name, parameters, arguments, enter)                                            \
    PROBITY_CALLS_SCOPE(PROBITY_CALLS_SLEEP, site_##name, type, name, parameters, arguments, enter)
#define ENTER_LIMIT(limit_ns)                                                                      \
    probity_call_enter_number(&call, &probity_calls_limit, (uint64_t)(limit_ns))

SITE(int, nanosleep, (const struct timespec *limit, struct timespec *left));
SLEEP(int, nanosleep, (const struct timespec *limit, struct timespec *left), (limit, left),
      ENTER_LIMIT(probity_calls_limit_ns(limit)))

SITE(int, usleep, (useconds_t limit));
SLEEP(int, usleep, (useconds_t limit), (limit), ENTER_LIMIT((int64_t)limit * 1000))

SITE(int, sched_yield, (void));
SLEEP(int, sched_yield, (void), (), probity_call_enter(&call))

/* Returns the seconds that are left. */
SITE(unsigned, sleep, (unsigned limit));
PROBITY_CALLS_WRAP(PROBITY_CALLS_SLEEP, unsigned, sleep, (unsigned limit), (limit))
{
    struct probity_call call;

    if (!probity_call_begin(&call, &site_sleep))
        return probity_calls_next.sleep(limit);
    ENTER_LIMIT((int64_t)limit * 1000000000);
    unsigned result = probity_calls_next.sleep(limit);
    probity_call_leave(&call, result);
    return result;
}

/* Does not set errno. */
SITE(int, thrd_sleep, (const struct timespec *limit, struct timespec *left));
PROBITY_CALLS_WRAP(PROBITY_CALLS_SLEEP, int, thrd_sleep,
                   (const struct timespec *limit, struct timespec *left), (limit, left))
{
    struct probity_call call;

    if (!probity_call_begin(&call, &site_thrd_sleep))
        return probity_calls_next.thrd_sleep(limit, left);
    ENTER_LIMIT(probity_calls_limit_ns(limit));
    int result = probity_calls_next.thrd_sleep(limit, left);
    probity_call_leave(&call, result);
    return result;
}

SITE(void, thrd_yield, (void));
PROBITY_CALLS_WRAP_VOID(PROBITY_CALLS_SLEEP, thrd_yield, (void), ())
{
    struct probity_call call;

    if (!probity_call_begin(&call, &site_thrd_yield)) {
        probity_calls_next.thrd_yield();
        return;
    }
    probity_call_enter(&call);
    probity_calls_next.thrd_yield();
    probity_call_leave(&call, 0);
}

/* Returns the time until a moment on that clock. */
static int64_t sleep_ns(clockid_t clock, int flags, const struct timespec *limit)
{
    int64_t limit_ns = probity_calls_limit_ns(limit);
    struct timespec now;
    int saved = errno;

    if (!(flags & TIMER_ABSTIME) || limit_ns < 0)
        return limit_ns;
    if (clock_gettime(clock, &now) == 0)
        limit_ns -= (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    errno = saved;
    return limit_ns > 0 ? limit_ns : 0;
}

/* Returns the error. */
SITE(int, clock_nanosleep,
     (clockid_t clock, int flags, const struct timespec *limit, struct timespec *left));
PROBITY_CALLS_WRAP(PROBITY_CALLS_SLEEP, int, clock_nanosleep,
                   (clockid_t clock, int flags, const struct timespec *limit,
                    struct timespec *left),
                   (clock, flags, limit, left))
{
    struct probity_call call;

    if (!probity_call_begin(&call, &site_clock_nanosleep))
        return probity_calls_next.clock_nanosleep(clock, flags, limit, left);
    ENTER_LIMIT(sleep_ns(clock, flags, limit));
    int result = probity_calls_next.clock_nanosleep(clock, flags, limit, left);
    if (result == 0)
        probity_call_leave(&call, result);
    else
        probity_call_leave_error(&call, result, result);
    return result;
}
