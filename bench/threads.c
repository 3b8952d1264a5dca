/* SPDX-License-Identifier: MIT
 *
 * threads.c [MILLIONS]: two threads on two CPUs: concurrent bursts compared with a single one, and
 * probing without a pause while the writer thread uses its share of the two CPUs.
 */
#include "common.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 2, BURST_HITS = 1000, BURST_WINDOWS = 10000 };

struct worker {
    pthread_barrier_t *together;
    uint64_t hits;
    int cpu;
    struct bench_subject subjects[2]; /* floor, probe */
    double sustained_ns;
    pthread_t thread;
};

static void burst(struct worker *worker)
{
    worker->subjects[0] = (struct bench_subject){bench_floor_window, NULL, 0, 0};
    worker->subjects[1] = (struct bench_subject){bench_probe_chunk_window, NULL, 0, 0};
    bench_interleave(worker->subjects, 2, BURST_HITS, BURST_WINDOWS);
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;

    bench_pin(worker->cpu);
    pthread_barrier_wait(worker->together);
    burst(worker);
    pthread_barrier_wait(worker->together);
    double wall_s = bench_wall_s();
    for (uint64_t i = 0; i < worker->hits; i++)
        PROBITY_PROBE(1 + (uint32_t)(i & 7));
    pthread_barrier_wait(worker->together);
    worker->sustained_ns = (bench_wall_s() - wall_s) * 1e9 / (double)worker->hits;
    return NULL;
}

static double worse(double a, double b)
{
    return a > b ? a : b;
}

static void report(const struct worker *one, const struct worker *two, uint64_t hits,
                   const struct bench_trace *trace)
{
    double floor_ns = one->subjects[0].median_ns;
    const struct bench_subject *a = &two[0].subjects[1], *b = &two[1].subjects[1];
    double sustained_ns = worse(two[0].sustained_ns, two[1].sustained_ns);

    bench_row("floor, one thread, median", floor_ns, "ns", "");
    bench_row("burst, one thread, median", one->subjects[1].median_ns, "ns", "");
    bench_row("burst, two threads, worse median", worse(a->median_ns, b->median_ns), "ns", "");
    bench_row("burst, two / one, min", worse(a->min_ns, b->min_ns) / one->subjects[1].min_ns, "x",
              "<= 1.1");
    bench_row("burst, two / one, median",
              worse(a->median_ns, b->median_ns) / one->subjects[1].median_ns, "x", "<= 1.1");
    bench_row("sustained, hits of each", (double)hits / 1e6, "million", "");
    bench_row("sustained, per hit of one thread", sustained_ns, "ns", "");
    bench_row("sustained / floor", sustained_ns / floor_ns, "x", "<= 3");
    bench_row("records dropped", (double)trace->dropped, "", "= 0");
    bench_row("records missing in the trace",
              trace->records < hits * THREADS ? (double)(hits * THREADS - trace->records) : 0, "",
              "= 0");
    bench_row("stalls", (double)trace->stalls, "", "");
    bench_row("trace, per hit", (double)trace->bytes / (double)trace->records, "bytes", "<= 4");
}

int main(int argc, char **argv)
{
    uint64_t hits = (argc > 1 ? strtoull(argv[1], NULL, 10) : 100) * 1000000;
    struct worker one = {0}, two[THREADS];
    pthread_barrier_t together;
    struct bench_trace trace;

    bench_start(NULL);
    bench_pin(0);
    burst(&one);
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        two[i] = (struct worker){.together = &together, .hits = hits, .cpu = i};
        if (pthread_create(&two[i].thread, NULL, worker_main, &two[i]) != 0)
            bench_fail("thread");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(two[i].thread, NULL);
    bench_stop(0, &trace);
    report(&one, two, hits, &trace);
    return 0;
}
