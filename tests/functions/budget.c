/* SPDX-License-Identifier: MIT
 *
 * budget.c: like tests/programs/budget.c, without macros and in one thread: prints how often each
 * function was called.
 *
 *     budget CALLS [TIMES]     each call of `often` adds TIMES numbers, by default 4
 */
#include <stdio.h>
#include <stdlib.h>

enum { OFTEN_IN_SELDOM = 1000 };

static volatile double sink;
static int times = 4;

/* Arguments and results in vector registers: hooks must keep them. */
__attribute__((noinline)) double often(double value, int count)
{
    for (volatile int i = 0; i < count; i++)
        sink += 1;
    return value + 1;
}

__attribute__((noinline)) double seldom(double value)
{
    for (int i = 0; i < OFTEN_IN_SELDOM; i++)
        value = often(value, times);
    return value;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) / OFTEN_IN_SELDOM : 0;
    double value = 0;

    times = argc > 2 ? (int)strtol(argv[2], NULL, 10) : times;
    for (long i = 0; i < rounds; i++)
        value = seldom(value);
    printf("main 1\noften %.0f\nseldom %ld\n", value, rounds);
    return 0;
}
