/* SPDX-License-Identifier: MIT
 *
 * alive.c: records in one of the states in which it is hard to determine from outside whether a
 * process is alive. Writes the path of its trace to the FIFO "ready", and continues when something
 * is written to the FIFO "go". It reopens the FIFOs each time, because it may have closed its
 * descriptors in between. stdout: the hits that must be in the trace.
 *
 *     alive HOW
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/hits.h"

enum { HITS = 16 };

static void report(const char *path)
{
    int ready = open("ready", O_WRONLY | O_CLOEXEC);

    hits_need(ready >= 0, "ready");
    hits_need(write(ready, path, strlen(path)) == (ssize_t)strlen(path), "ready");
    close(ready);
}

static void wait_for_go(void)
{
    char byte;
    int go = open("go", O_RDONLY | O_CLOEXEC);

    hits_need(go >= 0, "go");
    while (read(go, &byte, 1) > 0)
        ;
    close(go);
}

/* Records before and after it is checked from outside. */
static void *record(void *argument)
{
    (void)argument;
    hits_make(2, 0, HITS);
    report(probity_trace_path());
    wait_for_go();
    hits_make(2, HITS, HITS);
    return NULL;
}

static void *record_and_exit(void *argument)
{
    record(argument);
    exit(0);
}

static void expect_and_record(void)
{
    hits_expect(getpid(), 2, 2 * HITS);
    fflush(stdout);
    record(NULL);
}

/* Ends the first thread, but not the process. */
static void end_first_thread(void)
{
    pthread_t thread;

    hits_expect(getpid(), 2, 2 * HITS);
    fflush(stdout);
    hits_need(pthread_create(&thread, NULL, record_and_exit, NULL) == 0, "pthread_create");
    pthread_exit(NULL);
}

static void close_all(void)
{
    hits_expect(getpid(), 2, 3 * HITS);
    fflush(stdout);
    hits_make(2, 0, HITS);
    hits_need(syscall(SYS_close_range, 0, ~0U, 0) == 0, "close_range");
    hits_make(2, HITS, HITS);
    report(probity_trace_path());
    wait_for_go();
    hits_make(2, 2 * HITS, HITS);
}

/* Executes a program that records nothing and reports the trace of the old one. */
static void execute(void)
{
    char path[4096];

    hits_expect(getpid(), 2, HITS);
    fflush(stdout);
    hits_make(2, 0, HITS);
    snprintf(path, sizeof path, "%s", probity_trace_path());
    unsetenv("PROBITY_OUT");
    execl("/proc/self/exe", "alive", "executed", path, (char *)NULL);
    hits_need(0, "exec");
}

/* Creates a child, without libc, that records nothing and outlives its parent. */
static void clone_raw(void)
{
    hits_expect(getpid(), 2, HITS);
    fflush(stdout);
    hits_make(2, 0, HITS);
    const char *path = strdup(probity_trace_path());
    if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
        report(path);
        wait_for_go();
        _exit(0);
    }
    pause();
}

/* Records in a forked child, which has no writer thread until its first chunk is full. */
static void in_child(void (*what)(void))
{
    int status;

    PROBITY_PROBE(hits_id(1, 0));
    hits_expect(getpid(), 1, 1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        what();
        exit(0);
    }
    hits_need(waitpid(child, &status, 0) == child, "waitpid");
    hits_need(status == 0, "child");
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (strcmp(how, "child") == 0)
        in_child(expect_and_record);
    else if (strcmp(how, "first_thread_ends") == 0)
        end_first_thread();
    else if (strcmp(how, "child_first_thread_ends") == 0)
        in_child(end_first_thread);
    else if (strcmp(how, "closes_all") == 0)
        close_all();
    else if (strcmp(how, "child_closes_all") == 0)
        in_child(close_all);
    else if (strcmp(how, "child_executes") == 0)
        in_child(execute);
    else if (strcmp(how, "clones") == 0)
        clone_raw();
    else if (strcmp(how, "executed") == 0 && argc > 2)
        report(argv[2]), wait_for_go();
    else
        hits_need(0, "how");
    return 0;
}
