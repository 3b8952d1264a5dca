/* SPDX-License-Identifier: MIT
 *
 * gen.c OUT THREADS MILLIONS: records MILLIONS of hits, such as 100 or 0.25, in total from THREADS
 * concurrent threads, for benchmarks that read a trace.
 */
#include "common.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *thread_main(void *argument)
{
    uint64_t hits = *(uint64_t *)argument;

    for (uint64_t i = 0; i < hits; i++)
        PROBITY_PROBE(1 + (uint32_t)(i & 7));
    return NULL;
}

int main(int argc, char **argv)
{
    enum { THREADS_MAX = 256 };
    pthread_t thread[THREADS_MAX];
    struct probity_options options = {.overwrite = PROBITY_ON};

    if (argc != 4 || atoi(argv[2]) < 1 || atoi(argv[2]) > THREADS_MAX) {
        fprintf(stderr, "usage: gen OUT THREADS MILLIONS\n");
        return 2;
    }
    int threads = atoi(argv[2]);
    uint64_t hits = (uint64_t)(strtod(argv[3], NULL) * 1e6) / (uint64_t)threads;
    options.out = argv[1];
    if (probity_start(&options) != 0)
        return 1;
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&thread[i], NULL, thread_main, &hits) != 0)
            bench_fail("thread");
    }
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return probity_stop() == 0 ? 0 : 1;
}
