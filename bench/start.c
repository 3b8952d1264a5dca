/* SPDX-License-Identifier: MIT
 *
 * start.c: the cost to a process of starting a recording, making a few hits and stopping. Each
 * round runs this program three times: it measures its own start and stop, records because
 * PROBITY_OUT is set, or does the same without recording. The traces are first in the current
 * directory, then on tmpfs, where creating a file always costs the same: ext4 does not reuse inodes
 * that were removed within the last minutes, and searches for another one. For the same reason,
 * traces are removed after the last round.
 */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 400, WARM_UP = 20, HITS = 7, TRACES = 2 * (WARM_UP + ROUNDS), NAME_BYTES = 64 };

/* Per round, in us. */
enum figure { START_CPU, START_WALL, END_CPU, END_WALL, CPU, WALL, ADDED_CPU, ADDED_WALL, FIGURES };

struct moment {
    double wall_s, cpu_s;
};

static double figures[FIGURES][ROUNDS];
static char directory[NAME_BYTES]; /* of the traces */

static void name_trace(char name[NAME_BYTES], int number)
{
    snprintf(name, NAME_BYTES, "%.40s/%d.probity", directory, number);
}

static void remove_traces(void)
{
    char name[NAME_BYTES];

    for (int i = 0; i < TRACES; i++) {
        name_trace(name, i);
        unlink(name);
    }
    rmdir(directory);
}

static double cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct moment now(void)
{
    return (struct moment){bench_wall_s(), cpu_s()};
}

static void few_hits(void)
{
    for (int i = 0; i < HITS; i++)
        PROBITY_PROBE(7);
}

/* Measures itself. Prints when the start began and ended, and when the end began and ended. */
static int measure_self(const char *out)
{
    const struct probity_options options = {.out = out};
    struct moment moment[4];

    moment[0] = now();
    if (probity_start(&options) != 0)
        return 1;
    moment[1] = now();
    few_hits();
    moment[2] = now();
    if (probity_stop() != 0)
        return 1;
    moment[3] = now();
    return write(STDOUT_FILENO, moment, sizeof moment) != sizeof moment;
}

/* Runs this program as `what` and reads its output; returns the times of the whole process. */
static struct moment run(const char *what, const char *out, void *ret_bytes, size_t count)
{
    struct rusage usage;
    int status, ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        bench_fail("pipe");
    double first_s = bench_wall_s();
    pid_t child = vfork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "start", what, out, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], ret_bytes, count);
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0 ||
        got != (ssize_t)count)
        bench_fail(what);
    double last_s = bench_wall_s();
    close(ends[0]);
    return (struct moment){last_s - first_s,
                           (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                               1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)};
}

static void measure(int round)
{
    struct moment at[4], on, off;
    char unused, out[NAME_BYTES];
    int number = 2 * (round + WARM_UP);

    name_trace(out, number);
    run("self", out, at, sizeof at);
    name_trace(out, number + 1);
    for (int second = 0; second < 2; second++) {
        int is_on = (round + second) % 2; /* alternate which one runs first */
        if (is_on)
            setenv("PROBITY_OUT", out, 1);
        *(is_on ? &on : &off) = run("hits", out, &unused, 0);
        unsetenv("PROBITY_OUT");
    }
    if (round < 0)
        return;
    const double values[FIGURES] = {
        [START_CPU] = at[1].cpu_s - at[0].cpu_s, [START_WALL] = at[1].wall_s - at[0].wall_s,
        [END_CPU] = at[3].cpu_s - at[2].cpu_s,   [END_WALL] = at[3].wall_s - at[2].wall_s,
        [CPU] = at[3].cpu_s - at[0].cpu_s,       [WALL] = at[3].wall_s - at[0].wall_s,
        [ADDED_CPU] = on.cpu_s - off.cpu_s,      [ADDED_WALL] = on.wall_s - off.wall_s};
    for (int i = 0; i < FIGURES; i++)
        figures[i][round] = 1e3 * values[i];
}

static void print(int is_first)
{
    static const struct {
        const char *what, *target;
    } rows[FIGURES] = {[START_CPU] = {"start: CPU time, median", ""},
                       [START_WALL] = {"start: wall time, median", ""},
                       [END_CPU] = {"end: CPU time, median", ""},
                       [END_WALL] = {"end: wall time, median", ""},
                       [CPU] = {"start, 7 hits and end: CPU time, median", "<= 0.8"},
                       [WALL] = {"start, 7 hits and end: wall time, median", "<= 1.5"},
                       [ADDED_CPU] = {"added to a whole process: CPU time, median", ""},
                       [ADDED_WALL] = {"added to a whole process: wall time, median", ""}};
    char name[80];

    for (int i = 0; i < FIGURES; i++) {
        snprintf(name, sizeof name, "%s%s", is_first ? "" : "trace on tmpfs: ", rows[i].what);
        bench_row(name, bench_median(figures[i], ROUNDS), "ms", rows[i].target);
        bench_note("%s: least %.3f ms, 90 %% below %.3f ms", name, figures[i][0],
                   bench_percentile(figures[i], ROUNDS, 0.9));
    }
}

/* Returns 0 if the traces cannot be there. */
static int measure_in(const char *parent, int is_first)
{
    snprintf(directory, sizeof directory, "%.16s/bench.start.%d", parent, (int)getpid());
    if (mkdir(directory, 0777) != 0)
        return 0;
    for (int round = -WARM_UP; round < ROUNDS; round++)
        measure(round);
    print(is_first);
    remove_traces();
    return 1;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "self") == 0)
        return measure_self(argv[2]);
    if (argc > 1) {
        few_hits();
        return 0;
    }
    if (!measure_in(".", 1))
        bench_fail("mkdir");
    if (!measure_in("/dev/shm", 0))
        bench_note("no directory in /dev/shm");
    return 0;
}
