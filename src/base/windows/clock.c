/* SPDX-License-Identifier: MIT
 *
 * windows/clock.c: clock.h. Ticks come from the CPU's counter if CPUID reports that it runs at one
 * rate, otherwise from QueryPerformanceCounter. A thread's CPU time comes from
 * QueryThreadCycleTime, at a rate that is measured once.
 */
#include "base/clock.h"

#include <windows.h>

#include "base/assert.h"
#include "base/cpu.h"
#include "base/os.h"
#include "base/ticks.h"
#include "base/windows/own_time.h"

enum { KIND_MONOTONIC_NS = 3, CPU_TRIES = 4 };

/* 100 ns units from 1601 to 1970. */
#define EPOCH UINT64_C(116444736000000000)

static uint64_t performance_ns(void)
{
    LARGE_INTEGER frequency, now;

    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&now);
    if (frequency.QuadPart <= 0)
        return 0;
    return (uint64_t)((probity_wide)now.QuadPart * 1000000000 / frequency.QuadPart);
}

static uint64_t realtime_ns(void)
{
    FILETIME now;

    GetSystemTimePreciseAsFileTime(&now);
    return (((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime) - EPOCH) * 100;
}

uint64_t probity_clock_read(uint32_t kind, clockid_t clock)
{
    (void)kind;
    switch (clock) {
    case CLOCK_REALTIME: return realtime_ns();
    case CLOCK_THREAD_CPUTIME_ID: return probity_own_time_read();
    default: return performance_ns();
    }
}

uint32_t probity_clock_choose(int refuse_counter, int is_ordered)
{
    if (refuse_counter || !probity_cpu_counter_is_usable())
        return KIND_MONOTONIC_NS;
    return probity_cpu_counter_kind() | (is_ordered ? PROBITY_CLOCK_ORDERED : 0);
}

int probity_clock_has_cpu(void)
{
    return probity_own_time_ready();
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
        return performance_ns();
    return kind & PROBITY_CLOCK_ORDERED ? probity_cpu_counter_ordered() : probity_cpu_counter();
}

/* As on Linux: the narrowest of several brackets. The performance counter is used for both clocks
 * that never step. */
void probity_clock_moment(uint32_t kind, uint64_t rate, int tries,
                          struct probity_clock_moment *ret_moment)
{
    uint64_t narrowest = UINT64_MAX;

    probity_assert(tries > 0);
    for (int i = 0; i < tries; i++) {
        uint64_t first = probity_clock_ticks(kind);
        uint64_t performance = performance_ns(), realtime = realtime_ns();
        int64_t width = (int64_t)(probity_clock_ticks(kind) - first);
        if (probity_ticks_magnitude(width) > narrowest)
            continue;
        narrowest = probity_ticks_magnitude(width);
        ret_moment->ticks = first + (uint64_t)(width / 2);
        ret_moment->raw_ns = ret_moment->monotonic_ns = performance;
        ret_moment->realtime_ns = realtime;
    }
    uint64_t width_ns = rate != 0 ? probity_ns_of_ticks(narrowest, rate) : narrowest;
    ret_moment->width_ns = width_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)width_ns;
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

    probity_assert(bracket_ticks_max > 0);
    for (int i = 0; i < CPU_TRIES; i++) {
        uint64_t first = probity_clock_ticks(kind), cpu = probity_own_time_read();
        int64_t width = (int64_t)(probity_clock_ticks(kind) - first);
        if (probity_ticks_magnitude(width) > narrowest)
            continue;
        narrowest = probity_ticks_magnitude(width);
        ret_cpu->tick = first + (uint64_t)(width / 2);
        ret_cpu->cpu_ns = cpu;
        if (narrowest < bracket_ticks_max)
            break;
    }
    return narrowest;
}
