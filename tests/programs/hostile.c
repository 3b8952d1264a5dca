/* SPDX-License-Identifier: MIT
 *
 * hostile.c: programs that interfere with the library: they close its descriptors, change
 * directory, or run at their resource limits.
 *
 *     hostile HOW [NUMBER]
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "programs/hits.h"

enum { HITS = 50000 };

static uint64_t number;

/* Prints the expected hits while there is still a stdout. */
static void expect(uint64_t hits)
{
    hits_expect(getpid(), 0, hits);
    fflush(stdout);
}

static void close_all(void)
{
    expect(2 * HITS);
    hits_make(0, 0, HITS);
    for (int i = 0; i < 1024; i++)
        close(i);
    hits_make(0, HITS, HITS);
}

/* Closes all descriptors repeatedly; the writer must continue. */
static void close_always(void)
{
    expect((uint64_t)20 * HITS);
    for (uint64_t round = 0; round < 20; round++) {
        for (int i = 0; i < 1024; i++)
            close(i);
        hits_make(0, round * HITS, HITS);
    }
}

static void change_directory(void)
{
    expect(2 * HITS);
    hits_make(0, 0, HITS);
    hits_need(chdir("/") == 0, "chdir");
    hits_make(0, HITS, HITS);
}

/* Recording must not change which numbers the program's descriptors get. */
static void descriptors(void)
{
    expect(HITS);
    hits_make(0, 0, HITS);
    hits_need(probity_flush() == 0, "flush");
    hits_need(open("/dev/null", O_RDONLY) == 3, "descriptor 3");
}

/* With few descriptors, either everything or nothing is recorded. */
static void few_descriptors(void)
{
    struct rlimit limit = {number, number};

    hits_need(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
    int result = probity_start(&(struct probity_options){.out = "trace"});
    hits_make(0, 0, HITS);
    if (result == 0) {
        hits_need(probity_stop() == 0, "stop");
        expect(HITS);
    }
}

static void count_threads(void)
{
    int threads = -2; /* leave out "." and ".." */
    DIR *directory = opendir("/proc/self/task");

    hits_make(0, 0, HITS);
    hits_need(directory != NULL, "opendir");
    while (readdir(directory) != NULL)
        threads++;
    closedir(directory);
    printf("%d\n", threads);
}

/* Keeps probing in several threads long after writing the output has failed. */
static void *record(void *argument)
{
    hits_make((uint32_t)(uintptr_t)argument, 0, number);
    return NULL;
}

static void go_on(void)
{
    pthread_t thread[3];

    for (uint32_t i = 0; i < 3; i++)
        hits_need(pthread_create(&thread[i], NULL, record, (void *)(uintptr_t)i) == 0, "thread");
    for (uint32_t i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    puts("done");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"close_all", close_all},       {"close_always", close_always},
                {"chdir", change_directory},    {"descriptors", descriptors},
                {"few", few_descriptors},       {"count_threads", count_threads},
                {"go_on", go_on}};

    number = hits_argument(argc, argv, 2, 100);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && argc > 1; i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
            return 5;
        }
    }
    return 2;
}
