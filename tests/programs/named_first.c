/* SPDX-License-Identifier: MIT
 *
 * named_first.c: the first thread or process to reach a named site cannot record. The name must
 * still be in the trace once another thread or process records there.
 *
 *     named_first vfork        a child of vfork, from a thread that has recorded nothing
 *     named_first announced    an unannounced thread, when only announced ones record
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probity_scope.h"
#include "programs/hits.h"

static __attribute__((noinline)) void probe(void)
{
    PROBITY_PROBE_NAMED("shared");
}

static void *first_in_vfork(void *unused)
{
    pid_t child = vfork();

    (void)unused;
    if (child == 0) {
        probe();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    probe();
    return NULL;
}

static void *first(void *unused)
{
    (void)unused;
    probe();
    return NULL;
}

int main(int argc, char **argv)
{
    int is_vfork = argc > 1 && strcmp(argv[1], "vfork") == 0;
    pthread_t thread;

    probity_thread_announce();
    PROBITY_PROBE_NAMED("own");
    hits_need(pthread_create(&thread, NULL, is_vfork ? first_in_vfork : first, NULL) == 0,
              "thread");
    pthread_join(thread, NULL);
    if (!is_vfork)
        probe();
    return 0;
}
