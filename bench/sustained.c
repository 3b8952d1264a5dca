/* SPDX-License-Identifier: MIT
 *
 * sustained.c [MILLIONS [TOOL]]: probes without a pause, far beyond the capacity of the spool, with
 * the file on disk and nothing dropped. With TOOL, `TOOL drain` writes the file instead of a
 * thread. The floor is measured between rounds, when everything is written and the writer sleeps. A
 * round ends when its last record is in the file, so wall and CPU time include all the writer's
 * work.
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

/* A drainer's time includes its start, and is not known for each round. */
static void report_cpu(uint64_t hits, double cpu_ns, double floor_ns, int has_drainer)
{
    if (has_drainer) {
        double drainer_ns = bench_drainer_cpu_s() * 1e9 / (double)(hits * ROUNDS);
        bench_row("CPU of the drainer", drainer_ns, "ns", "");
        bench_row("CPU of program and drainer / floor", (cpu_ns + drainer_ns) / floor_ns, "x", "");
        return;
    }
    bench_row("CPU of all threads", cpu_ns, "ns", "");
    bench_row("CPU of all threads / floor", cpu_ns / floor_ns, "x", "<= 2");
}

static void report(uint64_t hits, const struct round *rounds, double *floor_ns,
                   const struct bench_trace *trace, int has_drainer)
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
    bench_row("probe / floor", wall_ns / floor_median_ns, "x", has_drainer ? "" : "<= 1.25");
    bench_row("best round / floor", walls[0] / floor_median_ns, "x", "");
    /* The wall time as it would be if no other program used the CPU. */
    bench_row("CPU of the probing thread / floor", own_cpu_ns / floor_median_ns, "x", "");
    report_cpu(hits / ROUNDS, cpu_ns, floor_median_ns, has_drainer);
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
    static char external[] = "external";
    const char *tool = argc > 2 ? argv[2] : NULL;

    need_room(millions * 1000000 * 8);
    if (tool != NULL && setenv("PROBITY_WRITER", "external", 1) == 0)
        program_invocation_short_name = external; /* shown in the rows */
    bench_start(NULL);
    if (tool != NULL)
        bench_drain(tool);
    bench_pin(0);
    PROBITY_PROBE(1);
    for (int i = 0; i < ROUNDS; i++) {
        struct bench_subject floor = {bench_floor_window, NULL, 0, 0};
        bench_interleave(&floor, 1, 10000, 300);
        floor_ns[i] = floor.median_ns;
        do_round(hits, &rounds[i]);
    }
    bench_stop(0, &trace);
    report(hits * ROUNDS, rounds, floor_ns, &trace, tool != NULL);
    return 0;
}
