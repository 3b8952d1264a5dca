/* SPDX-License-Identifier: MIT
 *
 * gen_scopes.c OUT THREADS MILLIONS [values]: records MILLIONS of enters and leaves, such as 100
 * or 0.25, in total from THREADS concurrent threads, three functions deep, for benchmarks that read
 * a trace. With "values", one scope in four has two parameters and a return value.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"
#include "common.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

/* The number of records that one call of outer() makes. */
enum { OUTER_RECORDS = 16 };

static int has_values;

static NOINLINE int inner(int value)
{
    FN_FUNC(int, FN_1);
    return value + 1;
}

static NOINLINE int inner_values(int value, int other)
{
    int result = value + other;
    FN_FUNC_PARAMS(int, result, FN_1, 2, value, other);
    return result;
}

static NOINLINE int middle(int value)
{
    FN_FUNC(int, FN_1);
    value = inner(value);
    return has_values ? inner_values(value, 1) : inner(value);
}

static NOINLINE int outer(int value)
{
    FN_FUNC(int, FN_1);
    return inner(middle(middle(value)));
}

static void *thread_main(void *argument)
{
    uint64_t calls = *(uint64_t *)argument;
    int value = 0;

    for (uint64_t i = 0; i < calls; i++)
        value = outer(value);
    return NULL;
}

int main(int argc, char **argv)
{
    enum { THREADS_MAX = 256 };
    pthread_t thread[THREADS_MAX];
    struct probity_options options = {.overwrite = PROBITY_ON};

    if (argc < 4 || atoi(argv[2]) < 1 || atoi(argv[2]) > THREADS_MAX) {
        fprintf(stderr, "usage: gen_scopes OUT THREADS MILLIONS [values]\n");
        return 2;
    }
    int threads = atoi(argv[2]);
    uint64_t calls = (uint64_t)(strtod(argv[3], NULL) * 1e6) / OUTER_RECORDS / (uint64_t)threads;
    has_values = argc > 4;
    options.out = argv[1];
    if (probity_start(&options) != 0)
        return 1;
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&thread[i], NULL, thread_main, &calls) != 0)
            bench_fail("thread");
    }
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return probity_stop() == 0 ? 0 : 1;
}
