/* SPDX-License-Identifier: MIT
 *
 * late_declarer.c: a thread is held, as if it had been preempted, while it records what an earlier
 * recording declared, until that recording has ended without it and the next has begun. With
 * PROBITY_CLOCK=monotonic it is held in syscall(), by which the library reads the clock for each
 * declaration, because clock_gettime() is not libc's.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "programs/hits.h"

/* More than a thread needs to register (34), and fewer than for all 32 sites. */
enum { READINGS = 48 };

enum turn { HELD = 1, RELEASED };

static int turn;
static __thread int readings_left; /* until this thread is held; 0: it is not */

static void await(enum turn wanted)
{
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) < (int)wanted)
        sched_yield();
}

long syscall(long number, ...)
{
    static long (*next)(long number, ...);
    long value[6];
    va_list arguments;

    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        value[i] = va_arg(arguments, long);
    va_end(arguments);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_clock_gettime && readings_left > 0 && --readings_left == 0) {
        __atomic_store_n(&turn, HELD, __ATOMIC_RELEASE);
        await(RELEASED);
    }
    return next(number, value[0], value[1], value[2], value[3], value[4], value[5]);
}

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    return (int)syscall(SYS_clock_gettime, clock, ret_time);
}

#define FOUR(N)                                                                                    \
    PROBITY_PROBE_NAMED("a " #N);                                                                  \
    PROBITY_PROBE_NAMED("b " #N);                                                                  \
    PROBITY_PROBE_NAMED("c " #N);                                                                  \
    PROBITY_PROBE_NAMED("d " #N)

static void hit_sites(void)
{
    FOUR(1);
    FOUR(2);
    FOUR(3);
    FOUR(4);
    FOUR(5);
    FOUR(6);
    FOUR(7);
    FOUR(8);
}

static void *late(void *unused)
{
    readings_left = READINGS;
    hit_sites();
    return unused;
}

static void start(const char *out)
{
    struct probity_options options = {.out = out};

    hits_need(probity_start(&options) == 0, "start");
}

int main(void)
{
    pthread_t thread;

    start("first");
    hit_sites();
    probity_stop();
    start("second");
    hits_need(pthread_create(&thread, NULL, late, NULL) == 0, "thread");
    await(HELD);
    probity_stop(); /* after a second, without the thread */
    start("third");
    __atomic_store_n(&turn, RELEASED, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    hit_sites();
    probity_stop();
    return 0;
}
