/* SPDX-License-Identifier: MIT
 *
 * switched_sites.c: named sites that are switched off and on while threads hit them. For each line
 * of the input, "NAME TIMES", the main thread does that number of rounds and prints "done"; at the
 * end of the input, the program prints how often the threads hit "busy".
 *
 *     switched_sites THREADS [PLUGIN]
 *
 * NAME: "early" or "later" hits that site; "lock" waits for, takes and releases a lock; "request"
 * begins and ends a request with the same id each time, with a hit in between; "begin" and "end" do
 * half of that; "hold" and "release" take and release another lock; "put" and "get" change a queue;
 * "plugin" hits a site in the library PLUGIN; "old" hits one as an older header describes it;
 * "fork" hits "in child" in a child.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probity_typed.h"

#include "switched.h"

enum { REQUEST = 7 };

static int lock, items;
static uint64_t busy_hits;
static void (*hit_plugin)(void);

static void *work(void *unused)
{
    uint64_t hits = 0;

    while (!threads_end()) {
        PROBITY_PROBE_NAMED("busy");
        hits++;
        for (volatile int i = 0; i < 2000; i++)
            continue;
    }
    __atomic_fetch_add(&busy_hits, hits, __ATOMIC_RELAXED);
    return unused;
}

static void hit_in_child(void)
{
    pid_t child = fork();

    if (child == 0) {
        PROBITY_PROBE_NAMED("in child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* As before descriptors had numbers: the memory after `code` is used for something else. */
static void hit_old(void)
{
    static struct probity_site site = {"old", __FILE__, __func__, __LINE__, 0, 77, 77};

    probity_probe_site(&site);
    if (site.number != 77 || site.is_listed != 77)
        abort();
}

/* Half of a hold, or of an item's passage. */
static void do_part(const char *name)
{
    if (strcmp(name, "hold") == 0) {
        PROBITY_LOCK_HOLD("held", &items);
    } else if (strcmp(name, "release") == 0) {
        PROBITY_LOCK_RELEASE("held", &items);
    } else if (strcmp(name, "put") == 0) {
        PROBITY_QUEUE_PUT("jobs", &items, ++items);
    } else if (strcmp(name, "get") == 0) {
        PROBITY_QUEUE_GET("jobs", &items, items);
        items--;
    }
}

static void do_once(const char *name)
{
    if (strcmp(name, "early") == 0) {
        PROBITY_PROBE_NAMED("early");
    } else if (strcmp(name, "later") == 0) {
        PROBITY_PROBE_NAMED_WITH("later", 5);
    } else if (strcmp(name, "lock") == 0) {
        PROBITY_LOCK_WAIT("cache", &lock);
        PROBITY_LOCK_HOLD("cache", &lock);
        PROBITY_LOCK_RELEASE("cache", &lock);
    } else if (strcmp(name, "plugin") == 0) {
        hit_plugin();
    } else if (strcmp(name, "old") == 0) {
        hit_old();
    } else if (strcmp(name, "fork") == 0) {
        hit_in_child();
    }
    do_part(name);
    if (strcmp(name, "request") == 0 || strcmp(name, "begin") == 0)
        PROBITY_REQUEST_BEGIN("request", REQUEST);
    if (strcmp(name, "request") == 0)
        PROBITY_PROBE_NAMED_WITH("parsed", REQUEST);
    if (strcmp(name, "request") == 0 || strcmp(name, "end") == 0)
        PROBITY_REQUEST_END("request", REQUEST);
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    int status;

    void *plugin = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
    if (plugin != NULL)
        hit_plugin = (void (*)(void))(uintptr_t)dlsym(plugin, "hit_plugin");
    if (argc > 2 && hit_plugin == NULL)
        return 2;
    status = follow_input(threads, work, do_once);
    if (plugin != NULL)
        dlclose(plugin);
    if (status == 0)
        printf("busy %llu\n", (unsigned long long)busy_hits);
    return status;
}
