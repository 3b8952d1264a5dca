/* SPDX-License-Identifier: MIT
 *
 * cputime.c TOOL [SECONDS]: compares a probe's CPU time in the trace with the thread's CPU clock,
 * read just after the probe. Reading the clock at every probe would change what is measured here:
 * the gaps in which a thread may leave the CPU. So only one probe in 8 on average, chosen at
 * random, is a sample, and the clock is read after it, so that the reading does not affect the gap
 * that the probe evaluates. `TOOL csv` reads the trace; samples are recognized by their ids.
 *
 * The true value at the probe's tick T is the clock's value minus the ticks from T to the middle of
 * the reading. This requires that the thread was not switched out in between, so samples whose
 * reading ends more than SAMPLE_NS after T are excluded and counted. The duration of the reading,
 * half of which is the error of the true value, is reported.
 */
#include "common.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES = 200000, THREADS_MAX = 4, SAMPLE_NS = 3000, FIRST_ID = 10 };

struct sample {
    uint64_t middle, width; /* of the reading, in ticks */
    int64_t cpu_ns;
};

struct thread {
    int number, cpu;
    double until_s;
    void (*step)(struct thread *thread);
    uint64_t random, samples, sleep_ns_max;
    double rounds_per_ns;
    struct bench_work work;
    struct sample *sample;
    pthread_t thread;
};

struct scenario {
    const char *name;
    int threads;
    void (*step)(struct thread *thread);
};

static uint64_t next_random(struct thread *thread)
{
    thread->random = thread->random * 6364136223846793005u + 1442695040888963407u;
    return thread->random >> 33;
}

/* 60 ns to 60 us of work, with as many gaps below the limit as above it. */
static void step_work(struct thread *thread)
{
    uint64_t ns = 60u << next_random(thread) % 11;

    ns = ns / 2 + next_random(thread) % ns;
    bench_work_do(&thread->work, (uint64_t)((double)ns * thread->rounds_per_ns));
}

static void step_yield(struct thread *thread)
{
    bench_work_do(&thread->work, (uint64_t)((double)(next_random(thread) % 2000) *
                                            thread->rounds_per_ns));
    sched_yield();
}

static void step_sleep(struct thread *thread)
{
    struct timespec wait = {0, (long)(next_random(thread) % 200000)};

    step_work(thread);
    if (next_random(thread) % 2 == 0)
        nanosleep(&wait, NULL);
}

static void take_sample(struct thread *thread)
{
    struct sample *sample = &thread->sample[thread->samples];
    struct timespec now;

    PROBITY_PROBE(FIRST_ID + (uint32_t)(thread->number * SAMPLES + (int)thread->samples));
    uint64_t first = probity_ticks();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    uint64_t width = probity_ticks() - first;
    *sample = (struct sample){first + width / 2, width,
                              (int64_t)now.tv_sec * 1000000000 + now.tv_nsec};
    thread->samples++;
}

static void *thread_main(void *argument)
{
    struct thread *thread = argument;

    bench_pin(thread->cpu);
    while (thread->samples < SAMPLES && bench_wall_s() < thread->until_s) {
        for (int i = 0; i < 64 && thread->samples < SAMPLES; i++) {
            thread->step(thread);
            if (next_random(thread) % 8 == 0)
                take_sample(thread);
            else
                PROBITY_PROBE(1);
        }
    }
    return NULL;
}

struct found {
    double *error_ns, *width_ns;
    size_t count;
    uint64_t left_out, missing, backward, hits;
};

static void compare(const struct thread *threads, uint32_t id, int64_t cpu_ns, uint64_t tick,
                    struct found *found)
{
    const struct thread *thread = &threads[(id - FIRST_ID) / SAMPLES];
    const struct sample *sample = &thread->sample[(id - FIRST_ID) % SAMPLES];
    double behind_ns = bench_ns_of(sample->middle - tick);
    double width_ns = bench_ns_of(sample->width);

    if (behind_ns + width_ns / 2 > SAMPLE_NS) {
        found->left_out++;
        return;
    }
    double error_ns = (double)(cpu_ns - sample->cpu_ns) + behind_ns;
    found->error_ns[found->count] = error_ns < 0 ? -error_ns : error_ns;
    found->width_ns[found->count++] = width_ns / 2;
}

