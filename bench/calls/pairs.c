/* SPDX-License-Identifier: MIT
 *
 * pairs.c: pairs of calls to libc, timed in windows of 100; for each kind, prints the minimum and
 * the median time of a pair in nanoseconds. Without probes: bench/calls/run.sh runs it alone, with
 * libprobity-calls, and under heaptrack. Compiled with PROBITY_SCOPES, the four functions around
 * the last kind are scopes.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef PROBITY_SCOPES
#define FN_INSTRUMENT
#include "FnTrace.h"
#define SCOPE FN_FUNC(void, FN_1)
#else
#define SCOPE (void)0
#endif

enum { WINDOWS = 1000, PAIRS = 100 };

static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double ns[WINDOWS];

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

static void lock(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
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

static void run_window(void (*pair)(void), double *ret_ns)
{
    uint64_t before = now_ns();

    for (int k = 0; k < PAIRS; k++)
        pair();
    *ret_ns = (double)(now_ns() - before) / PAIRS;
}

/* Four functions, each with a frame. */
#define NOT_INLINE static __attribute__((noinline)) void
#define KEEP __asm__ volatile("")
NOT_INLINE in_four(void (*pair)(void), double *ret_ns) { SCOPE; run_window(pair, ret_ns); KEEP; }
NOT_INLINE in_three(void (*pair)(void), double *ret_ns) { SCOPE; in_four(pair, ret_ns); KEEP; }
NOT_INLINE in_two(void (*pair)(void), double *ret_ns) { SCOPE; in_three(pair, ret_ns); KEEP; }
NOT_INLINE in_one(void (*pair)(void), double *ret_ns) { SCOPE; in_two(pair, ret_ns); KEEP; }

static void measure(const char *name, void (*pair)(void),
                    void (*run)(void (*pair)(void), double *ret_ns))
{
    for (int i = 0; i < WINDOWS; i++)
        run(pair, &ns[i]);
    qsort(ns, WINDOWS, sizeof *ns, is_less);
    printf("%s %.2f %.2f\n", name, ns[0], ns[WINDOWS / 2]);
}

/* Without an argument: all. */
int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;

    if (pipe(ends) != 0)
        return 1;
    if (only == NULL) {
        measure("transfer", transfer, run_window);
        measure("memory", allocate, run_window);
        measure("mutex", lock, run_window);
    }
    if (only == NULL || strcmp(only, "deep") == 0)
        measure("deep", allocate, in_one);
    return 0;
}
