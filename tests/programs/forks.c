/* SPDX-License-Identifier: MIT
 *
 * forks.c: forks children of a process that records. Each process has its own trace, and prints the
 * hits that must be in it.
 *
 *     forks HOW
 */
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/hits.h"

enum { HITS = 5000, THREADS = 3, CHILDREN = 4 };

static void expect_now(uint32_t stream, uint64_t count)
{
    hits_expect(getpid(), stream, count);
    fflush(stdout);
}

static void *make_three(void *stream)
{
    hits_make((uint32_t)(uintptr_t)stream, 0, 3);
    return NULL;
}

static void wait_for_all(void)
{
    while (wait(NULL) > 0)
        ;
}

/* Records in the parent and in children, before and after the fork; children end by exit() and
 * _exit(). */
static void fork_plain(void)
{
    hits_make(0, 0, HITS);
    for (uint32_t i = 1; i <= CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) {
            hits_make(i, 0, HITS * i);
            expect_now(i, HITS * i);
            if (i % 2 == 0)
                _exit(0);
            exit(0);
        }
        hits_make(0, (uint64_t)i * HITS, HITS);
    }
    expect_now(0, HITS * (1 + CHILDREN));
    wait_for_all();
}

/* Forks generations: each process forks, then ends. */
static void fork_chain(void)
{
    for (uint32_t generation = 0; generation < 5; generation++) {
        hits_make(generation, 0, HITS);
        expect_now(generation, HITS);
        if (fork() != 0) {
            wait_for_all();
            return;
        }
    }
}

