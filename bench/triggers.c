/* SPDX-License-Identifier: MIT
 *
 * triggers.c WHAT: the cost of a ring and its dumps; bench/triggers.sh sets the environment.
 *
 *     scopes M     M million scopes: ns of one, median of windows; CPU time of all threads for one
 *     requests S THREADS [MS]
 *                  for S s, calls of some 20 us in each of 1 or 2 threads: percentiles of their
 *                  times; with MS, the interval of dumps in ms
 *     dump         fills 16 MiB, requests a dump, waits for its file (argument): CPU time that the
 *                  writer thread took
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include "common.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW = 300, THREADS_MAX = 2, TIMES_MAX = 4 << 20 };

static volatile unsigned sink;

static __attribute__((noinline)) void subject(void)
{
    FN_FUNC(void, FN_1);
}

static __attribute__((noinline)) void handle(void)
{
    FN_FUNC(void, FN_1);
    for (int i = 0; i < 10; i++) {
        subject();
        for (unsigned work = 0; work < 5000; work++)
            sink = sink + work;
    }
}

/* ---- Scopes ------------------------------------------------------------------------------------
 */

static void scopes(uint64_t count)
{
    size_t windows = count / WINDOW;
    double *ns = malloc(windows * sizeof *ns), cpu_s, wall_s;

    if (ns == NULL)
        bench_fail("memory");
    subject();
    cpu_s = bench_process_cpu_s();
    wall_s = bench_wall_s();
    for (size_t i = 0; i < windows; i++) {
        uint64_t begin = probity_ticks();
        for (int j = 0; j < WINDOW; j++)
            subject();
        ns[i] = bench_ns_of(probity_ticks() - begin) / WINDOW;
    }
    cpu_s = bench_process_cpu_s() - cpu_s;
    wall_s = bench_wall_s() - wall_s;
    bench_sort(ns, windows);
    printf("%.2f %.2f %.2f %.2f\n", ns[0], bench_percentile(ns, windows, 0.5),
           cpu_s * 1e9 / (double)count, wall_s * 1e9 / (double)count);
}

/* ---- Requests ----------------------------------------------------------------------------------
 */

static int is_over;
static double *times[THREADS_MAX];
static size_t counts[THREADS_MAX];

static void *serve(void *argument)
{
    int thread = *(int *)argument;

    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED) && counts[thread] < TIMES_MAX) {
        uint64_t begin = probity_ticks();
        handle();
        times[thread][counts[thread]++] = bench_ns_of(probity_ticks() - begin);
    }
    return NULL;
}

static void pause_ms(long ms)
{
    struct timespec rest = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&rest, NULL);
}

static void requests(long seconds, int threads, long each_ms)
{
    pthread_t thread[THREADS_MAX];
    int numbers[THREADS_MAX], dumps = 0;
    size_t all = 0;

    if (threads < 1 || threads > THREADS_MAX)
        bench_fail("1 or 2 threads");
    for (int i = 0; i < threads; i++) {
        numbers[i] = i;
        times[i] = malloc(TIMES_MAX * sizeof *times[i]);
        if (times[i] == NULL || pthread_create(&thread[i], NULL, serve, &numbers[i]) != 0)
            bench_fail("threads");
    }
    for (double end_s = bench_wall_s() + (double)seconds; bench_wall_s() < end_s;) {
        pause_ms(each_ms != 0 ? each_ms : 100);
        dumps += each_ms != 0 && probity_snapshot("bench") == 0;
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    double *joined = malloc((size_t)threads * TIMES_MAX * sizeof *joined);
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        if (joined != NULL)
            memcpy(joined + all, times[i], counts[i] * sizeof *joined);
        all += counts[i];
    }
    if (joined == NULL)
        bench_fail("memory");
    bench_sort(joined, all);
    printf("%zu %d %.2f %.2f %.2f\n", all, dumps, bench_percentile(joined, all, 0.5) / 1000,
           bench_percentile(joined, all, 0.99) / 1000, bench_percentile(joined, all, 0.999) / 1000);
}

/* ---- A dump ------------------------------------------------------------------------------------
 */

/* CPU time of the writer thread in ns; 0: there is none. */
static uint64_t writer_ns(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned long long ns = 0;
    char path[320], name[32];

    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        int is_writer = file != NULL && fgets(name, sizeof name, file) != NULL &&
                        strcmp(name, "probity-writer\n") == 0;
        if (file != NULL)
            fclose(file);
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
        file = is_writer ? fopen(path, "r") : NULL;
        if (file != NULL && fscanf(file, "%llu", &ns) != 1)
            ns = 0;
        if (file != NULL)
            fclose(file);
    }
    if (tasks != NULL)
        closedir(tasks);
    return ns;
}

static void dump(const char *file)
{
    for (int i = 0; i < 1 << 20; i++) /* two records of 8 bytes each */
        subject();
    pause_ms(300);
    uint64_t before_ns = writer_ns();
    double wall_s = bench_wall_s();
    if (probity_snapshot("bench") != 0)
        bench_fail("no snapshot: PROBITY_RING is not set");
    while (access(file, F_OK) != 0)
        pause_ms(1);
    wall_s = bench_wall_s() - wall_s;
    pause_ms(5);
    printf("%.2f %.2f\n", (double)(writer_ns() - before_ns) / 1e6, wall_s * 1e3);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "scopes") == 0)
        scopes(strtoull(argv[2], NULL, 10) * 1000000);
    else if (argc > 3 && strcmp(argv[1], "requests") == 0)
        requests(atol(argv[2]), atoi(argv[3]), argc > 4 ? atol(argv[4]) : 0);
    else if (argc > 2 && strcmp(argv[1], "dump") == 0)
        dump(argv[2]);
    else
        return 2;
    return 0;
}
