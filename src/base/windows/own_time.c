/* SPDX-License-Identifier: MIT
 *
 * windows/own_time.c: see own_time.h.
 */
#include "base/windows/own_time.h"

#include <windows.h>

#include "base/ticks.h"

enum {
    TRIES = 8,
    ERROR_MAX = 1000,    /* in millionths: a measurement of this accuracy is enough */
    LONG_STEPS = 200000, /* per second: a longer step was interrupted */
    MILLIONTHS = 1000000
};

/* ns per cycle × 2^32; 0: not measured, or not available. */
static uint64_t rate;
static uint32_t rate_error;

/* The number of cycles at a moment of the performance counter between two readings. */
struct moment {
    LONGLONG first, last;
    ULONG64 cycles;
};

/* Ticks between moments. */
struct steps {
    uint64_t longest, shortest, interrupted;
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

/* Adds to the ticks in which the thread may have been interrupted, so that no cycles were counted.
 * Adds long steps in full. Short steps differ because the counter is rounded: adds the difference
 * between the longest and the shortest. */
static void note_step(struct steps *steps, uint64_t ticks, uint64_t long_ticks)
{
    if (ticks >= long_ticks)
        steps->interrupted += ticks;
    else if (ticks > steps->longest)
        steps->longest = ticks;
    if (ticks < steps->shortest)
        steps->shortest = ticks;
}

/* Takes moments until the error is small enough, but for at most a millisecond. Stores the rate and
 * its error in millionths: the first and the last moment may be anywhere between their readings,
 * which are rounded down to ticks. Returns 0, or -1 on failure. If the thread was interrupted,
 * returns 1, at once unless this is the last try. */
static int measure_once(uint64_t frequency, int is_last, uint64_t *ret_rate,
                        uint32_t *ret_error)
{
    struct steps steps = {.shortest = UINT64_MAX};
    struct moment begin, end;
    uint64_t ticks, error;

    if (moment_take(&begin) != 0)
        return -1;
    LONGLONG before = begin.last;
    do {
        if (moment_take(&end) != 0)
            return -1;
        note_step(&steps, (uint64_t)(end.last - before), frequency / LONG_STEPS + 1);
        before = end.last;
        uint64_t least = (uint64_t)(end.first - begin.last);
        uint64_t most = (uint64_t)(end.last - begin.first);
        uint64_t doubt = (most - least) / 2 + 2 + steps.interrupted;
        if (steps.interrupted > 0 && !is_last)
            return 1;
        if (steps.longest > steps.shortest)
            doubt += steps.longest - steps.shortest;
        ticks = least + (most - least) / 2;
        error = ticks > doubt ? doubt * MILLIONTHS / (ticks - doubt) + 1 : MILLIONTHS;
    } while (error > ERROR_MAX && ticks * 1000 < frequency);
    if (end.cycles <= begin.cycles || ticks == 0)
        return -1;
    probity_wide ns = (probity_wide)ticks * 1000000000 / frequency;
    *ret_rate = (uint64_t)((ns << 32) / (end.cycles - begin.cycles));
    *ret_error = error < MILLIONTHS ? (uint32_t)error : MILLIONTHS;
    return 0;
}

/* Repeats a measurement that was interrupted. */
static uint64_t measure(uint32_t *ret_error)
{
    LARGE_INTEGER frequency;
    uint64_t found = 0;

    QueryPerformanceFrequency(&frequency);
    if (frequency.QuadPart <= 0)
        return 0;
    for (int i = 1, result = 1; i <= TRIES && result > 0; i++) {
        result = measure_once((uint64_t)frequency.QuadPart, i == TRIES, &found, ret_error);
        if (result < 0)
            return 0;
    }
    return found;
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
