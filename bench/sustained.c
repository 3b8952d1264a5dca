/* SPDX-License-Identifier: MIT
 *
 * sustained.c [MILLIONS]: probes without a pause, far beyond what the spool holds, the file on
 * disk and nothing dropped. The floor is measured between rounds, when all is written and the
 * writer sleeps. A round ends when its last record is in the file, so the writer's whole work is
 * inside, in time and in CPU.
 */
#include "common.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/statvfs.h>

enum { ROUNDS = 16 };

struct round {
    double wall_ns, cpu_ns, own_cpu_ns;
};

static void do_round(uint64_t hits, struct round *ret_round)
{
    double wall_s = bench_wall_s(), cpu_s = bench_process_cpu_s(), own_cpu_s = bench_thread_cpu_s();

    for (uint64_t i = 0; i < hits; i++)
        PROBITY_PROBE(1 + (uint32_t)(i & 7));
    if (probity_flush() != 0)
        bench_fail("flush");
    ret_round->wall_ns = (bench_wall_s() - wall_s) * 1e9 / (double)hits;
    ret_round->own_cpu_ns = (bench_thread_cpu_s() - own_cpu_s) * 1e9 / (double)hits;
    ret_round->cpu_ns = (bench_process_cpu_s() - cpu_s) * 1e9 / (double)hits;
}

static void need_room(uint64_t bytes)
{
    struct statvfs status;

    if (statvfs(".", &status) != 0)
        bench_fail("statvfs");
    if ((double)status.f_bavail * (double)status.f_frsize < (double)bytes) {
        errno = ENOSPC;
        bench_fail("working directory");
    }
}

static void report(uint64_t hits, const struct round *rounds, double *floor_ns,
                   const struct bench_trace *trace)
{
    double wall_ns = 0, cpu_ns = 0, own_cpu_ns = 0, walls[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        wall_ns += rounds[i].wall_ns / ROUNDS;
        cpu_ns += rounds[i].cpu_ns / ROUNDS;
        own_cpu_ns += rounds[i].own_cpu_ns / ROUNDS;
        walls[i] = rounds[i].wall_ns;
    }
    double floor_median_ns = bench_median(floor_ns, ROUNDS);
    bench_sort(walls, ROUNDS);
    bench_row("hits", (double)hits / 1e6, "million", "");
    bench_row("floor, median", floor_median_ns, "ns", "");
    bench_row("probe, mean of all rounds", wall_ns, "ns", "");
    bench_row("probe, best and", walls[0], "ns", "");
    bench_row("  worst round", walls[ROUNDS - 1], "ns", "");
    bench_row("probe / floor", wall_ns / floor_median_ns, "x", "<= 1.25");
    bench_row("best round / floor", walls[0] / floor_median_ns, "x", "");
    /* What the wall time would be if no other program had a share of the CPU. */
    bench_row("CPU of the probing thread / floor", own_cpu_ns / floor_median_ns, "x", "");
    bench_row("CPU of all threads", cpu_ns, "ns", "");
    bench_row("CPU of all threads / floor", cpu_ns / floor_median_ns, "x", "<= 2");
    bench_row("records dropped", (double)trace->dropped, "", "= 0");
    bench_row("records missing in the trace",
              trace->records < hits ? (double)(hits - trace->records) : 0, "", "= 0");
    bench_row("stalls", (double)trace->stalls, "", "");
    bench_row("time in stalls", bench_ns_of(trace->stall_ticks) / 1e6, "ms", "");
    bench_row("trace, per hit", (double)trace->bytes / (double)hits, "bytes", "<= 4");
}

int main(int argc, char **argv)
{
    uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 512;
    uint64_t hits = millions * 1000000 / ROUNDS;
    struct round rounds[ROUNDS];
    double floor_ns[ROUNDS];
    struct bench_trace trace;

    need_room(millions * 1000000 * 8);
    bench_start(NULL);
    bench_pin(0);
    PROBITY_PROBE(1);
    for (int i = 0; i < ROUNDS; i++) {
        struct bench_subject floor = {bench_floor_window, NULL, 0, 0};
        bench_interleave(&floor, 1, 10000, 300);
        floor_ns[i] = floor.median_ns;
        do_round(hits, &rounds[i]);
    }
    bench_stop(0, &trace);
    report(hits * ROUNDS, rounds, floor_ns, &trace);
    return 0;
}
