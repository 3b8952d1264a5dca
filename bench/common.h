/* SPDX-License-Identifier: MIT
 *
 * common.h: shared by the benchmarks. Because the speed of a machine changes by the second, every
 * figure is compared with a floor: reading the counter and storing 8 bytes into a warm buffer,
 * measured in the same process, in short windows that alternate with those of the subject.
 *
 * A benchmark prints rows (bench_row) to stdout, which bench/run.sh turns into the table and the
 * JSON. On any error it ends with one line on stderr, because a figure from a failed run is worse
 * than none.
 */
#ifndef PROBITY_BENCH_COMMON_H
#define PROBITY_BENCH_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include "probity.h"

/* One window: warms up, makes `hits` hits, returns the ticks that they took. */
typedef uint64_t bench_window(void *context, uint64_t hits);

/* A subject to measure, and its results per hit. */
struct bench_subject {
    bench_window *run;
    void *context;
    double min_ns, median_ns;
};

enum { BENCH_FLOOR_WORDS = 1024, BENCH_SUBJECTS_MAX = 8 };

/* Runs `windows` windows of each subject, alternating, and sets minimum and median. */
void bench_interleave(struct bench_subject *subjects, int count, uint64_t hits, int windows);

/* The floor. context: NULL; uses a buffer of the calling thread. */
uint64_t bench_floor_window(void *context, uint64_t hits);

/* Probes with a constant id. In one chunk: `hits` must fit there, and the chunk change happens
 * before the window. */
uint64_t bench_probe_window(void *context, uint64_t hits);
uint64_t bench_probe_chunk_window(void *context, uint64_t hits);

/* Probes until the calling thread's chunk has space for `hits` and a few more. */
void bench_need_chunk(uint64_t hits);

/* In common_off.c, which is compiled with PROBITY_DISABLE. */
uint64_t bench_compiled_out_window(void *context, uint64_t hits);

double bench_ns_per_tick(void);
double bench_ns_of(uint64_t ticks);
double bench_wall_s(void);
/* CPU time of all threads of this process, and of the calling one. */
double bench_process_cpu_s(void);
double bench_thread_cpu_s(void);
/* To be called after bench_start(); otherwise the writer thread would inherit the CPU and share
 * it. */
void bench_pin(int cpu);
double bench_median(double *values, size_t count);
/* p in 0 ... 1 of sorted values. */
double bench_percentile(const double *sorted, size_t count, double p);
void bench_sort(double *values, size_t count);

/* target: "<= 1.05", ">= 15", "= 0", or "" if the figure is for information only. */
void bench_row(const char *what, double value, const char *unit, const char *target);
void bench_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_fail(const char *what) __attribute__((noreturn));

/* Starts recording to "bench.PID.probity" in the working directory; options may be NULL. Returns
 * the path. */
const char *bench_start(const struct probity_options *options);

/* From the END block and the size of the file (doc/trace-format.md). */
struct bench_trace {
    uint64_t bytes, records, dropped, stalls, stall_ticks;
};

/* After bench_start() with PROBITY_WRITER=external: starts a process that writes the trace, and
 * waits until it is ready. bench_stop() waits for its end. tool: path of `probity`. */
void bench_drain(const char *tool);

/* CPU time of that process, after its end. */
double bench_drainer_cpu_s(void);

/* Stops recording; removes the trace unless `keep`. */
void bench_stop(int keep, struct bench_trace *ret_trace);

/* Integer work bound by throughput: six independent chains, about 1 ns a round. A single copy,
 * because the layout of a loop by the compiler matters more than the cost of a probe. */
struct bench_work {
    uint64_t a, b, c, d, e, f;
};
void bench_work_do(struct bench_work *work, uint64_t rounds);

/* The number of rounds that take this long on this machine, now. */
uint64_t bench_work_rounds(double ns);

#endif
