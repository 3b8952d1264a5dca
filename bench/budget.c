/* SPDX-License-Identifier: MIT
 *
 * budget.c: the workload of budget.sh: functions that call a leaf, at a rate that the work in the
 * leaf determines. Prints the CPU time of the process in seconds, including that of the writer
 * thread. Compiled with PLAIN, it has no macros.
 *
 *     budget ROUNDS CALLS      CALLS of a leaf, each with ROUNDS of work
 */
#ifndef PLAIN
#define FN_INSTRUMENT
#include "FnTrace.h"
#else
#define FN_FUNC(type, level)
#endif
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LEAVES = 100 };

static volatile unsigned long sink;

static __attribute__((noinline)) void leaf(unsigned long rounds)
{
    FN_FUNC(void, 1);
    unsigned long a = sink;

    for (unsigned long i = 0; i < rounds; i++)
        a = (a ^ a >> 7) * 0x9e3779b97f4a7c15ul;
    sink = a;
}

static __attribute__((noinline)) void middle(unsigned long rounds)
{
    FN_FUNC(void, 1);
    for (int i = 0; i < LEAVES; i++)
        leaf(rounds);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    double before = seconds();

    for (unsigned long i = 0; i < calls / LEAVES; i++)
        middle(rounds);
    printf("%.6f\n", seconds() - before);
    return 0;
}
