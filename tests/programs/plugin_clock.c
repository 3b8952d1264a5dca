/* SPDX-License-Identifier: MIT
 *
 * plugin_clock.c: for LD_PRELOAD: replaces clock_gettime(), as libfaketime does. Its clocks are a
 * day slow, and cannot be read once its destructor has run.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now);

enum { PAGE_BYTES = 4096, DAY_S = 86400 };

static time_t *slow_s; /* on a page that can be made unreadable */

__attribute__((constructor)) static void begin(void)
{
    slow_s = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *slow_s = DAY_S;
}

__attribute__((destructor)) static void end(void)
{
    mprotect(slow_s, PAGE_BYTES, PROT_NONE);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);

    if (result == 0 && slow_s != NULL)
        now->tv_sec -= *slow_s;
    return result;
}
