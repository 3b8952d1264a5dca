/* SPDX-License-Identifier: MIT
 *
 * locks.c: the cost of a free lock with libprobity-calls. This program runs itself with the library
 * preloaded: recording nothing, only counting, and recording. In each run, calls through the
 * library alternate with direct calls to libc's functions, by address.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

#define OUT "bench.locks.probity"

/* A window fits into one chunk of the thread. */
enum { PAIRS = 1000, WINDOWS = 2000, FIGURES = 4 };

typedef int mutex_function(pthread_mutex_t *mutex);
struct pair {
    mutex_function *lock, *unlock;
};

static uint64_t pairs_window(void *context, uint64_t hits)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const struct pair *pair = context;

    pair->lock(&mutex);
    pair->unlock(&mutex);
    uint64_t start = probity_ticks();
    for (uint64_t i = 0; i < hits; i++) {
        pair->lock(&mutex);
        pair->unlock(&mutex);
    }
    return probity_ticks() - start;
}

/* Writes the minimum and median of both to standard output. */
static int measure_self(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    struct pair bare = {NULL, NULL}, through = {pthread_mutex_lock, pthread_mutex_unlock};
    struct bench_subject subjects[] = {{pairs_window, &bare, 0, 0},
                                       {pairs_window, &through, 0, 0}};

    if (libc == NULL)
        return 1;
    *(void **)&bare.lock = dlsym(libc, "pthread_mutex_lock");
    *(void **)&bare.unlock = dlsym(libc, "pthread_mutex_unlock");
    if (bare.lock == NULL || bare.unlock == NULL || bare.lock == through.lock)
        return 1;
    bench_pin(0);
    bench_interleave(subjects, 2, PAIRS, WINDOWS);
    const double figures[FIGURES] = {subjects[0].min_ns, subjects[0].median_ns,
                                     subjects[1].min_ns, subjects[1].median_ns};
    return write(STDOUT_FILENO, figures, sizeof figures) != sizeof figures;
}

/* BUILD/bench/locks: the library is in BUILD/lib. */
static void set_library(void)
{
    char own[PATH_MAX], path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);

    own[length > 0 ? length : 0] = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(own, '/');
        if (slash == NULL)
            bench_fail("/proc/self/exe");
        *slash = '\0';
    }
    snprintf(path, sizeof path, "%s/lib/libprobity-calls.so.0", own);
    if (access(path, R_OK) != 0)
        bench_fail(path);
    setenv("LD_PRELOAD", path, 1);
}

/* Runs this program with the library. calls: PROBITY_CALLS, or NULL: nothing is recorded. */
static void run(const char *calls, double ret_figures[FIGURES])
{
    int status, ends[2];

    if (calls != NULL) {
        setenv("PROBITY_CALLS", calls, 1);
        setenv("PROBITY_OUT", OUT, 1);
    }
    if (pipe(ends) != 0)
        bench_fail("pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "locks", "self", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t bytes = FIGURES * sizeof *ret_figures;
    ssize_t got = read(ends[0], ret_figures, bytes);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 || got != (ssize_t)bytes)
        bench_fail(calls != NULL ? calls : "nothing recorded");
    close(ends[0]);
    unlink(OUT);
}

static void put(const char *what, const char *calls, double share, const char *target)
{
    double figures[FIGURES];
    char text[96];

    run(calls, figures);
    snprintf(text, sizeof text, "%s adds, min", what);
    bench_row(text, (figures[2] - figures[0]) * share, "ns", target);
    snprintf(text, sizeof text, "%s adds, median", what);
    bench_row(text, (figures[3] - figures[1]) * share, "ns", target);
    if (calls == NULL)
        bench_row("mutex: bare lock and unlock, median", figures[1], "ns", "");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "self") == 0)
        return measure_self();
    /* The program also contains a static copy of libprobity, for the benchmarks' common code. */
    setenv("PROBITY_START", "first", 1);
    setenv("PROBITY_OVERWRITE", "1", 1);
    setenv("PROBITY_COST", "0", 1);
    setenv("PROBITY_CHUNK_RECORDS", "65536", 1);
    setenv("PROBITY_SPOOL_RECORDS", "4194304", 1);
    set_library();
    put("mutex: nothing recorded: one call", NULL, 0.5, "<= 1.5");
    put("mutex: counted: lock and unlock", "locks=waits", 1, "<= 8");
    put("mutex: recorded: lock and unlock", "locks", 1, "<= 30");
    return 0;
}
