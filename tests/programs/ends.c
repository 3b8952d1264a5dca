/* SPDX-License-Identifier: MIT
 *
 * ends.c: records in several threads, prints the hits that must be in the trace, and ends in the
 * given way while all threads are alive.
 *
 *     ends HOW [THREADS [HITS]]
 */
#include <signal.h>
#include <unistd.h>

#include "programs/hits.h"

static pthread_barrier_t all_done;
static uint64_t hits;

static void *work(void *argument)
{
    uint32_t stream = (uint32_t)(uintptr_t)argument;

    hits_make(stream, 0, hits);
    pthread_barrier_wait(&all_done);
    for (;;)
        pause();
    return NULL;
}

static void end_by_fault(void)
{
    volatile int *volatile nowhere = NULL;

    *nowhere = 1;
}

/* After exec, the new program records stream 30. */
static void end_by_exec(char *program)
{
    char *const arguments[] = {program, (char *)"again", NULL};

    hits_expect(getpid(), 30, 10);
    fflush(stdout);
    execv("/proc/self/exe", arguments);
}

static void end(const char *how, char *program)
{
    if (strcmp(how, "_exit") == 0)
        _exit(7);
    if (strcmp(how, "exit") == 0)
        exit(7);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(7);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "fault") == 0)
        end_by_fault();
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "term") == 0)
        raise(SIGTERM);
    if (strcmp(how, "group") == 0)
        kill(0, SIGKILL);
    if (strcmp(how, "exec") == 0)
        end_by_exec(program);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    uint32_t threads = (uint32_t)hits_argument(argc, argv, 2, 3);

    if (strcmp(how, "again") == 0) {
        hits_make(30, 0, 10);
        return 0;
    }
    hits = hits_argument(argc, argv, 3, 20000);
    pthread_barrier_init(&all_done, NULL, threads + 1);
    for (uint32_t i = 1; i <= threads; i++) {
        pthread_t thread;
        hits_need(pthread_create(&thread, NULL, work, (void *)(uintptr_t)i) == 0, "thread");
    }
    hits_make(0, 0, hits);
    pthread_barrier_wait(&all_done);
    for (uint32_t i = 0; i <= threads; i++)
        hits_expect(getpid(), i, hits);
    fflush(stdout);
    end(how, argv[0]);
    return 7;
}
