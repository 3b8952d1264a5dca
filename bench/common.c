/* SPDX-License-Identifier: MIT
 *
 * common.c: clocks, windows, statistics and output of the benchmarks. See common.h.
 */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double ns_per_tick;
static char trace_path[4096];
static pid_t drainer; /* 0: none */

void bench_fail(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
    exit(1);
}

static double clock_s(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_wall_s(void)
{
    return clock_s(CLOCK_MONOTONIC_RAW);
}

double bench_thread_cpu_s(void)
{
    return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

static double cpu_s_of(int who)
{
    struct rusage usage;

    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double bench_process_cpu_s(void)
{
    return cpu_s_of(RUSAGE_SELF);
}

double bench_drainer_cpu_s(void)
{
    return cpu_s_of(RUSAGE_CHILDREN);
}

/* 50 ms give the rate to better than 0.1 %. Ratios do not depend on it, because it applies to both
 * sides. */
double bench_ns_per_tick(void)
{
    if (ns_per_tick == 0) {
        double first_s = bench_wall_s(), last_s;
        uint64_t first = probity_ticks(), last;
        do {
            last_s = bench_wall_s();
            last = probity_ticks();
        } while (last_s - first_s < 0.05);
        ns_per_tick = (last_s - first_s) * 1e9 / (double)(last - first);
    }
    return ns_per_tick;
}

double bench_ns_of(uint64_t ticks)
{
    return (double)ticks * bench_ns_per_tick();
}

void bench_pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0)
        bench_note("cannot pin to CPU %d; not pinned", cpu);
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

void bench_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
}

double bench_percentile(const double *sorted, size_t count, double p)
{
    size_t at = (size_t)(p * (double)count);

    return count == 0 ? 0 : sorted[at < count ? at : count - 1];
}

double bench_median(double *values, size_t count)
{
    bench_sort(values, count);
    return bench_percentile(values, count, 0.5);
}

void bench_interleave(struct bench_subject *subjects, int count, uint64_t hits, int windows)
{
    double *values[BENCH_SUBJECTS_MAX];

    for (int s = 0; s < count; s++) {
        values[s] = malloc((size_t)windows * sizeof *values[s]);
        if (values[s] == NULL)
            bench_fail("windows");
    }
    for (int w = 0; w < windows; w++) {
        for (int s = 0; s < count; s++)
            values[s][w] =
                bench_ns_of(subjects[s].run(subjects[s].context, hits)) / (double)hits;
    }
    for (int s = 0; s < count; s++) {
        subjects[s].median_ns = bench_median(values[s], (size_t)windows);
        subjects[s].min_ns = values[s][0];
        free(values[s]);
    }
}

uint64_t bench_floor_window(void *context, uint64_t hits)
{
    static __thread uint64_t buffer[BENCH_FLOOR_WORDS];
    volatile uint64_t *words = buffer;

    (void)context;
    for (uint64_t i = 0; i < BENCH_FLOOR_WORDS; i++)
        words[i] = 0;
    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++)
        words[i % BENCH_FLOOR_WORDS] = probity_ticks();
    return probity_ticks() - first;
}

static uint64_t probe_loop(uint64_t hits)
{
    /* The time before the window may be a gap, which these two probes absorb. */
    PROBITY_PROBE(7);
    PROBITY_PROBE(7);
    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++)
        PROBITY_PROBE(7);
    return probity_ticks() - first;
}

uint64_t bench_probe_window(void *context, uint64_t hits)
{
    (void)context;
    return probe_loop(hits);
}

void bench_need_chunk(uint64_t hits)
{
    enum { BESIDE = 16 };
    const struct probity_thread *self;

    do {
        PROBITY_PROBE(7);
        self = probity_thread_self;
        if (self == NULL)
            bench_fail("not recording");
    } while ((self->cursor & self->valid_bit) == 0 ||
             (self->valid_bit - (self->cursor & (self->valid_bit - 1))) / 8 < hits + BESIDE);
}

uint64_t bench_probe_chunk_window(void *context, uint64_t hits)
{
    (void)context;
    bench_need_chunk(hits);
    return probe_loop(hits);
}

static int print_row(const char *what, double value, const char *unit, const char *target)
{
    const char *bench = program_invocation_short_name;

    return printf("row\t%s\t%s\t%.6g\t%s\t%s\n", bench, what, value, unit, target);
}