static void *record_and_fork(void *argument)
{
    uint32_t stream = (uint32_t)(uintptr_t)argument;

    for (uint32_t round = 0; round < 20; round++) {
        hits_make(stream, (uint64_t)round * HITS, HITS);
        pid_t child = fork();
        if (child == 0) {
            hits_make(10 + stream, 0, 100);
            hits_expect(getpid(), 10 + stream, 100);
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return NULL;
}

/* Forks in every thread while other threads are inside probes and chunk changes. */
static void fork_from_threads(void)
{
    pthread_t thread[THREADS];

    for (uint32_t i = 0; i < THREADS; i++) {
        int result = pthread_create(&thread[i], NULL, record_and_fork, (void *)(uintptr_t)i);
        hits_need(result == 0, "thread");
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        expect_now(i, 20 * HITS);
    }
}

/* A vfork child shares the parent's memory until it execs. */
static __attribute__((noinline)) void vfork_and_make(uint32_t stream, uint64_t first,
                                                     uint64_t count)
{
    char *const arguments[] = {(char *)"forks", (char *)"leaf", NULL};
    pid_t child = vfork();

    if (child == 0) {
        hits_make(stream, first, count);
        execv("/proc/self/exe", arguments);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

static void fork_with_exec(void)
{
    hits_make(0, 0, HITS);
    vfork_and_make(0, HITS, 1);
    hits_make(0, HITS + 1, HITS);
    wait_for_all();
    expect_now(0, 2 * HITS + 1);
}

static void leaf(void)
{
    hits_make(5, 0, HITS);
    expect_now(5, HITS);
}

/* Same as above, but the child's probe is the thread's first one. The thread, which continues long
 * after the child has ended, must not use any of the child's state. */
static void *first_in_vfork(void *argument)
{
    uint64_t made = 0;

    (void)argument;
    vfork_and_make(31, 0, 1); /* may not be recorded, as no thread of this process made it */
    for (int look = 0; look < 20; look++) { /* the writer looks at threads this often */
        hits_make(1, made, HITS);
        made += HITS;
        probity_flush();
    }
    expect_now(1, made);
    return NULL;
}

static void fork_first(void)
{
    pthread_t thread;

    hits_make(0, 0, HITS);
    hits_need(pthread_create(&thread, NULL, first_in_vfork, NULL) == 0, "thread");
    pthread_join(thread, NULL);
    expect_now(0, HITS);
}

/* A child has no writer thread until a chunk is full. If a vfork child fills a chunk, it must not
 * start the writer thread, because exec would end the thread. */
static void fork_full(void)
{
    enum { MANY = 8000 };

    if (fork() != 0) {
        wait_for_all();
        return;
    }
    hits_make(0, 0, HITS / 10);
    vfork_and_make(0, HITS / 10, MANY);
    for (uint64_t i = 0; i < 10; i++)
        hits_make(0, HITS / 10 + (i + 1) * MANY, MANY);
    wait_for_all();
    expect_now(0, HITS / 10 + 11 * MANY);
}

/* A child's very first probe is made by its own vfork child: the recording must belong to the
 * child, not to the vfork child, which soon ends. */
static void fork_start(void)
{
    if (fork() != 0) {
        wait_for_all();
        return;
    }
    vfork_and_make(31, 0, 1);
    hits_make(0, 0, 20 * HITS);
    expect_now(0, 20 * HITS);
}

/* Threads of a child exit before they fill a chunk, and there are more of them than chunks. */
static void fork_short_threads(void)
{
    enum { SHORT = 300 };

    if (fork() == 0) {
        for (uint32_t i = 0; i < SHORT; i++) {
            pthread_t thread;
            hits_need(!pthread_create(&thread, NULL, make_three, (void *)(uintptr_t)i), "thread");
            pthread_join(thread, NULL);
            hits_expect(getpid(), i, 3);
        }
        exit(0);
    }
    wait_for_all();
}

/* A daemon: forked twice, in a new session and another directory, without descriptors. The pipe is
 * closed when the daemon is done; its number of hits is in shared memory. */
static void fork_daemon(void)
{
    long *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0);
    int done[2];
    char byte;

    hits_need(shared != MAP_FAILED && pipe(done) == 0, "pipe");
    hits_make(0, 0, HITS);
    if (fork() == 0) {
        hits_make(1, 0, HITS);
        expect_now(1, HITS);
        setsid();
        if (fork() != 0)
            _exit(0);
        hits_need(chdir("/") == 0, "chdir");
        for (int descriptor = 0; descriptor < 64; descriptor++) {
            if (descriptor != done[1])
                close(descriptor);
        }
        hits_make(2, 0, 20 * HITS);
        *shared = getpid();
        exit(0);
    }
    close(done[1]);
    hits_need(read(done[0], &byte, 1) == 0, "read"); /* the daemon has exited */
    wait_for_all();
    expect_now(0, HITS);
    hits_expect(*shared, 2, 20 * HITS);
}

/* Forks by a system call, bypassing libc. */
static void fork_raw(void)
{
    hits_make(0, 0, HITS);
    if (syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
        pid_t pid = (pid_t)syscall(SYS_getpid);
        hits_make(1, 0, HITS);
        hits_expect(pid, 1, HITS);
        fflush(stdout);
        _exit(0);
    }
    hits_make(0, HITS, HITS);
    wait_for_all();
    expect_now(0, 2 * HITS);
}

/* Parent and child take turns: the process that has the byte makes a hit and passes the byte on. */
static void take_turns(int from, int to, uint32_t stream)
{
    char byte = 0;

    for (uint64_t i = 0; i < HITS; i++) {
        if (i > 0 || stream != 0)
            hits_need(read(from, &byte, 1) == 1, "read");
        PROBITY_PROBE(hits_id(stream, i));
        hits_need(write(to, &byte, 1) == 1, "write");
    }
    expect_now(stream, HITS);
}

static void fork_in_turns(void)
{
    int there[2], back[2];

    hits_need(pipe(there) == 0 && pipe(back) == 0, "pipe");
    if (fork() == 0) {
        take_turns(there[0], back[1], 1);
        _exit(0);
    }
    take_turns(back[0], there[1], 0);
    wait_for_all();
}

/* The child does not record, so it must not create a file. */
static void fork_silent(void)
{
    hits_make(0, 0, HITS);
    if (fork() == 0)
        exit(0);
    wait_for_all();
    expect_now(0, HITS);
}

/* A recording that was stopped is not restarted in children. */
static void fork_stopped(void)
{
    hits_make(0, 0, HITS);
    expect_now(0, HITS);
    probity_stop();
    if (fork() == 0) {
        hits_make(1, 0, HITS);
        _exit(0);
    }
    wait_for_all();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"plain", fork_plain},   {"chain", fork_chain},   {"threads", fork_from_threads},
                {"vfork", fork_with_exec}, {"leaf", leaf},          {"raw", fork_raw},
                {"silent", fork_silent}, {"stopped", fork_stopped}, {"turns", fork_in_turns},
                {"daemon", fork_daemon}, {"vfork_first", fork_first}, {"vfork_full", fork_full},
                {"vfork_start", fork_start},
                {"short", fork_short_threads}};

    hits_buffer_output();
    for (size_t i = 0; i < sizeof ways / sizeof *ways && argc > 1; i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
            return 0;
        }
    }
    return 2;
}
