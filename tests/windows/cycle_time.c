/* SPDX-License-Identifier: MIT
 *
 * cycle_time.c: CPU time if QueryThreadCycleTime is missing, as in Wine 8: a function of this
 * program replaces it. It counts like the processor's counter, except while the thread is in
 * rest(). Probes 1 and 2 enclose work, 2 and 3 rest.
 */
#include <windows.h>
#include <x86intrin.h>

#include "probity.h"

enum { ROUNDS = 20, MS = 5 };

static ULONG64 rested;

static BOOL WINAPI count_cycles(HANDLE thread, PULONG64 ret_cycles)
{
    (void)thread;
    *ret_cycles = __rdtsc() - rested;
    return TRUE;
}

/* The pointer through which the function is called. */
BOOL(WINAPI *__imp_QueryThreadCycleTime)(HANDLE, PULONG64) = count_cycles;

static void work(void)
{
    LARGE_INTEGER frequency, first, now;

    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&first);
    do
        QueryPerformanceCounter(&now);
    while ((now.QuadPart - first.QuadPart) * 1000 < MS * frequency.QuadPart);
}

static void rest(void)
{
    ULONG64 before = __rdtsc();

    Sleep(MS);
    rested += __rdtsc() - before;
}

int main(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        PROBITY_PROBE(1);
        work();
        PROBITY_PROBE(2);
        rest();
        PROBITY_PROBE(3);
    }
    return 0;
}
