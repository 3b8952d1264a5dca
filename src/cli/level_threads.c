/* SPDX-License-Identifier: MIT
 *
 * level_threads.c: finds the thread that a request waits for. Only the writer thread replies to
 * requests, and the only thread that it may wait for is one that is in its first call of a
 * function. So the result is the writer thread or, if that sleeps, a thread that is stopped.
 */
#include "cli/level_threads.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thread {
    uint32_t tid, tracer; /* tracer: the process that traces the thread; 0: none */
    char name[16], state; /* as in /proc */
};

static const char writer_name[] = "probity-writer";

static int read_thread(uint32_t pid, uint32_t tid, struct thread *ret_thread)
{
    struct thread thread = {.tid = tid};
    char path[64], line[256];

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%" PRIu32 "/status", pid, tid);
    FILE *status = fopen(path, "re");
    if (status == NULL)
        return 0;
    while (fgets(line, sizeof line, status) != NULL) {
        sscanf(line, "Name:\t%15[^\n]", thread.name);
        sscanf(line, "State:\t%c", &thread.state);
        sscanf(line, "TracerPid:\t%" SCNu32, &thread.tracer);
    }
    fclose(status);
    *ret_thread = thread;
    return 1;
}

static int is_stopped(const struct thread *thread)
{
    return thread->state == 'T' || thread->state == 't';
}

/* The writer thread, and another thread that is stopped; tid 0: none. */
static void look_through(uint32_t pid, struct thread *ret_writer, struct thread *ret_stopped)
{
    char path[64];
    const struct dirent *entry;
    struct thread thread;

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", pid);
    DIR *tasks = opendir(path);
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (tid == 0 || !read_thread(pid, tid, &thread))
            continue;
        if (strcmp(thread.name, writer_name) == 0)
            *ret_writer = thread;
        else if (is_stopped(&thread))
            *ret_stopped = thread;
    }
    if (tasks != NULL)
        closedir(tasks);
}

int cli_level_thread(uint32_t pid, char *ret_text, size_t room)
{
    struct thread writer = {.tid = 0}, stopped = {.tid = 0}, tracer = {.tid = 0};
    char what[80];

    look_through(pid, &writer, &stopped);
    const struct thread *found = writer.state == 'S' && stopped.tid != 0 ? &stopped : &writer;
    if (found->tid == 0 || found->state == 'S')
        return 0; /* it will reply, or is serving another tool */
    snprintf(what, sizeof what, "%s",
             is_stopped(found)     ? "which is stopped"
             : found->state == 'D' ? "which waits for a disk"
                                   : "which is running or waits for a CPU");
    if (found->tracer != 0 && is_stopped(found)) {
        read_thread(found->tracer, found->tracer, &tracer);
        snprintf(what, sizeof what, "which process %" PRIu32 " (%s) has stopped", found->tracer,
                 tracer.tid != 0 ? tracer.name : "unknown");
    }
    snprintf(ret_text, room, "thread %" PRIu32 " (%s), %s", found->tid, found->name, what);
    return 1;
}
