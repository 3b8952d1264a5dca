/* SPDX-License-Identifier: MIT
 *
 * ordered.c TRACE: calls a function of 100 multiplications, each of which depends on the previous
 * product, with a plain scope and with an ordered one. The function's time without a scope is the
 * difference between 200 and 100 multiplications, timed by serialized clock readings, whose cost
 * cancels out. The kinds of calls alternate in short windows, so that the clock rate is the same
 * for all.
 *
 * Prints "from" and a time for `probity report --since`, the number of calls of each function, the
 * true time of a call in ns and its spread in the middle half of the windows (it varies if the
 * processor changes its speed), and how many ns per call were lost to interrupts, other threads or
 * the hypervisor: in windows that took at least one and a half times the median. Then the minimum
 * time of a hit over all windows, in ns.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((__noinline__))

enum { WINDOWS = 41, CALLS = 20, LINKS = 100 };

static uint64_t seed = 0x1234567;

static inline __attribute__((__always_inline__)) uint64_t multiply(uint64_t value, int links)
{
    for (int i = 0; i < links; i++) {
        value *= UINT64_C(0x9e3779b97f4a7c15);
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

static NOINLINE uint64_t chain(uint64_t value)
{
    FN_FUNC(uint64_t, FN_1);
    value = multiply(value, LINKS);
    return value;
}

static NOINLINE uint64_t chain_ordered(uint64_t value)
{
    FN_ORDERED(FN_FUNC(uint64_t, FN_1));
    value = multiply(value, LINKS);
    return value;
}

static NOINLINE uint64_t plain(uint64_t value)
{
    return multiply(value, LINKS);
}

static NOINLINE uint64_t plain_twice(uint64_t value)
{
    return multiply(value, 2 * LINKS);
}

/* Reads the counter, serialized. */
static inline __attribute__((__always_inline__)) uint64_t now(void)
{
    PROBITY_WAIT_FOR_INSTRUCTIONS();
#if PROBITY_HAS_FAST_PATH
    return probity_ticks();
#else
    return 0;
#endif
}

static NOINLINE uint64_t time_of(uint64_t (*call)(uint64_t value))
{
    uint64_t sum = 0;

    for (int i = 0; i < CALLS; i++) {
        uint64_t first = now();
        seed = call(seed);
        sum += now() - first;
    }
    return sum;
}

static NOINLINE void call_scopes(void)
{
    FN_FUNC(FN_VOID, FN_1);
    for (int i = 0; i < CALLS; i++)
        seed = chain(seed);
    for (int i = 0; i < CALLS; i++)
        seed = chain_ordered(seed);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the values. Returns the mean of the middle half. */
static double mean_of_middle(double *values)
{
    double sum = 0;

    qsort(values, WINDOWS, sizeof *values, compare);
    for (int i = WINDOWS / 4; i < WINDOWS - WINDOWS / 4; i++)
        sum += values[i];
    return sum / (WINDOWS - 2 * (WINDOWS / 4));
}

static double taken_by_others(double *windows)
{
    double sum = 0;

    qsort(windows, WINDOWS, sizeof *windows, compare);
    for (int i = 0; i < WINDOWS; i++) {
        double excess = windows[i] - windows[WINDOWS / 2];
        sum += excess > windows[WINDOWS / 2] / 2 ? excess : 0;
    }
    return sum / (2 * WINDOWS * CALLS);
}

/* In ticks. */
static double least_hit(void)
{
    enum { HITS = 100 };
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < WINDOWS; i++) {
        uint64_t first = now();
        for (int j = 0; j < HITS; j++)
            PROBITY_PROBE(1);
        uint64_t took = now() - first;
        least = took < least ? took : least;
    }
    return (double)least / HITS;
}

static double ns_per_tick(void)
{
    struct timespec first, last;
    double ns;

    clock_gettime(CLOCK_MONOTONIC, &first);
    uint64_t ticks = now();
    do {
        clock_gettime(CLOCK_MONOTONIC, &last);
        ns = (double)(last.tv_sec - first.tv_sec) * 1e9 + (double)(last.tv_nsec - first.tv_nsec);
    } while (ns < 4e6);
    return ns / (double)(now() - ticks);
}

int main(int argc, char **argv)
{
    struct probity_options options = {.overwrite = PROBITY_ON};
    double truth[WINDOWS], windows[WINDOWS], tick = ns_per_tick();
    struct timespec from;

    if (argc != 2 || !PROBITY_HAS_FAST_PATH)
        return 77;
    options.out = argv[1];
    if (probity_start(&options) != 0)
        return 1;
    call_scopes(); /* the first call of each is slow */
    clock_gettime(CLOCK_REALTIME, &from);
    for (int i = 0; i < WINDOWS; i++) {
        uint64_t first = now();
        call_scopes();
        windows[i] = tick * (double)(now() - first);
        uint64_t once = time_of(plain), twice = time_of(plain_twice);
        truth[i] = tick * ((double)twice - (double)once) / CALLS;
    }
    double hit = tick * least_hit();
    if (probity_stop() != 0)
        return 1;
    double middle = mean_of_middle(truth);
    printf("from @%lld.%09ld\ncalls %d\ntruth %.2f\nspread %.2f\nothers %.2f\nhit %.2f\n",
           (long long)from.tv_sec, from.tv_nsec, WINDOWS * CALLS, middle,
           truth[WINDOWS - WINDOWS / 4] - truth[WINDOWS / 4], taken_by_others(windows), hit);
    return 0;
}
