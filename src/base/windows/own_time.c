/* SPDX-License-Identifier: MIT
 *
 * windows/own_time.c: see own_time.h.
 */
#include "base/windows/own_time.h"

#include <windows.h>

#include "base/ticks.h"

enum { TRIES = 5, MILLIONTHS = 1000000 };

/* ns per cycle × 2^32; 0: not measured, or not available. */
static uint64_t rate;
static uint32_t rate_error;

/* The number of cycles at a moment of the performance counter that lies between two readings. */
struct moment {
    LONGLONG first, last;
    ULONG64 cycles;
};

static int moment_take(struct moment *ret_moment)
{
    LARGE_INTEGER first, last;

    QueryPerformanceCounter(&first);
    if (!QueryThreadCycleTime(GetCurrentThread(), &ret_moment->cycles))
        return -1;
    QueryPerformanceCounter(&last);
    ret_moment->first = first.QuadPart;
    ret_moment->last = last.QuadPart;
    return 0;
}

/* Spins for a millisecond. Stores the rate and its error in millionths: either moment may be
 * anywhere between its readings, which are rounded down to ticks. Returns 0 or -1. */
static int measure_once(uint64_t frequency, uint64_t *ret_rate, uint32_t *ret_error)
{
    struct moment begin, end;

    if (moment_take(&begin) != 0)
        return -1;
    do {
        if (moment_take(&end) != 0)
            return -1;
    } while ((uint64_t)(end.first - begin.last) * 1000 < frequency);
    if (end.cycles <= begin.cycles)
        return -1;
    uint64_t least = (uint64_t)(end.first - begin.last), most = (uint64_t)(end.last - begin.first);
    uint64_t ticks = least + (most - least) / 2, doubt = (most - least) / 2 + 2;
    probity_wide ns = (probity_wide)ticks * 1000000000 / frequency;
    *ret_rate = (uint64_t)((ns << 32) / (end.cycles - begin.cycles));
    *ret_error = (uint32_t)((doubt * MILLIONTHS + ticks - 1) / ticks);
    return 0;
}

/* If the thread is preempted, fewer cycles are counted in the same time, so the rate is too high:
 * the lowest of several is used. */
static uint64_t measure(uint32_t *ret_error)
{
    LARGE_INTEGER frequency;
    uint64_t least = 0, found;
    uint32_t error;

    QueryPerformanceFrequency(&frequency);
    if (frequency.QuadPart <= 0)
        return 0;
    for (int i = 0; i < TRIES; i++) {
        if (measure_once((uint64_t)frequency.QuadPart, &found, &error) != 0)
            return 0;
        if (least != 0 && found >= least)
            continue;
        least = found;
        *ret_error = error;
    }
    return least;
}

int probity_own_time_ready(void)
{
    uint32_t error = 0;

    if (__atomic_load_n(&rate, __ATOMIC_RELAXED) == 0) {
        __atomic_store_n(&rate, measure(&error), __ATOMIC_RELAXED);
        __atomic_store_n(&rate_error, error, __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&rate, __ATOMIC_RELAXED) != 0;
}

uint32_t probity_own_time_error(void)
{
    return __atomic_load_n(&rate_error, __ATOMIC_RELAXED);
}

uint64_t probity_own_time_read(void)
{
    uint64_t known = __atomic_load_n(&rate, __ATOMIC_RELAXED);
    ULONG64 cycles;

    if (known == 0 || !QueryThreadCycleTime(GetCurrentThread(), &cycles))
        return 0;
    return probity_ns_of_ticks(cycles, known);
}
