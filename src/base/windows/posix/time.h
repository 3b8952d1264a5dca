/* SPDX-License-Identifier: MIT
 *
 * posix/time.h: clocks of POSIX, with their numbers on Linux.
 */
#ifndef PROBITY_POSIX_TIME_H
#define PROBITY_POSIX_TIME_H

/* Suppresses winpthreads' declarations. */
#define WIN_PTHREADS_TIME_H
#include_next <time.h>

typedef int clockid_t;
enum {
    CLOCK_REALTIME = 0,
    CLOCK_MONOTONIC = 1,
    CLOCK_PROCESS_CPUTIME_ID = 2,
    CLOCK_THREAD_CPUTIME_ID = 3,
    CLOCK_MONOTONIC_RAW = 4,
    CLOCK_BOOTTIME = 7
};
int clock_gettime(clockid_t clock, struct timespec *ret_now) __asm__("probity_posix_clock_gettime");
int nanosleep(const struct timespec *time, struct timespec *ret_left)
    __asm__("probity_posix_nanosleep");
struct tm *localtime_r(const time_t *time, struct tm *ret_time) __asm__("probity_posix_localtime");
struct tm *gmtime_r(const time_t *time, struct tm *ret_time) __asm__("probity_posix_gmtime");

time_t timegm(struct tm *time) __asm__("_mkgmtime64");

#endif
