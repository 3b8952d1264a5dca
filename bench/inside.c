/* SPDX-License-Identifier: MIT
 *
 * inside.c: the time that a probe adds to about 60 ns of integer work that keeps the processor's
 * units busy, so that little of the probe's cost is hidden; compared with a bare record (counter
 * and store) in the same work.
 */
#include "common.h"

enum { BUFFER_WORDS = 2048 };

struct inside {
    struct bench_work work;
    uint64_t rounds;
    uint64_t buffer[BUFFER_WORDS];
};

static uint64_t alone_window(void *context, uint64_t hits)
{
    struct inside *inside = context;

    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++)
        bench_work_do(&inside->work, inside->rounds);
    return probity_ticks() - first;
}

static uint64_t bare_window(void *context, uint64_t hits)
{
    struct inside *inside = context;
    volatile uint64_t *words = inside->buffer;

    for (uint64_t i = 0; i < BUFFER_WORDS; i++)
        words[i] = 0;
    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++) {
        bench_work_do(&inside->work, inside->rounds);
        words[i % BUFFER_WORDS] = probity_ticks();
    }
    return probity_ticks() - first;
}

static uint64_t probe_window(void *context, uint64_t hits)
{
    struct inside *inside = context;

    bench_need_chunk(hits);
    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++) {
        bench_work_do(&inside->work, inside->rounds);
        PROBITY_PROBE(7);
    }
    return probity_ticks() - first;
}

/* Returns the number of rounds with which a window without probes takes this long per hit. */
static uint64_t rounds_for(struct inside *inside, double ns, uint64_t hits)
{
    struct bench_subject alone = {alone_window, inside, 0, 0};

    inside->rounds = 10;
    do {
        inside->rounds++;
        bench_interleave(&alone, 1, hits, 50);
    } while (alone.min_ns < ns);
    return inside->rounds;
}

int main(void)
{
    /* Several lengths, because the alignment of the end of the work with the probe changes the
     * result by a cycle or two. */
    enum { HITS = 1000, WINDOWS = 1000, LENGTHS = 9 };
    static struct inside inside = {.work = {1, 2, 3, 4, 5, 6}};
    struct bench_subject subjects[] = {{alone_window, &inside, 0, 0},
                                       {bare_window, &inside, 0, 0},
                                       {probe_window, &inside, 0, 0}};
    double alone_ns = 0, min_ns[2] = {0, 0}, median_ns[2] = {0, 0};
    struct bench_trace trace;

    bench_start(NULL);
    bench_pin(0);
    rounds_for(&inside, 54, HITS);
    for (int length = 0; length < LENGTHS; length++, inside.rounds++) {
        bench_interleave(subjects, 3, HITS, WINDOWS);
        alone_ns += subjects[0].median_ns / LENGTHS;
        for (int i = 0; i < 2; i++) {
            min_ns[i] += (subjects[i + 1].min_ns - subjects[0].min_ns) / LENGTHS;
            median_ns[i] += (subjects[i + 1].median_ns - subjects[0].median_ns) / LENGTHS;
        }
    }
    bench_stop(0, &trace);
    bench_row("work alone, median", alone_ns, "ns", "");
    bench_row("a bare record adds, min", min_ns[0], "ns", "");
    bench_row("a bare record adds, median", median_ns[0], "ns", "");
    bench_row("a probe adds, min", min_ns[1], "ns", "");
    bench_row("a probe adds, median", median_ns[1], "ns", "");
    /* A difference of minima may compare windows at different clock rates, so it has no target. */
    bench_row("probe / bare record, min", min_ns[1] / min_ns[0], "x", "");
    bench_row("probe / bare record, median", median_ns[1] / median_ns[0], "x", "<= 1.25");
    return 0;
}
