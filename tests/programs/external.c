/* SPDX-License-Identifier: MIT
 *
 * external.c: records without a writer thread, and does things that a second thread would prevent.
 *
 *     external HITS           must be started with PROBITY_WRITER=external
 *     external brim CHUNKS    flushes each time a chunk is filled to its last word
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "programs/hits.h"

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    int count = 0;

    hits_need(tasks != NULL, "/proc/self/task");
    while ((entry = readdir(tasks)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Each of these chunks is drained to its end while it is still open. */
static void fill_to_the_brim(uint64_t chunks)
{
    uint64_t hits = 0;

    PROBITY_PROBE(hits_id(1, hits++));
    const struct probity_thread *self = probity_thread_self;
    for (uint64_t i = 0; i < chunks; i++) {
        do
            PROBITY_PROBE(hits_id(1, hits++));
        while ((self->cursor & self->valid_bit) != 0);
        hits_need(probity_flush() == 0, "flush");
    }
    hits_expect(getpid(), 1, hits);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "brim") == 0) {
        fill_to_the_brim(hits_argument(argc, argv, 2, 100));
        return 0;
    }
    uint64_t hits = hits_argument(argc, argv, 1, 100000);

    probity_probe_set_name(hits_id(1, 0), "first of all");
    hits_make(1, 0, hits / 2);
    fprintf(stderr, "threads %d\n", count_threads());
    /* The machine may refuse this to any process; the test only needs threads not to be the
     * reason. */
    fprintf(stderr, "user namespace %s\n", unshare(CLONE_NEWUSER) == 0 ? "made" : strerror(errno));
    hits_make(1, hits / 2, hits - hits / 2);
    hits_expect(getpid(), 1, hits);
    return 0;
}
