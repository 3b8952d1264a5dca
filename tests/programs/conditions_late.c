/* SPDX-License-Identifier: MIT
 *
 * conditions_late.c: calls and blocks during which the thread loses its CPU for LOST_NS, after each
 * of some hundred instructions of the record path in turn, and thus before and after clock readings
 * and stores of records. Nothing else takes long.
 *
 *     conditions_late KIND
 *
 * KIND: plain, values, text (of calls), result, block (probe 1 to probe 2), call (of a function
 * without a macro, if the program is compiled with -finstrument-functions).
 *
 * Prints "lost N": how many times the CPU was lost. Exit status 77: not supported here.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"
#include "probity.h"
#include "programs/stepped.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#if STEPPED
enum { LOSSES = 60, LOST_NS = 1000000 };
#define NOT_CALLED __attribute__((no_instrument_function))

NOT_CALLED static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

NOT_CALLED static void lose_cpu(void)
{
    for (uint64_t begun = now_ns(); now_ns() - begun < LOST_NS;)
        continue;
}

__attribute__((noinline)) NOT_CALLED static void plain(void)
{
    FN_FUNC(void, FN_1);
}

__attribute__((noinline)) NOT_CALLED static void values(int one, long two)
{
    FN_FUNC_PARAMS(void, FN_VOID, FN_1, 2, one, two);
}

__attribute__((noinline)) NOT_CALLED static void text(const char *one)
{
    FN_FUNC_PARAMS(void, FN_VOID, FN_1, 1, one);
}

__attribute__((noinline)) NOT_CALLED static int result(int one)
{
    int twice = 0;
    FN_FUNC_PARAMS(int, twice, FN_1, 1, one);

    twice = 2 * one;
    return twice;
}

__attribute__((noinline)) void call(void)
{
    __asm__ volatile("");
}

NOT_CALLED static void run(const char *kind)
{
    if (strcmp(kind, "plain") == 0)
        plain();
    else if (strcmp(kind, "values") == 0)
        values(1, 2);
    else if (strcmp(kind, "text") == 0)
        text("one");
    else if (strcmp(kind, "result") == 0)
        result(1);
    else if (strcmp(kind, "call") == 0)
        call();
    else
        PROBITY_PROBE(2);
}

/* Returns whether the CPU was lost, which requires at least `steps` instructions. */
NOT_CALLED static int lose_after(const char *kind, long steps)
{
    PROBITY_PROBE(1);
    stepped_begin(steps, lose_cpu);
    run(kind);
    return stepped_end();
}

NOT_CALLED int main(int argc, char **argv)
{
    const long all = 1000000;
    int lost = 0;

    if (argc != 2)
        return 2;
    stepped.stops_at_mask = stepped.passes_calls = 1;
    run(argv[1]); /* declares its site */
    lose_after(argv[1], all);
    long steps = all - stepped.left, stride = steps / LOSSES + 1;
    for (long i = 1; i <= steps; i += stride)
        lost += lose_after(argv[1], i);
    printf("lost %d\n", lost);
    return 0;
}
#else
int main(void)
{
    return 77;
}
#endif
