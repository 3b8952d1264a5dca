/* SPDX-License-Identifier: MIT
 *
 * usdt.c: passes each kind of marker of probity_usdt.h. Argument: how often. Prints how often each
 * marker is passed.
 */
#define PROBITY_USDT
#define FN_INSTRUMENT
#include <stdio.h>
#include <stdlib.h>

#include "FnTrace.h"
#include "probity_typed.h"

static int times_called;

static int count_up(int by)
{
    int sum = times_called + by;

    FN_FUNC_PARAMS(int, sum, FN_2, 1, by);
    times_called = sum;
    return sum;
}

static void inner(unsigned i)
{
    FN_FUNC(void, FN_1);
    unsigned number = 100 + i % 3;

    PROBITY_PROBE(7);
    PROBITY_PROBE(number++);
    PROBITY_PROBE_NAMED("parsed");
    PROBITY_QUEUE_PUT("jobs", &times_called, i);
    PROBITY_PROBE_WITH(9, i);
    if (number != 101 + i % 3)
        printf("an argument was evaluated more than once\n");
}

int main(int argc, char **argv)
{
    unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    int sum = 0;

    for (unsigned i = 0; i < times; i++) {
        inner(i);
        sum += count_up(1);
    }
    printf("function_enter %u\nfunction_leave %u\nprobe_7 %u\nprobe %u\nparsed %u\njobs__put %u\n"
           "probe_with %u\n", 2 * times, 2 * times, times, times, times, times, times);
    return sum < 0;
}
