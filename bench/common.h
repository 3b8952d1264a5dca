/* SPDX-License-Identifier: MIT
 *
 * common.h: shared by the benchmarks. The speed of a machine changes from second to second, so each
 * figure is compared with a floor: reading the counter and storing 8 bytes to a warm buffer,
 * measured in the same process, in short windows that alternate with those of the subject.
 *
 * A benchmark prints rows (bench_row) to stdout, which bench/run.sh turns into the table and the
 * JSON. On any error it exits with one line on stderr, because a figure from a failed run is worse
 * than none.
 */
#ifndef PROBITY_BENCH_COMMON_H
#define PROBITY_BENCH_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include "probity.h"

/* A window: warms up, makes `hits` hits, and returns how many ticks they took. */
typedef uint64_t bench_window(void *context, uint64_t hits);

/* A subject of measurement, and its results per hit. */
struct bench_subject {
    bench_window *run;
    void *context;
    double min_ns, median_ns;
};

enum { BENCH_FLOOR_WORDS = 1024, BENCH_SUBJECTS_MAX = 8 };

/* Runs `windows` windows of each subject, alternating, and computes minimum and median. */
void bench_interleave(struct bench_subject *subjects, int count, uint64_t hits, int windows);

/* The floor; context is NULL. Uses a buffer of the calling thread. */
uint64_t bench_floor_window(void *context, uint64_t hits);

/* Probes with a constant id, all in one chunk, which must have space for them: it is replaced, if
 * necessary, before the window. */
uint64_t bench_probe_window(void *context, uint64_t hits);
uint64_t bench_probe_chunk_window(void *context, uint64_t hits);

/* Makes hits until the calling thread's chunk has space for `hits` more hits and a few others. */
void bench_need_chunk(uint64_t hits);

/* In common_off.c, which is compiled with PROBITY_DISABLE. */
uint64_t bench_compiled_out_window(void *context, uint64_t hits);

double bench_ns_per_tick(void);
double bench_ns_of(uint64_t ticks);
double bench_wall_s(void);
/* CPU time of all threads of this process, and of the calling one. */
double bench_process_cpu_s(void);
double bench_thread_cpu_s(void);
/* Call after bench_start(); otherwise the writer thread would be pinned to the same CPU. */
void bench_pin(int cpu);
double bench_median(double *values, size_t count);
/* The p-th part, 0 to 1, of sorted values. */
double bench_percentile(const double *sorted, size_t count, double p);
void bench_sort(double *values, size_t count);

/* target: "<= 1.05", ">= 15", "= 0", or "" if there is none. */
void bench_row(const char *what, double value, const char *unit, const char *target);
void bench_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_fail(const char *what) __attribute__((noreturn));

/* Starts recording to "bench.PID.probity" in the working directory; options may be NULL. Returns
 * the path. */
const char *bench_start(const struct probity_options *options);

/* Taken from the END block and the size of the file (doc/trace-format.md). */
struct bench_trace {
    uint64_t bytes, records, dropped, stalls, stall_ticks;
};

/* Call after bench_start() with PROBITY_WRITER=external: starts a process that writes the trace,
 * and waits until it is ready. bench_stop() waits for its end. tool: path of `probity`. */
void bench_drain(const char *tool);

/* CPU time of that process, after its end. */
double bench_drainer_cpu_s(void);

/* Stops recording, and removes the trace unless `keep` is set. */
void bench_stop(int keep, struct bench_trace *ret_trace);

/* Integer work limited by throughput: six independent chains, about 1 ns per round. There is only
 * one copy, because the layout of a loop in the code matters more than the cost of a probe. */
struct bench_work {
    uint64_t a, b, c, d, e, f;
};
void bench_work_do(struct bench_work *work, uint64_t rounds);

/* Returns how many rounds take this long on this machine at the moment. */
uint64_t bench_work_rounds(double ns);

#endif