void bench_row(const char *what, double value, const char *unit, const char *target)
{
    if (print_row(what, value, unit, target) < 0 || fflush(stdout) != 0)
        bench_fail("stdout");
}

void bench_note(const char *format, ...)
{
    va_list arguments;

    printf("note\t%s\t", program_invocation_short_name);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

const char *bench_start(const struct probity_options *options)
{
    struct probity_options own = {0};

    if (options != NULL)
        own = *options;
    own.out = "bench.%p.probity";
    own.overwrite = PROBITY_ON;
    bench_ns_per_tick();
    int error = probity_start(&own);
    if (error != 0) {
        fprintf(stderr, "probity_start: %s\n", probity_error_text(error));
        exit(1);
    }
    snprintf(trace_path, sizeof trace_path, "%s", probity_trace_path());
    return trace_path;
}

static uint64_t get_u64(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

/* END is the last block of the file: a header of 24 bytes and a payload of 112. */
static void read_end(const char *path, struct bench_trace *ret_trace)
{
    enum { END_BYTES = 136, END_TYPE = 4, PAYLOAD = 24 };
    uint8_t end[END_BYTES];
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);

    if (descriptor < 0 || fstat(descriptor, &status) != 0 ||
        pread(descriptor, end, END_BYTES, status.st_size - END_BYTES) != END_BYTES)
        bench_fail(path);
    close(descriptor);
    if (memcmp(end, "PBLK", 4) != 0 || end[12] != END_TYPE) {
        errno = EPROTO;
        bench_fail(path);
    }
    const uint8_t *at = end + PAYLOAD + 48;
    ret_trace->bytes = (uint64_t)status.st_size;
    ret_trace->records = get_u64(at);
    ret_trace->dropped = get_u64(at + 8) + get_u64(at + 16) + get_u64(at + 24);
    ret_trace->stalls = get_u64(at + 32);
    ret_trace->stall_ticks = get_u64(at + 40);
}

void bench_drain(const char *tool)
{
    drainer = fork();
    if (drainer == 0) {
        execl(tool, tool, "drain", trace_path, (char *)NULL);
        bench_fail(tool);
    }
    if (drainer < 0)
        bench_fail("fork");
    /* Without a drainer, this fails after two seconds. */
    if (probity_flush() != 0) {
        errno = ETIMEDOUT;
        bench_fail("drainer");
    }
}

/* The drainer closes the trace, perhaps only after probity_stop() has returned. */
static void end_drainer(void)
{
    int status;

    if (drainer == 0)
        return;
    if (waitpid(drainer, &status, 0) != drainer || status != 0) {
        errno = ECHILD;
        bench_fail("drainer");
    }
    drainer = 0;
}

void bench_stop(int keep, struct bench_trace *ret_trace)
{
    int error = probity_stop();

    if (error != 0) {
        fprintf(stderr, "probity_stop: %s\n", probity_error_text(error));
        exit(1);
    }
    end_drainer();
    read_end(trace_path, ret_trace);
    if (!keep)
        unlink(trace_path);
}

__attribute__((noinline)) void bench_work_do(struct bench_work *work, uint64_t rounds)
{
    uint64_t a = work->a, b = work->b, c = work->c, d = work->d, e = work->e, f = work->f;

    for (uint64_t i = 0; i < rounds; i++) {
        a = (a ^ a >> 7) + 1;
        b = (b ^ b >> 9) + 3;
        c = (c ^ c >> 11) + 5;
        d = (d ^ d >> 13) + 7;
        e = (e ^ e >> 15) + 9;
        f = (f ^ f >> 17) + 11;
        /* Keeps the compiler from vectorizing the chains. */
        __asm__("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    }
    *work = (struct bench_work){a, b, c, d, e, f};
}

static double work_ns(uint64_t rounds)
{
    struct bench_work work = {1, 2, 3, 4, 5, 6};
    enum { TRIES = 300, TIMES = 20 };
    double least = 1e30;

    for (int i = 0; i < TRIES; i++) {
        uint64_t first = probity_ticks();
        for (int k = 0; k < TIMES; k++)
            bench_work_do(&work, rounds);
        double ns = bench_ns_of(probity_ticks() - first) / TIMES;
        least = ns < least ? ns : least;
    }
    return least;
}

uint64_t bench_work_rounds(double ns)
{
    enum { SOME = 100 };
    double round_ns = (work_ns(2 * SOME) - work_ns(SOME)) / SOME;

    return (uint64_t)(ns / round_ns + 0.5);
}
