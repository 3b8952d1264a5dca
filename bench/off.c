/* SPDX-License-Identifier: MIT
 *
 * off.c: a probe that is compiled in but not recording, and one that is compiled out, compared with
 * the same loop without a probe.
 */
#include "common.h"

#include <errno.h>

/* Memory may change in each iteration, so the probe must read it again. All three loops are aligned
 * to a cache line. */
static __attribute__((aligned(64))) uint64_t empty_window(void *context, uint64_t hits)
{
    (void)context;
    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++)
        __asm__ volatile("" : : : "memory");
    return probity_ticks() - first;
}

static __attribute__((aligned(64))) uint64_t off_window(void *context, uint64_t hits)
{
    (void)context;
    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++) {
        PROBITY_PROBE(7);
        __asm__ volatile("" : : : "memory");
    }
    return probity_ticks() - first;
}

int main(void)
{
    enum { HITS = 10000, WINDOWS = 5000 };
    struct bench_subject subjects[] = {{empty_window, NULL, 0, 0},
                                       {off_window, NULL, 0, 0},
                                       {bench_compiled_out_window, NULL, 0, 0},
                                       {bench_floor_window, NULL, 0, 0}};

    bench_pin(0);
    PROBITY_PROBE(7);
    if (probity_is_recording()) {
        errno = EINVAL;
        bench_fail("PROBITY_OUT is set");
    }
    bench_interleave(subjects, 4, HITS, WINDOWS);
    bench_row("floor, median", subjects[3].median_ns, "ns", "");
    bench_row("switched off adds, min", subjects[1].min_ns - subjects[0].min_ns, "ns", "<= 1");
    bench_row("switched off adds, median", subjects[1].median_ns - subjects[0].median_ns, "ns",
              "<= 1");
    bench_row("compiled out adds, min", subjects[2].min_ns - subjects[0].min_ns, "ns", "<= 0.02");
    return 0;
}
