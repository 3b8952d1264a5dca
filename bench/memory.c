/* SPDX-License-Identifier: MIT
 *
 * memory.c: compares the memory that recording adds to a program with 1, 8 and 64 threads, all of
 * which have probed, with the formula in doc/overhead.md. Each number of threads is measured in a
 * separate child: resident memory before the start of recording, and when all threads are alive and
 * have filled many chunks each. The threads exist before the start, so that their stacks do not
 * count.
 */
#include "common.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS_MAX = 64, HITS = 100000, SEGMENT_CHUNKS = 128, CHUNK_BYTES = 32768 };

static pthread_barrier_t together;

static void *thread_main(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    for (uint64_t i = 0; i < HITS; i++)
        PROBITY_PROBE(1 + (uint32_t)(i & 7));
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    return NULL;
}

/* Returns a line of smaps_rollup, in bytes. */
static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    double kib = 0;

    if (file == NULL)
        bench_fail("/proc/self/smaps_rollup");
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "Rss:", 4) == 0)
            kib = atof(line + 4);
    fclose(file);
    return kib * 1024;
}

/* Returns the size of the file blocks of all files in the spool directory that this process has
 * mapped. */
static double spool_bytes(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[8192], before[4096] = "";
    double bytes = 0;

    if (file == NULL)
        bench_fail("/proc/self/maps");
    while (fgets(line, sizeof line, file) != NULL) {
        char *path = strstr(line, "/dev/shm/probity-");
        struct stat status;
        if (path == NULL)
            continue;
        path[strcspn(path, "\n")] = 0;
        if (strcmp(path, before) != 0 && stat(path, &status) == 0)
            bytes += 512.0 * (double)status.st_blocks;
        snprintf(before, sizeof before, "%s", path);
    }
    fclose(file);
    return bytes;
}

struct result {
    double added, spool;
};

static struct result measure(int threads)
{
    pthread_t thread[THREADS_MAX];
    struct bench_trace trace;
    struct result result;

    pthread_barrier_init(&together, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, thread_main, NULL) != 0)
            bench_fail("thread");
    pthread_barrier_wait(&together);
    double before = resident_bytes();
    bench_start(NULL);
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    result.added = resident_bytes() - before;
    result.spool = spool_bytes();
    pthread_barrier_wait(&together);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    bench_stop(0, &trace);
    return result;
}

static struct result measure_in_child(int threads)
{
    struct result result;
    int status, ends[2];

    if (pipe(ends) != 0)
        bench_fail("pipe");
    pid_t child = fork();
    if (child == 0) {
        result = measure(threads);
        _exit(write(ends[1], &result, sizeof result) != sizeof result);
    }
    if (child < 0 || read(ends[0], &result, sizeof result) != sizeof result ||
        waitpid(child, &status, 0) != child || status != 0)
        bench_fail("child");
    close(ends[0]);
    close(ends[1]);
    return result;
}

int main(void)
{
    static const int counts[] = {1, 8, 64};
    const double mib = 1048576, fixed = 0.875 * mib;
    const double segment = 4096 + SEGMENT_CHUNKS * (64.0 + CHUNK_BYTES);
    char text[64];

    for (int i = 0; i < 3; i++) {
        int threads = counts[i];
        struct result result = measure_in_child(threads);
        int segments = 1 + threads / (SEGMENT_CHUNKS / 2);
        double formula = segments * segment + fixed + 128.0 * threads;
        snprintf(text, sizeof text, "%d threads: spool", threads);
        bench_row(text, result.spool / mib, "MiB", "");
        snprintf(text, sizeof text, "%d threads: resident memory added", threads);
        bench_row(text, result.added / mib, "MiB", "");
        snprintf(text, sizeof text, "%d threads: by the formula, at most", threads);
        bench_row(text, formula / mib, "MiB", "");
        snprintf(text, sizeof text, "%d threads: measured / formula", threads);
        bench_row(text, result.added / formula, "x", "<= 1");
    }
    return 0;
}
