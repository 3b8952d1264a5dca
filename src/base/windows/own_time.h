/* SPDX-License-Identifier: MIT
 *
 * windows/own_time.h: the CPU time of the calling thread, from QueryThreadCycleTime. It counts
 * processor cycles, so the rate is measured once, against QueryPerformanceCounter.
 */
#ifndef PROBITY_BASE_WINDOWS_OWN_TIME_H
#define PROBITY_BASE_WINDOWS_OWN_TIME_H

#include <stdint.h>

/* Measures the rate unless it is known, which takes half a millisecond, or a few milliseconds if
 * the thread is interrupted. Returns 1, or 0 if the system does not count cycles: then there are no
 * CPU times. GetThreadTimes is not used in its place, since its tick of 10 to 16 ms is longer than
 * most measured times. */
int probity_own_time_ready(void);

/* Maximum relative error of the rate, in millionths, at least 1; 0 if the rate is unknown. */
uint32_t probity_own_time_error(void);

/* CPU time in ns; 0 if the rate is unknown. */
uint64_t probity_own_time_read(void);

#endif
