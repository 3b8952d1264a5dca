/* SPDX-License-Identifier: MIT
 *
 * corrected.c TRACE: functions that take 0 and 100 ns, with and without scopes and probes. The
 * times without them are the true values of the times that a report shows for the others after
 * subtracting recording overhead (bench/corrected.sh). Windows of both alternate. None replaces its
 * chunk, which is not part of the measured cost. A window that took half as long again as the
 * median, because another program ran, counts as the median.
 *
 * Prints "from" and a time for `probity report --since`, then each function and its total time in
 * ns.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

enum { WINDOWS = 40, CALLS = 200, WORDS = 12 };

static uint64_t rounds;
static struct bench_work work = {1, 2, 3, 4, 5, 6};

static inline __attribute__((always_inline)) void nothing(void)
{
    __asm__ volatile("" : : : "memory");
}

static NOINLINE void empty(void)
{
    FN_FUNC(FN_VOID, FN_1);
    nothing();
}

static NOINLINE void hundred(void)
{
    FN_FUNC(FN_VOID, FN_1);
    bench_work_do(&work, rounds);
}

static NOINLINE int valued(int a, int b, int c, int d)
{
    int result = a;

    FN_FUNC_PARAMS(int, result, FN_1, 4, a, b, c, d);
    bench_work_do(&work, rounds);
    return result + b + c + d;
}

static NOINLINE void probing(void)
{
    FN_FUNC(FN_VOID, FN_1);
    bench_work_do(&work, rounds);
    PROBITY_PROBE(1);
    bench_work_do(&work, rounds);
    PROBITY_PROBE(2);
    bench_work_do(&work, rounds);
}

/* The same functions without scopes. */
static NOINLINE void plain_empty(void)
{
    nothing();
}

static NOINLINE void plain_hundred(void)
{
    bench_work_do(&work, rounds);
}

static NOINLINE int plain_valued(int a, int b, int c, int d)
{
    bench_work_do(&work, rounds);
    return a + b + c + d;
}

static NOINLINE void plain_probing(void)
{
    bench_work_do(&work, rounds);
    bench_work_do(&work, rounds);
    bench_work_do(&work, rounds);
}

/* One caller with a scope, and one without, which is timed. */
#define CALLERS(name, arguments)                                                                   \
    static NOINLINE void call_##name(void)                                                         \
    {                                                                                              \
        FN_FUNC(FN_VOID, FN_1);                                                                    \
        for (int i = 0; i < CALLS; i++)                                                            \
            name arguments;                                                                        \
    }                                                                                              \
    static NOINLINE uint64_t call_plain_##name(void)                                               \
    {                                                                                              \
        uint64_t first = probity_ticks();                                                          \
        for (int i = 0; i < CALLS; i++)                                                            \
            plain_##name arguments;                                                                \
        return probity_ticks() - first;                                                            \
    }

CALLERS(empty, ())
CALLERS(hundred, ())
CALLERS(valued, (i, 2, 3, 4))
CALLERS(probing, ())

static const struct subject {
    const char *name;
    void (*call)(void);
    uint64_t (*call_plain)(void);
} subjects[] = {{"empty", call_empty, call_plain_empty},
                {"hundred", call_hundred, call_plain_hundred},
                {"valued", call_valued, call_plain_valued},
                {"probing", call_probing, call_plain_probing}};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static uint64_t plain_ticks[SUBJECTS][WINDOWS];

static int compare(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static uint64_t undisturbed_sum(uint64_t windows[WINDOWS])
{
    uint64_t sum = 0;

    qsort(windows, WINDOWS, sizeof *windows, compare);
    uint64_t median = windows[WINDOWS / 2];
    for (int i = 0; i < WINDOWS; i++)
        sum += windows[i] > median + median / 2 ? median : windows[i];
    return sum;
}

int main(int argc, char **argv)
{
    struct probity_options options = {.overwrite = PROBITY_ON};
    uint64_t ticks[SUBJECTS];
    struct timespec from;

    if (argc != 2)
        bench_fail("usage: corrected TRACE");
    options.out = argv[1];
    rounds = bench_work_rounds(100);
    if (probity_start(&options) != 0)
        return 1;
    bench_pin(0);
    for (int i = 0; i < SUBJECTS; i++)
        subjects[i].call(); /* a site is declared at its first call, which is slow */
    clock_gettime(CLOCK_REALTIME, &from);
    for (int window = 0; window < WINDOWS; window++) {
        for (int i = 0; i < SUBJECTS; i++) {
            bench_need_chunk(CALLS * WORDS);
            subjects[i].call();
            plain_ticks[i][window] = subjects[i].call_plain();
        }
    }
    if (probity_stop() != 0)
        return 1;
    printf("from @%lld.%09ld\n", (long long)from.tv_sec, from.tv_nsec);
    for (int i = 0; i < SUBJECTS; i++)
        ticks[i] = undisturbed_sum(plain_ticks[i]);
    for (int i = 0; i < SUBJECTS; i++) {
        /* Call and return belong to the caller's time. */
        double own = bench_ns_of(ticks[i] - (ticks[i] > ticks[0] ? ticks[0] : ticks[i]));
        printf("%s %.0f\n", subjects[i].name, own);
        printf("call_%s %.0f\n", subjects[i].name, bench_ns_of(ticks[i]));
    }
    return 0;
}
