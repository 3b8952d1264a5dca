/* SPDX-License-Identifier: MIT
 *
 * clock.c: brackets: a clock is read between two readings of the counter, and the narrowest bracket
 * wins.
 */
#include "base/clock.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/scale.h"

enum { KIND_MONOTONIC_NS = 3, CPU_TRIES = 4 };

static uint64_t read_clock(uint32_t kind, clockid_t clock)
{
    struct timespec now = {0, 0};

    /* Where the counter is forbidden, libc's own way through it is SIGSEGV. */
    if (__builtin_expect(kind & PROBITY_CLOCK_BY_CALL, 0))
        syscall(SYS_clock_gettime, clock, &now);
    else
        clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t probity_clock_choose(int refuse_counter)
{
    if (probity_cpu_counter_is_forbidden())
        return KIND_MONOTONIC_NS | PROBITY_CLOCK_BY_CALL;
    if (refuse_counter || !probity_cpu_counter_is_usable())
        return KIND_MONOTONIC_NS;
    return probity_cpu_counter_kind();
}

int probity_clock_is_counter(uint32_t kind)
{
    return (kind & ~(uint32_t)PROBITY_CLOCK_BY_CALL) != KIND_MONOTONIC_NS;
}

uint64_t probity_clock_ticks(uint32_t kind)
{
    return probity_clock_is_counter(kind) ? probity_cpu_counter()
                                          : read_clock(kind, CLOCK_MONOTONIC);
}

/* All three clocks share one bracket, whose middle is the moment: half of it is the error of each.
 * REALTIME stands in the middle, because it is the one that people read. */
void probity_clock_moment(uint32_t kind, uint64_t rate, int tries,
                          struct probity_clock_moment *ret_moment)
{
    uint64_t narrowest = UINT64_MAX;
    int before = errno;

    for (int i = 0; i < tries; i++) {
        uint64_t first = probity_clock_ticks(kind);
        uint64_t raw = read_clock(kind, CLOCK_MONOTONIC_RAW);
        uint64_t realtime = read_clock(kind, CLOCK_REALTIME);
        uint64_t monotonic = read_clock(kind, CLOCK_MONOTONIC);
        uint64_t width = probity_clock_ticks(kind) - first;
        if (width >= narrowest)
            continue;
        narrowest = width;
        ret_moment->ticks = first + width / 2;
        ret_moment->raw_ns = raw;
        ret_moment->monotonic_ns = monotonic;
        ret_moment->realtime_ns = realtime;
    }
    uint64_t width_ns = rate != 0 ? probity_ns_of_ticks(narrowest, rate) : narrowest;
    ret_moment->width_ns = width_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)width_ns;
    errno = before;
}

uint64_t probity_clock_rate(const struct probity_clock_moment *first,
                            const struct probity_clock_moment *last)
{
    uint64_t ticks = last->ticks - first->ticks, ns = last->raw_ns - first->raw_ns;

    if ((int64_t)ticks <= 0 || (int64_t)ns <= 0)
        return 0;
    return (uint64_t)(((probity_wide)ns << 32) / (probity_wide)ticks);
}

void probity_clock_cpu(uint32_t kind, uint64_t bracket_ticks_max,
                       struct probity_clock_cpu *ret_cpu)
{
    uint64_t narrowest = UINT64_MAX;
    int before = errno;

    for (int i = 0; i < CPU_TRIES; i++) {
        uint64_t first = probity_clock_ticks(kind);
        uint64_t cpu = read_clock(kind, CLOCK_THREAD_CPUTIME_ID);
        uint64_t width = probity_clock_ticks(kind) - first;
        if (width >= narrowest)
            continue;
        narrowest = width;
        ret_cpu->tick = first + width / 2;
        ret_cpu->cpu_ns = cpu;
        if (width < bracket_ticks_max)
            break;
    }
    errno = before;
}
