/* SPDX-License-Identifier: MIT
 *
 * windows/own_time.c: see own_time.h.
 */
#include "base/windows/own_time.h"

#include <windows.h>

#include "base/ticks.h"

/* ns per cycle × 2^32; 0: not measured, or not available. */
static uint64_t rate;

/* Spins for a millisecond. If the thread was preempted, fewer cycles are counted, so the largest of
 * several results is used. */
static uint64_t measure(void)
{
    enum { TRIES = 5, PARTS = 5000 };
    LARGE_INTEGER frequency, first, now;
    ULONG64 before, after;
    uint64_t least = 0;

    QueryPerformanceFrequency(&frequency);
    for (int i = 0; i < TRIES; i++) {
        if (!QueryThreadCycleTime(GetCurrentThread(), &before))
            return 0;
        QueryPerformanceCounter(&first);
        do
            QueryPerformanceCounter(&now);
        while ((now.QuadPart - first.QuadPart) * PARTS < frequency.QuadPart);
        if (!QueryThreadCycleTime(GetCurrentThread(), &after) || after <= before)
            return 0;
        probity_wide ns = (probity_wide)(now.QuadPart - first.QuadPart) * 1000000000 /
                          frequency.QuadPart;
        uint64_t found = (uint64_t)((ns << 32) / (probity_wide)(after - before));
        least = least == 0 || found < least ? found : least;
    }
    return least;
}

int probity_own_time_ready(void)
{
    if (__atomic_load_n(&rate, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(&rate, measure(), __ATOMIC_RELAXED);
    return __atomic_load_n(&rate, __ATOMIC_RELAXED) != 0;
}

uint64_t probity_own_time_read(void)
{
    uint64_t known = __atomic_load_n(&rate, __ATOMIC_RELAXED);
    ULONG64 cycles;

    if (known == 0 || !QueryThreadCycleTime(GetCurrentThread(), &cycles))
        return 0;
    return probity_ns_of_ticks(cycles, known);
}
