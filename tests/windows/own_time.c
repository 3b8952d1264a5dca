/* SPDX-License-Identifier: MIT
 *
 * own_time.c: measures how long the measurement of the rate of cycles takes, and its error, with
 * clocks of this program. These advance with each reading: the performance counter, of 10 MHz, by
 * one tick, and the cycles by 300. So a cycle takes a third of a nanosecond. Usage: own_time
 * [READING TICKS ROUNDS]: at every READING-th reading, ROUNDS times in all, TICKS pass without
 * cycles. Prints the duration in us, the rate's deviation in millionths, and the reported error.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#include "base/ticks.h"
#include "base/windows/own_time.h"

enum { CYCLES_PER_TICK = 300, FREQUENCY = 10000000 };

static LONGLONG now, lost;
static long readings, interrupt_at, interrupt_ticks, interrupts;

static WINBOOL WINAPI count_ticks(LARGE_INTEGER *ret_now)
{
    readings++;
    now++;
    if (interrupt_at > 0 && interrupts > 0 && readings % interrupt_at == 0) {
        now += interrupt_ticks;
        lost += interrupt_ticks;
        interrupts--;
    }
    ret_now->QuadPart = now;
    return TRUE;
}

static WINBOOL WINAPI frequency(LARGE_INTEGER *ret_frequency)
{
    ret_frequency->QuadPart = FREQUENCY;
    return TRUE;
}

static WINBOOL WINAPI count_cycles(HANDLE thread, PULONG64 ret_cycles)
{
    (void)thread;
    *ret_cycles = (ULONG64)(now - lost) * CYCLES_PER_TICK + CYCLES_PER_TICK / 2;
    return TRUE;
}

/* The pointers through which the functions are called. */
WINBOOL(WINAPI *__imp_QueryPerformanceCounter)(LARGE_INTEGER *) = count_ticks;
WINBOOL(WINAPI *__imp_QueryPerformanceFrequency)(LARGE_INTEGER *) = frequency;
WINBOOL(WINAPI *__imp_QueryThreadCycleTime)(HANDLE, PULONG64) = count_cycles;

int main(int count, char **arguments)
{
    const uint64_t cycles = UINT64_C(3000000000);

    if (count > 3) {
        interrupt_at = strtol(arguments[1], NULL, 10);
        interrupt_ticks = strtol(arguments[2], NULL, 10);
        interrupts = strtol(arguments[3], NULL, 10);
    }
    if (!probity_own_time_ready())
        return 1;
    LONGLONG took = now;
    /* The cycles of one second by the measured rate, and then by the true one. */
    now = (LONGLONG)(cycles / CYCLES_PER_TICK) + lost;
    int64_t deviation = (int64_t)probity_own_time_read() - 1000000000;
    printf("%ld %ld %u\n", (long)(took / (FREQUENCY / 1000000)), labs((long)(deviation / 1000)),
           probity_own_time_error());
    return 0;
}
