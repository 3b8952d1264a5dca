/* SPDX-License-Identifier: MIT
 *
 * last_thread.c: a process that ends because its last thread exits, not by exit().
 *
 *     last_thread HOW
 *
 * HOW: alone      the main thread is the only one, and calls pthread_exit()
 *      workers    the main thread exits first; workers continue to record
 *      stopped    like alone, but recording was stopped before
 *      restarted  like workers, after the recording was stopped and started again
 *      failed     like workers, after the trace was removed: the writer thread gave up
 *      wait       the main thread exits; a worker waits for a signal
 *      raw        all threads exit by the system call, bypassing libc
 *      gate       like raw, but workers first wait for the end of standard input
 *
 * An exit handler, which records too, prints the hits that must be in the trace; if none runs, they
 * are printed before the end.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "programs/hits.h"

enum { WORKERS = 3, HITS = 20000 };

static const char *how;
static int has_workers;
static uint32_t workers_done;

static int is(const char *name)
{
    return strcmp(how, name) == 0;
}

/* Returns whether the main thread has exited, which makes it a zombie. */
static int main_has_left(void)
{
    char text[512], path[40];

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    FILE *file = fopen(path, "r");
    hits_need(file != NULL, path);
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = 0;
    const char *end = strrchr(text, ')');
    return end != NULL && end[1] == ' ' && end[2] == 'Z';
}

static void expect_workers(void)
{
    for (uint32_t i = 1; i <= WORKERS; i++)
        hits_expect(getpid(), i, HITS);
}

static void at_exit(void)
{
    hits_make(WORKERS + 1, 0, 10);
    hits_expect(getpid(), 0, 10);
    if (has_workers)
        expect_workers();
    hits_expect(getpid(), WORKERS + 1, 10);
}

static void *work(void *argument)
{
    uint32_t stream = (uint32_t)(uintptr_t)argument;

    hits_make(stream, 0, HITS / 2);
    while (!main_has_left())
        usleep(1000);
    hits_make(stream, HITS / 2, HITS / 2);
    __atomic_add_fetch(&workers_done, 1, __ATOMIC_RELEASE);
    if (is("gate"))
        while (read(STDIN_FILENO, &(char){0}, 1) > 0)
            ;
    if (is("raw") || is("gate"))
        syscall(SYS_exit, 0);
    if (is("wait") && stream == 1) {
        while (__atomic_load_n(&workers_done, __ATOMIC_ACQUIRE) < WORKERS)
            usleep(1000);
        expect_workers();
        hits_expect(getpid(), 0, 10);
        puts("ready");
        fflush(stdout);
        for (;;)
            pause();
    }
    return NULL;
}

static void start_workers(void)
{
    has_workers = 1;
    for (uint32_t i = 1; i <= WORKERS; i++) {
        pthread_t thread;
        hits_need(pthread_create(&thread, NULL, work, (void *)(uintptr_t)i) == 0, "thread");
        pthread_detach(thread);
    }
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "alone";
    atexit(at_exit);
    if (is("restarted")) {
        for (int i = 0; i < 3; i++)
            hits_need(probity_stop() == 0 && probity_start(NULL) == 0, "restart");
    }
    hits_make(0, 0, 10);
    if (is("failed")) {
        hits_need(probity_flush() == 0 && unlink(probity_trace_path()) == 0, "unlink");
        hits_make(0, 10, 10);
        hits_need(probity_flush() != 0, "a flush after the trace was removed");
    }
    if (is("stopped"))
        hits_need(probity_stop() == 0, "stop");
    if (!is("alone") && !is("stopped"))
        start_workers();
    if (is("raw") || is("gate")) {
        expect_workers();
        hits_expect(getpid(), 0, 10);
        fflush(stdout);
        syscall(SYS_exit, 0);
    }
    pthread_exit(NULL);
}
