/* SPDX-License-Identifier: MIT
 *
 * sched_dumps.c: watches the directory of dumps, whose files get their names when they are
 * complete. A name proves nothing about a file's contents: src/sched/ reads only files of the
 * caller, and writes only next to dumps of threads that were recorded.
 */
#include "cli/sched_dumps.h"

#include <errno.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "cli/cli_traces.h"
#include "probity.h"
#include "sched/sched.h"

static void report(struct cli_sched_dumps *dumps, const char *path, int error, int error_number)
{
    if (dumps->is_reported)
        return;
    dumps->is_reported = 1;
    if (error == PROBITY_ERROR_MEMORY)
        cli_warn(dumps->command, "thread states in '%s': %s", path, probity_error_text(error));
    else
        cli_warn(dumps->command, "cannot write '%s" PROBITY_SCHED_SUFFIX "': %s", path,
                 strerror(error_number));
}

static void take_dump(struct cli_sched_dumps *dumps, const char *name)
{
    struct probity_sched_result result;
    char *path = NULL;

    if (fnmatch(dumps->name, name, 0) != 0)
        return;
    if (asprintf(&path, "%s/%s", dumps->directory, name) < 0) {
        report(dumps, name, PROBITY_ERROR_MEMORY, 0);
        return;
    }
    int error = probity_sched_write_dump(dumps->sched, path, &result);
    if (error != 0)
        report(dumps, path, error, errno);
    free(path);
}

/* Returns whether there were any dumps. */
static int take_names(struct cli_sched_dumps *dumps)
{
    _Alignas(struct inotify_event) char bytes[16384];
    ssize_t got = read(dumps->watch, bytes, sizeof bytes);

    for (const char *at = bytes; got > 0 && at < bytes + got;) {
        const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
        if (event->len > 0)
            take_dump(dumps, event->name);
        else if ((event->mask & IN_Q_OVERFLOW) != 0)
            cli_warn(dumps->command, "some dumps have no thread states: too many files "
                     "appeared in '%s' at once", dumps->directory);
        at += sizeof *event + event->len;
    }
    return got > 0;
}

static void *wait_for_dumps(void *context)
{
    struct cli_sched_dumps *dumps = context;
    struct pollfd files[] = {{.fd = dumps->watch, .events = POLLIN},
                             {.fd = dumps->stop, .events = POLLIN}};

    while (files[1].revents == 0) {
        poll(files, 2, -1);
        while (take_names(dumps))
            continue;
    }
    return NULL;
}

/* ---- Beginning and end -------------------------------------------------------------------------
 */

static void release(struct cli_sched_dumps *dumps)
{
    if (dumps->watch >= 0)
        close(dumps->watch);
    if (dumps->stop >= 0)
        close(dumps->stop);
    free(dumps->directory);
    free(dumps->name);
    dumps->is_running = 0;
}

static int begin(struct cli_sched_dumps *dumps)
{
    if (dumps->directory == NULL || dumps->name == NULL) {
        errno = ENOMEM;
        return -1;
    }
    if (dumps->watch < 0 || dumps->stop < 0 ||
        inotify_add_watch(dumps->watch, dumps->directory,
                          IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) < 0)
        return -1;
    errno = pthread_create(&dumps->thread, NULL, wait_for_dumps, dumps);
    return errno == 0 ? 0 : -1;
}

void cli_sched_dumps_begin(struct cli_sched_dumps *dumps, struct probity_sched *sched,
                           const char *pattern, const char *program)
{
    dumps->sched = sched;
    dumps->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    dumps->stop = eventfd(0, EFD_CLOEXEC);
    cli_dumps_where(pattern, program, &dumps->directory, &dumps->name);
    if (begin(dumps) == 0) {
        dumps->is_running = 1;
        return;
    }
    cli_warn(dumps->command, "dumps will have no thread states: cannot watch '%s': %s",
             dumps->directory != NULL ? dumps->directory : pattern, strerror(errno));
    release(dumps);
}

void cli_sched_dumps_end(struct cli_sched_dumps *dumps)
{
    const uint64_t one = 1;

    if (!dumps->is_running)
        return;
    ssize_t put = write(dumps->stop, &one, sizeof one);
    (void)put; /* a 64-bit counter cannot overflow here */
    pthread_join(dumps->thread, NULL);
    release(dumps);
}
