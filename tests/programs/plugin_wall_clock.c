/* SPDX-License-Identifier: MIT
 *
 * plugin_wall_clock.c: for LD_PRELOAD: shifts one program's wall clock by replacing the two
 * functions of libc that read it. The file named by WALL_CLOCK has the shift in seconds.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now);
long syscall(long number, ...);

typedef long call(long number, ...);

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
    long values[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        values[i] = va_arg(list, long);
    va_end(list);
    call *next = (call *)(uintptr_t)dlsym(RTLD_NEXT, "syscall");
    long result =
        next(number, values[0], values[1], values[2], values[3], values[4], values[5]);
    if (number == SYS_clock_gettime && values[0] == CLOCK_REALTIME && result == 0)
        ((struct timespec *)(uintptr_t)values[1])->tv_sec += offset_s();
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    return (int)syscall(SYS_clock_gettime, (long)clock, now);
}
