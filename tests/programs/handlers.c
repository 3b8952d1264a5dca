/* SPDX-License-Identifier: MIT
 *
 * handlers.c: probes in callbacks of libc: fork handlers, exit handlers (one of which forks again),
 * destructors of thread data, and a callback of dl_iterate_phdr() while threads load libraries. The
 * file LEDGER contains the numbers of recorded hits, which are printed once all processes have
 * ended.
 *
 *     handlers LEDGER PLUGIN ROUNDS
 */
#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>

#include "programs/expected_counts.h"

enum { EACH = 30, THREADS = 8 };
enum { MAIN, PREPARE, PARENT, CHILD, AT_EXIT, AT_EXIT_CHILD, CALLBACK, DESTRUCTOR };

static struct expected_counts *counts;
static uint64_t rounds;
static pthread_key_t key;
static int is_over;

/* One row for each process that runs such a callback, shared by its handlers but not by its
 * threads. */
static void make(uint32_t stream)
{
    static struct expected_counts_row *row[DESTRUCTOR];

    if (row[stream] == NULL || row[stream]->pid != (uint64_t)getpid())
        row[stream] = expected_counts_row(counts, stream);
    expected_counts_make(row[stream], EACH);
}

static void prepare(void)
{
    make(PREPARE);
}

static void parent(void)
{
    make(PARENT);
}

static void child(void)
{
    make(CHILD);
}

static void at_exit(void)
{
    make(AT_EXIT);
    pid_t forked = fork();
    if (forked == 0) {
        make(AT_EXIT_CHILD);
        _exit(0);
    }
    waitpid(forked, NULL, 0);
}

static void at_exit_again(void)
{
    atexit(at_exit);
    make(AT_EXIT);
}

/* Called repeatedly until libc gives up; the last call is after everything that the library does at
 * the end. */
static void destroy(void *argument)
{
    expected_counts_make(argument, EACH);
    pthread_setspecific(key, argument);
}

static void *end_with_destructor(void *argument)
{
    struct expected_counts_row *row = expected_counts_row(counts,
                                                          DESTRUCTOR +
                                                          (uint32_t)(uintptr_t)argument);

    pthread_setspecific(key, row);
    expected_counts_make(row, EACH);
    return NULL;
}

static void *load(void *plugin)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        void *loaded = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
        hits_need(loaded != NULL, "dlopen");
        dlclose(loaded);
    }
    return NULL;
}

static int call_back(struct dl_phdr_info *info, size_t bytes, void *context)
{
    (void)info;
    (void)bytes;
    (void)context;
    make(CALLBACK);
    return probity_flush() == 0 ? 0 : -1;
}

static void run(char *plugin)
{
    pthread_t thread[THREADS], loader;

    hits_need(!pthread_atfork(prepare, parent, child) && !atexit(at_exit_again), "handlers");
    make(MAIN);
    hits_need(!pthread_atfork(prepare, parent, child) && !atexit(at_exit_again), "handlers");
    for (uint64_t i = 0; i < rounds; i++) {
        pid_t forked = fork();
        if (forked == 0)
            _exit(0);
        waitpid(forked, NULL, 0);
        make(MAIN);
    }
    for (uintptr_t i = 0; i < THREADS; i++)
        hits_need(!pthread_create(&thread[i], NULL, end_with_destructor, (void *)i), "thread");
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    hits_need(probity_flush() == 0, "flush"); /* starts the writer thread */
    hits_need(!pthread_create(&loader, NULL, load, plugin), "thread");
    for (uint64_t i = 0; i < rounds; i++)
        hits_need(dl_iterate_phdr(call_back, NULL) == 0, "flush in a callback");
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    pthread_join(loader, NULL);
}

int main(int argc, char **argv)
{
    int status = 0;

    if (argc < 4)
        return 2;
    counts = expected_counts_open(argv[1]);
    rounds = hits_argument(argc, argv, 3, 10);
    hits_need(pthread_key_create(&key, destroy) == 0, "key");
    pid_t forked = fork();
    if (forked == 0) {
        run(argv[2]);
        exit(0);
    }
    hits_need(waitpid(forked, &status, 0) == forked && status == 0, "run");
    expected_counts_print(counts);
    return 0;
}
