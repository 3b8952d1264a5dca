/* SPDX-License-Identifier: MIT
 *
 * plugin_wall_clock.c: for LD_PRELOAD: shifts one program's wall clock by replacing the two
 * functions of libc that read it. The shift in seconds is in the file named by WALL_CLOCK.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "programs/next_syscall.h"

int clock_gettime(clockid_t clock, struct timespec *now);
long syscall(long number, ...);

static long offset_s(void)
{
    const char *path = getenv("WALL_CLOCK");
    char text[32] = "";
    int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (file >= 0 && read(file, text, sizeof text - 1) < 0)
        text[0] = 0;
    if (file >= 0)
        close(file);
    return strtol(text, NULL, 10);
}

long syscall(long number, ...)
{
    va_list list;

    va_start(list, number);
    struct syscall_values values = syscall_values_of(list);
    va_end(list);
    long result = next_syscall(number, &values);
    if (number == SYS_clock_gettime && values.at[0] == CLOCK_REALTIME && result == 0)
        ((struct timespec *)(uintptr_t)values.at[1])->tv_sec += offset_s();
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    return (int)syscall(SYS_clock_gettime, (long)clock, now);
}
