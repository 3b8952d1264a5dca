/* SPDX-License-Identifier: MIT
 *
 * storm.c: all threads probe and fork at random moments, three generations deep, while other
 * threads change chunks and the writer threads drain. Children are created and end in every
 * possible way. The file LEDGER contains the numbers of recorded hits, which are printed once all
 * processes have ended.
 *
 *     storm LEDGER SEED ROUNDS [THREADS]
 */
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "programs/expected_counts.h"

enum { THREADS_MAX = 16, DEPTH_MAX = 3, LEAF_STREAM = 20, AT_EXIT_STREAM = 21, FORK_STREAM = 22 };

struct worker {
    uint64_t random;
    uint32_t stream, depth, rounds;
};

static struct expected_counts *counts;
static const char *expected_counts_path;
static uint32_t threads;

static uint64_t draw(uint64_t *random, uint64_t below)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random % below;
}

static void *work(void *argument);

/* Runs a process's threads; the caller does the last one's work. */
static void work_together(uint64_t random, uint32_t depth, uint32_t rounds, uint32_t count)
{
    struct worker worker[THREADS_MAX];
    pthread_t thread[THREADS_MAX];

    for (uint32_t i = 0; i < count; i++) {
        worker[i] = (struct worker){random + 977 * (i + 1), i, depth, rounds};
        if (i + 1 < count)
            hits_need(!pthread_create(&thread[i], NULL, work, &worker[i]), "thread");
    }
    work(&worker[count - 1]);
    for (uint32_t i = 0; i + 1 < count; i++)
        pthread_join(thread[i], NULL);
    while (wait(NULL) > 0)
        ;
}

static void probe_at_exit(void)
{
    expected_counts_make(expected_counts_row(counts, AT_EXIT_STREAM), 10);
}

static void become_leaf(void)
{
    char *const arguments[] = {(char *)"storm", (char *)expected_counts_path, (char *)"leaf", NULL};

    execv("/proc/self/exe", arguments);
    _exit(98);
}

static pid_t clone_raw(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static pid_t clone_by_struct(void)
{
    struct clone_args arguments = {.exit_signal = SIGCHLD};

    return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

/* A child of a raw clone may only do what a signal handler may do (no pthread_create(), so it fills
 * no chunk). */
static void live_raw(uint64_t *random)
{
    expected_counts_make(expected_counts_row(counts, 0), draw(random, 300));
    _exit(0);
}

static void live(uint64_t *random, uint32_t depth)
{
    uint64_t hits = draw(random, 4) == 0 ? 20000 : 1 + draw(random, 2000);

    switch (draw(random, 7)) {
    case 0:
        _exit(0); /* without a probe */
    case 1:
        expected_counts_make(expected_counts_row(counts, 0), hits);
        become_leaf();
        break;
    case 2:
        expected_counts_make(expected_counts_row(counts, 0), hits);
        raise(SIGKILL);
        break;
    case 3:
        expected_counts_make(expected_counts_row(counts, 0), hits);
        exit(0); /* probes again in exit handlers */
    case 4:
    case 5:
        if (depth < DEPTH_MAX)
            work_together(*random, depth + 1, 2, 1 + (uint32_t)draw(random, 3));
        break;
    default:
        expected_counts_make(expected_counts_row(counts, 0), hits);
    }
    _exit(0);
}

static __attribute__((noinline)) void vfork_leaf(void)
{
    if (vfork() == 0)
        become_leaf();
}

static void fork_somehow(struct worker *worker)
{
    uint64_t random = draw(&worker->random, UINT64_MAX) | 1;

    switch (draw(&worker->random, 8)) {
    case 0:
        vfork_leaf();
        break;
    case 1:
        if (clone_raw() == 0)
            live_raw(&random);
        break;
    case 2:
        if (clone_by_struct() == 0)
            live_raw(&random);
        break;
    default:
        if (fork() == 0)
            live(&random, worker->depth);
    }
}

static void *work(void *argument)
{
    enum { ALIVE_MAX = 3 };
    struct worker *worker = argument;
    struct expected_counts_row *row = expected_counts_row(counts, worker->stream);
    uint32_t alive = 0;

    for (uint32_t i = 0; i < worker->rounds; i++) {
        expected_counts_make(row, draw(&worker->random, 1500));
        fork_somehow(worker);
        /* Waits for any thread's child. */
        if (++alive > ALIVE_MAX && wait(NULL) > 0)
            alive--;
    }
    expected_counts_make(row, draw(&worker->random, 1500));
    return NULL;
}

int main(int argc, char **argv)
{
    int done[2];
    char byte;

    if (argc < 3)
        return 2;
    expected_counts_path = argv[1];
    counts = expected_counts_open(expected_counts_path);
    if (strcmp(argv[2], "leaf") == 0) {
        expected_counts_make(expected_counts_row(counts, LEAF_STREAM), 700);
        _exit(0);
    }
    threads = (uint32_t)hits_argument(argc, argv, 4, 4);
    hits_need(threads <= THREADS_MAX && atexit(probe_at_exit) == 0 && pipe(done) == 0, "start");
    work_together(hits_argument(argc, argv, 2, 1) * 0x9e3779b97f4a7c15 | 1, 0,
                  (uint32_t)hits_argument(argc, argv, 3, 10), threads);
    /* The other end of the pipe is open in all remaining processes. */
    close(done[1]);
    hits_need(read(done[0], &byte, 1) == 0, "read");
    expected_counts_make(expected_counts_row(counts, FORK_STREAM), 1);
    expected_counts_print(counts);
    hits_expect(getpid(), AT_EXIT_STREAM, 10);
    return 0;
}
