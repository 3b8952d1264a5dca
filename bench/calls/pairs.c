/* SPDX-License-Identifier: MIT
 *
 * pairs.c: pairs of calls to libc, timed in windows of 100; prints for each kind the minimum and
 * the median time of a pair in nanoseconds. Without probes: bench/calls/run.sh runs it alone and
 * with libprobity-calls.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WINDOWS = 1000, PAIRS = 100 };

static int ends[2];

static void transfer(void)
{
    char byte = 'x';

    if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
        exit(1);
}

static void allocate(void)
{
    void *volatile at = malloc(64);

    free(at);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int is_less(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;

    return (a > b) - (a < b);
}

static void measure(const char *name, void (*pair)(void))
{
    static double ns[WINDOWS];

    for (int i = 0; i < WINDOWS; i++) {
        uint64_t before = now_ns();
        for (int k = 0; k < PAIRS; k++)
            pair();
        ns[i] = (double)(now_ns() - before) / PAIRS;
    }
    qsort(ns, WINDOWS, sizeof *ns, is_less);
    printf("%s %.2f %.2f\n", name, ns[0], ns[WINDOWS / 2]);
}

int main(void)
{
    if (pipe(ends) != 0)
        return 1;
    measure("transfer", transfer);
    measure("memory", allocate);
    return 0;
}
