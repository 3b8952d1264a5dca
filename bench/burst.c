/* SPDX-License-Identifier: MIT
 *
 * burst.c: a probe in a tight loop that never fills the buffer: within one chunk, and over many
 * chunks with the changes between them. Wall and CPU time are recorded; the writer thread runs.
 */
#include "common.h"

static uint64_t named_window(void *context, uint64_t hits)
{
    (void)context;
    for (int i = 0; i < 2; i++)
        PROBITY_PROBE_NAMED("warm");
    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++)
        PROBITY_PROBE_NAMED("hit");
    return probity_ticks() - first;
}

int main(void)
{
    enum { CHUNK_HITS = 1000, CHUNK_WINDOWS = 20000, LONG_HITS = 32768, LONG_WINDOWS = 1000 };
    struct bench_subject one[] = {{bench_floor_window, NULL, 0, 0},
                                  {bench_probe_chunk_window, NULL, 0, 0}};
    struct bench_subject many[] = {{bench_floor_window, NULL, 0, 0},
                                   {bench_probe_window, NULL, 0, 0},
                                   {named_window, NULL, 0, 0}};
    struct bench_trace trace;

    bench_start(NULL);
    bench_pin(0);
    bench_interleave(one, 2, CHUNK_HITS, CHUNK_WINDOWS);
    bench_interleave(many, 3, LONG_HITS, LONG_WINDOWS);
    bench_stop(0, &trace);
    bench_row("floor, min", one[0].min_ns, "ns", "");
    bench_row("floor, median", one[0].median_ns, "ns", "");
    bench_row("probe in one chunk, min", one[1].min_ns, "ns", "");
    bench_row("probe in one chunk, median", one[1].median_ns, "ns", "");
    bench_row("probe in one chunk / floor, min", one[1].min_ns / one[0].min_ns, "x", "<= 1.05");
    bench_row("probe in one chunk / floor, median", one[1].median_ns / one[0].median_ns, "x",
              "<= 1.15");
    bench_row("with changes of chunk / floor, min", many[1].min_ns / many[0].min_ns, "x", "");
    bench_row("with changes of chunk / floor, median", many[1].median_ns / many[0].median_ns, "x",
              "");
    bench_row("named probe, the same / floor, median", many[2].median_ns / many[0].median_ns, "x",
              "");
    bench_row("records dropped", (double)trace.dropped, "", "= 0");
    return 0;
}
