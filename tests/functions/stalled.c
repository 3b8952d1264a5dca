/* SPDX-License-Identifier: MIT
 *
 * stalled.c: functions without macros, one of which is slow three times. Prints how often it
 * certainly was slow.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>

static volatile unsigned sink;

__attribute__((noinline)) void small(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        sink += i;
}

__attribute__((noinline)) void serve(int is_slow)
{
    struct timespec rest = {0, 60000000};

    small(10);
    while (is_slow && nanosleep(&rest, &rest) != 0 && errno == EINTR)
        continue;
    small(10);
}

int main(void)
{
    for (int i = 0; i < 300000; i++)
        serve(i % 100000 == 99999);
    puts("slow 3");
    return 0;
}
