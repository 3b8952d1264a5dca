/* SPDX-License-Identifier: MIT
 *
 * on_command.c: executes each line of its input, in a thread named "worker", and prints the line
 * when it is done. It does nothing in between.
 *
 *     hit N     passes probe 1 N times
 *     name N    passes the named site "tick" N times
 *     call N    calls step() N times
 *     work N    calls busy() N times, each of which lasts some ten microseconds of CPU time
 *     fork N    forks N children, each of which calls slow(), which takes 100 ms
 *     child N   forks a child that passes "tick" and calls step() N times, and forks one that does
 *               the same
 */
#define FN_INSTRUMENT
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "FnTrace.h"
#include "probity.h"

static void step(void)
{
    FN_FUNC(void, FN_1);
}

static void busy(void)
{
    FN_FUNC(void, FN_1);
    for (volatile int i = 0; i < 10000; i++)
        ;
}

static void slow(void)
{
    FN_FUNC(void, FN_1);
    usleep(100000);
}

static void fork_child(void)
{
    pid_t child = fork();

    if (child == 0) {
        slow();
        exit(0);
    }
    waitpid(child, NULL, 0);
}

static void hit(void)
{
    PROBITY_PROBE(1);
}

static void tick(void)
{
    PROBITY_PROBE_NAMED("tick");
}

static void run_child(long count, int generations)
{
    pid_t child = fork();

    if (child == 0) {
        for (long i = 0; i < count; i++) {
            tick();
            step();
        }
        if (generations > 1)
            run_child(count, generations - 1);
        exit(0);
    }
    waitpid(child, NULL, 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} commands[] = {{"hit", hit}, {"name", tick}, {"call", step}, {"work", busy},
                {"fork", fork_child}};

static void *run_worker(void *unused)
{
    char name[16];
    long count;

    prctl(PR_SET_NAME, "worker");
    while (scanf("%15s %ld", name, &count) == 2) {
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            for (long j = 0; strcmp(name, commands[i].name) == 0 && j < count; j++)
                commands[i].run();
        }
        if (strcmp(name, "child") == 0)
            run_child(count, 2);
        printf("%s %ld\n", name, count);
        fflush(stdout);
    }
    return unused;
}

int main(void)
{
    pthread_t worker;

    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* for hold_thread */
    if (pthread_create(&worker, NULL, run_worker, NULL) != 0)
        return 1;
    pthread_join(worker, NULL);
    return 0;
}
