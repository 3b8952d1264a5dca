/* SPDX-License-Identifier: MIT
 *
 * linux/clock.c: reads each clock between two readings of the counter and keeps the narrowest
 * bracket.
 */
#include "base/clock.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/cpu.h"
#include "base/os.h"
#include "base/ticks.h"

enum { KIND_MONOTONIC_NS = 3, CPU_TRIES = 4 };

uint64_t probity_clock_read(uint32_t kind, clockid_t clock)
{
    struct timespec now = {0, 0};

    /* If reading the counter is forbidden, libc's clock_gettime() raises SIGSEGV. */
    if (__builtin_expect(kind & PROBITY_CLOCK_BY_CALL, 0))
        syscall(SYS_clock_gettime, clock, &now);
    else
        clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A library that replaces clock_gettime() (libfaketime) may run at another rate, and its destructor
 * may run before the last reading. */
static uint32_t how_to_read(void)
{
    return probity_os_is_of_libc((const void *)(uintptr_t)clock_gettime) ? 0
                                                                         : PROBITY_CLOCK_BY_CALL;
}

uint32_t probity_clock_choose(int refuse_counter, int is_ordered)
{
    if (probity_os_counter_is_forbidden())
        return KIND_MONOTONIC_NS | PROBITY_CLOCK_BY_CALL;
    if (refuse_counter || !probity_cpu_counter_is_usable())
        return KIND_MONOTONIC_NS | how_to_read();
    return probity_cpu_counter_kind() | how_to_read() | (is_ordered ? PROBITY_CLOCK_ORDERED : 0);
}

int probity_clock_is_counter(uint32_t kind)
{
    return (kind & PROBITY_CLOCK_KIND) != KIND_MONOTONIC_NS;
}

int probity_clock_is_inline(uint32_t kind)
{
    return probity_clock_is_counter(kind) && (kind & PROBITY_CLOCK_ORDERED) == 0;
}

uint64_t probity_clock_ticks(uint32_t kind)
{
    if (!probity_clock_is_counter(kind))
        return probity_clock_read(kind, CLOCK_MONOTONIC);
    return kind & PROBITY_CLOCK_ORDERED ? probity_cpu_counter_ordered() : probity_cpu_counter();
}

/* All three clocks are read in one bracket. The moment is its midpoint, and the error of each clock
 * is half its width. REALTIME is read in the middle because it is the clock shown to people. */
void probity_clock_moment(uint32_t kind, uint64_t rate, int tries,
                          struct probity_clock_moment *ret_moment)
{
    uint64_t narrowest = UINT64_MAX;
    int before = errno;

    probity_assert(tries > 0);
    for (int i = 0; i < tries; i++) {
        uint64_t first = probity_clock_ticks(kind);
        uint64_t raw = probity_clock_read(kind, CLOCK_MONOTONIC_RAW);
        uint64_t realtime = probity_clock_read(kind, CLOCK_REALTIME);
        uint64_t monotonic = probity_clock_read(kind, CLOCK_MONOTONIC);
        int64_t width = (int64_t)(probity_clock_ticks(kind) - first);
        if (probity_ticks_magnitude(width) > narrowest)
            continue;
        narrowest = probity_ticks_magnitude(width);
        ret_moment->ticks = first + (uint64_t)(width / 2);
        ret_moment->raw_ns = raw;
        ret_moment->monotonic_ns = monotonic;
        ret_moment->realtime_ns = realtime;
    }
    uint64_t width_ns = rate != 0 ? probity_ns_of_ticks(narrowest, rate) : narrowest;
    ret_moment->width_ns = width_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)width_ns;
    errno = before;
}

int probity_clock_has_cpu(void)
{
    return 1;
}

uint64_t probity_clock_rate(const struct probity_clock_moment *first,
                            const struct probity_clock_moment *last)
{
    uint64_t ticks = last->ticks - first->ticks, ns = last->raw_ns - first->raw_ns;

    probity_assert(first != last);
    if ((int64_t)ticks <= 0 || (int64_t)ns <= 0)
        return 0;
    return (uint64_t)(((probity_wide)ns << 32) / (probity_wide)ticks);
}

uint64_t probity_clock_cpu(uint32_t kind, uint64_t bracket_ticks_max,
                           struct probity_clock_cpu *ret_cpu)
{
    uint64_t narrowest = UINT64_MAX;
    int before = errno;

    probity_assert(bracket_ticks_max > 0);
    for (int i = 0; i < CPU_TRIES; i++) {
        uint64_t first = probity_clock_ticks(kind);
        uint64_t cpu = probity_clock_read(kind, CLOCK_THREAD_CPUTIME_ID);
        int64_t width = (int64_t)(probity_clock_ticks(kind) - first);
        if (probity_ticks_magnitude(width) > narrowest)
            continue;
        narrowest = probity_ticks_magnitude(width);
        ret_cpu->tick = first + (uint64_t)(width / 2);
        ret_cpu->cpu_ns = cpu;
        if (narrowest < bracket_ticks_max)
            break;
    }
    errno = before;
    return narrowest;
}
