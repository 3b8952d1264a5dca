/* SPDX-License-Identifier: MIT
 *
 * common.h: what the benchmarks share. A figure means nothing alone on a machine whose speed
 * changes by the second, so every one stands beside the floor: reading the counter and storing 8
 * bytes into a warm buffer, measured in the same process, in short windows that alternate with
 * those of the subject.
 *
 * A benchmark prints rows (bench_row) to stdout, which bench/run.sh turns into the table and the
 * JSON. On any error it ends with one line on stderr: a figure of a run that went wrong is worse
 * than none.
 */
#ifndef PROBITY_BENCH_COMMON_H
#define PROBITY_BENCH_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include "probity.h"

/* One window: warms up, does `hits` hits, returns the ticks that these took. */
typedef uint64_t bench_window(void *context, uint64_t hits);

/* Something to measure, and what came out, per hit. */
struct bench_subject {
    bench_window *run;
    void *context;
    double min_ns, median_ns;
};

enum { BENCH_FLOOR_WORDS = 1024, BENCH_SUBJECTS_MAX = 8 };

/* Does `windows` windows of each subject, one subject after the other, and fills in minimum and
 * median. */
void bench_interleave(struct bench_subject *subjects, int count, uint64_t hits, int windows);

/* The floor. context: NULL, a buffer of the calling thread is used. */
uint64_t bench_floor_window(void *context, uint64_t hits);

/* Probes of a constant id. In one chunk: `hits` must fit there, the change of chunk happens before
 * the window. */
uint64_t bench_probe_window(void *context, uint64_t hits);
uint64_t bench_probe_chunk_window(void *context, uint64_t hits);

/* Probes until the calling thread's chunk has room for `hits` and a few more. */
void bench_need_chunk(uint64_t hits);

/* In common_off.c, which is compiled with PROBITY_DISABLE. */
uint64_t bench_compiled_out_window(void *context, uint64_t hits);

double bench_ns_per_tick(void);
double bench_ns_of(uint64_t ticks);
double bench_wall_s(void);
/* CPU time of all threads of this process, and of the calling one. */
double bench_process_cpu_s(void);
double bench_thread_cpu_s(void);
/* After bench_start(): the writing thread would inherit the CPU, and share it. */
void bench_pin(int cpu);
double bench_median(double *values, size_t count);
/* p in 0 ... 1 of sorted values. */
double bench_percentile(const double *sorted, size_t count, double p);
void bench_sort(double *values, size_t count);

/* target: "<= 1.05", ">= 15", "= 0", or "" where the figure stands for information. */
void bench_row(const char *what, double value, const char *unit, const char *target);
void bench_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_fail(const char *what) __attribute__((noreturn));

/* Starts recording into "bench.PID.probity" in the working directory; options may be NULL. Returns
 * the path. */
const char *bench_start(const struct probity_options *options);

/* What the END block and the file's size say (doc/trace-format.md). */
struct bench_trace {
    uint64_t bytes, records, dropped, stalls, stall_ticks;
};

/* Stops recording; removes the trace unless it is kept. */
void bench_stop(int keep, struct bench_trace *ret_trace);

/* Integer work bound by throughput: six chains that do not wait for one another. About 1 ns a
 * round. One copy for all: how the compiler happens to lay out a loop costs more than a probe. */
struct bench_work {
    uint64_t a, b, c, d, e, f;
};
void bench_work_do(struct bench_work *work, uint64_t rounds);

/* Rounds that take about so long on this machine, now. */
uint64_t bench_work_rounds(double ns);

#endif
