/* SPDX-License-Identifier: MIT
 *
 * windows/own_time.h: the CPU time of the calling thread, from QueryThreadCycleTime. It counts
 * processor cycles, so the rate is measured once, against QueryPerformanceCounter.
 */
#ifndef PROBITY_BASE_WINDOWS_OWN_TIME_H
#define PROBITY_BASE_WINDOWS_OWN_TIME_H

#include <stdint.h>

/* Measures the rate unless it is known, which takes half a millisecond, or a few if the thread is
 * interrupted. Returns 1, or 0 if the system does not count cycles: then there are no CPU times.
 * GetThreadTimes is not used instead, since its tick of 10 to 16 ms is longer than most of what is
 * measured. */
int probity_own_time_ready(void);

/* Largest relative error of the rate, in millionths, at least 1; 0 if it is not known. */
uint32_t probity_own_time_error(void);

/* In ns; 0 if the rate is not known. */
uint64_t probity_own_time_read(void);

#endif
