/* SPDX-License-Identifier: MIT
 *
 * baseline_logger.c [MILLIONS]: Logger's method, reimplemented as a baseline. A probe reads two
 * system clocks and appends to its thread's array. Full arrays are moved under a mutex to a global
 * array, which a worker thread writes as CSV with fprintf. The floor and Probity are measured in
 * the same run. The file is written to the working directory and removed at the end.
 */
#include "common.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREAD_HITS = 4096, GLOBAL_HITS = 131072 };

struct hit {
    uint32_t id;
    pid_t tid;
    struct timespec cpu, wall;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct hit *fill, *write; /* two arrays, swapped */
    size_t filled, to_write;
    int ends;
    FILE *file;
    pthread_t worker;
} global = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static __thread struct hit own[THREAD_HITS];
static __thread size_t own_hits;
static __thread pid_t own_tid;

static void write_hits(const struct hit *hit, size_t count)
{
    for (size_t i = 0; i < count; i++, hit++)
        fprintf(global.file, "%d,%d,%u,%ld,%ld,%ld,%ld\n", (int)getpid(), (int)hit->tid, hit->id,
                (long)hit->cpu.tv_sec, hit->cpu.tv_nsec, (long)hit->wall.tv_sec,
                hit->wall.tv_nsec);
}

static void *worker_main(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&global.lock);
    while (!global.ends || global.to_write > 0) {
        if (global.to_write == 0) {
            pthread_cond_wait(&global.changed, &global.lock);
            continue;
        }
        pthread_mutex_unlock(&global.lock);
        write_hits(global.write, global.to_write);
        pthread_mutex_lock(&global.lock);
        global.to_write = 0;
        pthread_cond_broadcast(&global.changed);
    }
    pthread_mutex_unlock(&global.lock);
    return NULL;
}

/* Called with the lock held: passes the global array to the worker, which must have finished the
 * previous one. */
static void swap_arrays(void)
{
    while (global.to_write > 0)
        pthread_cond_wait(&global.changed, &global.lock);
    struct hit *full = global.fill;
    global.fill = global.write;
    global.write = full;
    global.to_write = global.filled;
    global.filled = 0;
    pthread_cond_broadcast(&global.changed);
}

static void own_hand_over(void)
{
    pthread_mutex_lock(&global.lock);
    if (global.filled + own_hits > GLOBAL_HITS)
        swap_arrays();
    memcpy(global.fill + global.filled, own, own_hits * sizeof *own);
    global.filled += own_hits;
    own_hits = 0;
    pthread_mutex_unlock(&global.lock);
}

static __attribute__((noinline)) void log_event(uint32_t id)
{
    struct hit *hit = &own[own_hits];

    hit->id = id;
    hit->tid = own_tid;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &hit->cpu);
    clock_gettime(CLOCK_REALTIME, &hit->wall);
    if (++own_hits == THREAD_HITS)
        own_hand_over();
}

static void logger_start(const char *path)
{
    own_tid = (pid_t)syscall(SYS_gettid);
    global.fill = calloc(GLOBAL_HITS, sizeof *global.fill);
    global.write = calloc(GLOBAL_HITS, sizeof *global.write);
    global.file = fopen(path, "w");
    if (global.fill == NULL || global.write == NULL || global.file == NULL ||
        pthread_create(&global.worker, NULL, worker_main, NULL) != 0)
        bench_fail(path);
}

static void logger_stop(void)
{
    own_hand_over();
    pthread_mutex_lock(&global.lock);
    swap_arrays();
    global.ends = 1;
    pthread_cond_broadcast(&global.changed);
    pthread_mutex_unlock(&global.lock);
    pthread_join(global.worker, NULL);
    if (fclose(global.file) != 0)
        bench_fail("CSV");
}

static uint64_t logger_window(void *context, uint64_t hits)
{
    (void)context;
    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++)
        log_event(7);
    return probity_ticks() - first;
}

int main(int argc, char **argv)
{
    uint64_t hits = (argc > 1 ? strtoull(argv[1], NULL, 10) : 4) * 1000000;
    static const char path[] = "bench.baseline_logger.csv";
    struct bench_subject burst[] = {{bench_floor_window, NULL, 0, 0},
                                    {logger_window, NULL, 0, 0},
                                    {bench_probe_chunk_window, NULL, 0, 0}};
    struct bench_trace trace;

    bench_start(NULL);
    logger_start(path);
    bench_pin(0);
    bench_interleave(burst, 3, 500, 400);
    double wall_s = bench_wall_s(), cpu_s = bench_process_cpu_s();
    logger_window(NULL, hits);
    logger_stop();
    double logger_ns = (bench_wall_s() - wall_s) * 1e9 / (double)hits;
    double logger_cpu_ns = (bench_process_cpu_s() - cpu_s) * 1e9 / (double)hits;
    unlink(path);
    wall_s = bench_wall_s();
    cpu_s = bench_process_cpu_s();
    bench_probe_window(NULL, hits);
    probity_flush();
    double probe_ns = (bench_wall_s() - wall_s) * 1e9 / (double)hits;
    double probe_cpu_ns = (bench_process_cpu_s() - cpu_s) * 1e9 / (double)hits;
    bench_stop(0, &trace);
    bench_row("floor, median", burst[0].median_ns, "ns", "");
    bench_row("baseline logger, burst, median", burst[1].median_ns, "ns", "");
    bench_row("baseline logger / floor", burst[1].median_ns / burst[0].median_ns, "x", "");
    bench_row("baseline logger / Probity, burst", burst[1].median_ns / burst[2].median_ns, "x", "");
    bench_row("sustained: baseline logger", logger_ns, "ns", "");
    bench_row("sustained: baseline logger / Probity", logger_ns / probe_ns, "x", "");
    bench_row("CPU of all threads: baseline logger", logger_cpu_ns, "ns", "");
    bench_row("CPU of all threads: baseline logger's / Probity", logger_cpu_ns / probe_cpu_ns, "x",
              "");
    return 0;
}