static void read_back(const char *tool, const char *path, const struct thread *threads,
                      struct found *found)
{
    char command[8192], line[256];
    int64_t before[THREADS_MAX + 1] = {0};

    snprintf(command, sizeof command, "'%s' csv --columns thread,probe,cpu_s,cpu_ns,tick '%s'",
             tool, path);
    FILE *csv = popen(command, "r");
    if (csv == NULL)
        bench_fail(tool);
    while (fgets(line, sizeof line, csv) != NULL) {
        uint32_t thread, id;
        int64_t seconds, ns;
        uint64_t tick;
        if (sscanf(line, "%" SCNu32 ",%" SCNu32 ",%" SCNd64 ",%" SCNd64 ",%" SCNu64, &thread, &id,
                   &seconds, &ns, &tick) != 5 ||
            thread > THREADS_MAX)
            bench_fail(line);
        ns += seconds * 1000000000;
        found->backward += ns < before[thread];
        before[thread] = ns;
        found->hits++;
        if (id >= FIRST_ID)
            compare(threads, id, ns, tick, found);
    }
    if (pclose(csv) != 0)
        bench_fail(command);
}

static void report(const char *name, struct found *found)
{
    static const struct { const char *name; double p; const char *target; } rows[] = {
        {"error, p50", 0.5, ""}, {"error, p99", 0.99, ""}, {"error, p99.9", 0.999, "<= 1"},
        {"error, max", 1, ""}};
    char text[96];

    bench_sort(found->error_ns, found->count);
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "%s: %s", name, rows[i].name);
        bench_row(text, bench_percentile(found->error_ns, found->count, rows[i].p) / 1000, "us",
                  rows[i].target);
    }
    snprintf(text, sizeof text, "%s: backward steps", name);
    bench_row(text, (double)found->backward, "", "= 0");
    snprintf(text, sizeof text, "%s: samples", name);
    bench_row(text, (double)found->count, "", "");
    snprintf(text, sizeof text, "%s: samples left out", name);
    bench_row(text, (double)found->left_out, "", "");
    snprintf(text, sizeof text, "%s: truth known to +-", name);
    bench_row(text, bench_median(found->width_ns, found->count) / 1000, "us", "");
}

static void measure(const char *tool, const struct scenario *scenario, double seconds)
{
    static struct thread threads[THREADS_MAX];
    struct bench_trace trace;
    struct found found = {0};
    uint64_t rounds = bench_work_rounds(1000);
    const char *path = bench_start(NULL);
    uint64_t taken = 0;

    for (int i = 0; i < scenario->threads; i++) {
        struct sample *sample = threads[i].sample;
        threads[i] = (struct thread){.number = i, .cpu = i % 2, .step = scenario->step,
                                     .until_s = bench_wall_s() + seconds,
                                     .random = (uint64_t)i * 7919 + 1,
                                     .rounds_per_ns = (double)rounds / 1000, .sample = sample};
        if (sample == NULL)
            threads[i].sample = calloc(SAMPLES, sizeof *sample);
        if (threads[i].sample == NULL ||
            pthread_create(&threads[i].thread, NULL, thread_main, &threads[i]) != 0)
            bench_fail("thread");
    }
    for (int i = 0; i < scenario->threads; i++) {
        pthread_join(threads[i].thread, NULL);
        taken += threads[i].samples;
    }
    bench_stop(1, &trace);
    found.error_ns = malloc((taken + 1) * sizeof *found.error_ns);
    found.width_ns = malloc((taken + 1) * sizeof *found.width_ns);
    if (found.error_ns == NULL || found.width_ns == NULL)
        bench_fail("samples");
    read_back(tool, path, threads, &found);
    unlink(path);
    report(scenario->name, &found);
    free(found.error_ns);
    free(found.width_ns);
}

int main(int argc, char **argv)
{
    static const struct scenario scenarios[] = {{"idle machine", 1, step_work},
                                                {"4 busy threads", 4, step_work},
                                                {"yield storm", 4, step_yield},
                                                {"sleeps", 2, step_sleep}};
    double seconds = argc > 2 ? atof(argv[2]) : 5;

    if (argc < 2) {
        fprintf(stderr, "usage: cputime TOOL [SECONDS]\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        measure(argv[1], &scenarios[i], seconds);
    return 0;
}
