/* SPDX-License-Identifier: MIT
 *
 * between.c: probes with other code between them: 1 to 100 us of work, a sleep, a round trip to
 * another thread. Three kinds of windows alternate: without probes, with probes but without CPU
 * time, and with CPU time. The difference between the last two is the upkeep: reading the CPU clock
 * after gaps. For "without CPU time", the thread never detects a gap (gap_ticks), so that all three
 * come from one recording, under the same conditions.
 *
 * The figures compare the thread's CPU time, because wake-ups and other load change wall time by
 * more than the cost of a probe. The upkeep is given as a share of a step's wall time.
 */
#include "common.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NO_PROBE, WALL_ONLY, BOTH, KINDS, ROUNDS = 41 };

struct between {
    const char *name;
    void (*step)(struct between *between);
    int blocks;
    double step_ns; /* approximately */
    uint64_t rounds;
    struct bench_work work;
    int there[2], back[2];
};

static void step_work(struct between *between)
{
    bench_work_do(&between->work, between->rounds);
}

static void step_sleep(struct between *between)
{
    struct timespec wait = {0, 50000};

    (void)between;
    nanosleep(&wait, NULL);
}

static void step_pipe(struct between *between)
{
    char byte = 1;

    if (write(between->there[1], &byte, 1) != 1 || read(between->back[0], &byte, 1) != 1)
        bench_fail("pipe");
}

static void *echo_main(void *argument)
{
    struct between *between = argument;
    char byte;

    bench_pin(1);
    while (read(between->there[0], &byte, 1) == 1 && write(between->back[1], &byte, 1) == 1)
        ;
    return NULL;
}

struct window {
    double wall_ns, cpu_ns; /* per step */
};

static void steps(struct between *between, int kind, uint64_t count)
{
    if (kind == NO_PROBE) {
        for (uint64_t i = 0; i < count; i++)
            between->step(between);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        between->step(between);
        PROBITY_PROBE(7);
    }
}

static void do_window(struct between *between, int kind, uint64_t gap_ticks, uint64_t count,
                      struct window *ret_window)
{
    probity_thread_self->gap_ticks = kind == BOTH ? gap_ticks : UINT64_C(1) << 38;
    /* Uses up the budget for clock readings that earlier windows saved. */
    steps(between, kind, count / 8 + 2);
    double cpu_s = bench_thread_cpu_s(), wall_s = bench_wall_s();
    steps(between, kind, count);
    ret_window->wall_ns = (bench_wall_s() - wall_s) * 1e9 / (double)count;
    ret_window->cpu_ns = (bench_thread_cpu_s() - cpu_s) * 1e9 / (double)count;
    probity_thread_self->gap_ticks = gap_ticks;
}

/* Returns the median over the rounds of how far `kind` exceeds `base` in the same round. */
static double added_ns(struct window window[ROUNDS][KINDS], int kind, int base)
{
    double values[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        values[i] = window[i][kind].cpu_ns - window[i][base].cpu_ns;
    return bench_median(values, ROUNDS);
}

static void measure(struct between *between)
{
    static struct window window[ROUNDS][KINDS];
    double window_ns = 20e6, walls[ROUNDS];
    uint64_t gap_ticks = probity_thread_self->gap_ticks;
    uint64_t count = (uint64_t)(window_ns / between->step_ns);
    char text[64];

    if (!between->blocks)
        between->rounds = bench_work_rounds(between->step_ns);
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < KINDS; k++)
            do_window(between, (i + k) % KINDS, gap_ticks, count, &window[i][(i + k) % KINDS]);
        walls[i] = window[i][BOTH].wall_ns;
    }
    double step_ns = bench_median(walls, ROUNDS);
    double upkeep_ns = added_ns(window, BOTH, WALL_ONLY);
    snprintf(text, sizeof text, "%s: a step takes", between->name);
    bench_row(text, step_ns / 1000, "us", "");
    snprintf(text, sizeof text, "%s: a probe adds", between->name);
    bench_row(text, added_ns(window, BOTH, NO_PROBE), "ns", "");
    snprintf(text, sizeof text, "%s: upkeep of CPU time", between->name);
    bench_row(text, 100 * upkeep_ns / step_ns, "%", "<= 2");
}

int main(void)
{
    static struct between rows[] = {
        {.name = "1 us of work", .step = step_work, .step_ns = 1000},
        {.name = "2 us of work", .step = step_work, .step_ns = 2000},
        {.name = "5 us of work", .step = step_work, .step_ns = 5000},
        {.name = "20 us of work", .step = step_work, .step_ns = 20000},
        {.name = "100 us of work", .step = step_work, .step_ns = 100000},
        {.name = "sleep of 50 us", .step = step_sleep, .blocks = 1, .step_ns = 110000},
        {.name = "pipe round trip", .step = step_pipe, .blocks = 1, .step_ns = 15000},
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    struct between *pipes = &rows[ROWS - 1];
    struct bench_trace trace;
    pthread_t echo;

    if (pipe(pipes->there) != 0 || pipe(pipes->back) != 0 ||
        pthread_create(&echo, NULL, echo_main, pipes) != 0)
        bench_fail("pipe");
    bench_start(NULL);
    bench_pin(0);
    PROBITY_PROBE(1);
    for (int i = 0; i < ROWS; i++)
        measure(&rows[i]);
    bench_stop(0, &trace);
    close(pipes->there[1]);
    pthread_join(echo, NULL);
    return 0;
}
