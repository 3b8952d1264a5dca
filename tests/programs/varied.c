/* SPDX-License-Identifier: MIT
 *
 * varied.c: functions that do known amounts of work, one of which can be made PERCENT slower.
 * Prints nothing. The work is a number of steps, not a time, so that the machine's influence is
 * visible.
 *
 *     varied PERCENT [ROUNDS]
 */
#include <stdint.h>
#include <stdlib.h>

#define FN_INSTRUMENT
#include <FnTrace.h>

#define NOINLINE __attribute__((noinline))

enum { ROUNDS = 100, UNIT = 2000, MORE_CALLS_EACH = 4 };

static volatile uint64_t result;

/* Not instrumented. Each step depends on the previous one, so that all cost the same. */
static NOINLINE void work(int steps)
{
    uint64_t value = 1;

    for (int i = 0; i < steps; i++)
        value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    result = value;
}

static NOINLINE void brief(int round)
{
    FN_FUNC(FN_VOID, FN_1);
    work(UNIT + round % 7 * UNIT / 20);
}

static NOINLINE void steady(int round)
{
    FN_FUNC(FN_VOID, FN_1);
    work(10 * UNIT + round % 5 * UNIT / 2);
    for (int i = 0; i < MORE_CALLS_EACH; i++)
        brief(round + i);
}

static NOINLINE void slowed(int round, int percent)
{
    FN_FUNC(FN_VOID, FN_1);
    work((10 * UNIT + round % 5 * UNIT / 2) / 100 * (100 + percent));
}

/* Called only if something must be slower. */
static NOINLINE void added(void)
{
    FN_FUNC(FN_VOID, FN_1);
    work(UNIT);
}

int main(int argc, char **argv)
{
    int percent = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : ROUNDS;
    FN_FUNC(int, FN_1);

    for (int round = 0; round < rounds; round++) {
        steady(round);
        slowed(round, percent);
    }
    if (percent != 0)
        added();
    return 0;
}
