/* SPDX-License-Identifier: MIT
 *
 * ship_watch_limit.c: removes the oldest sent traces if the directory exceeds --disk-limit.
 */
#include "cli/ship_watch_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print/bytes_text.h"

static int is_older(const struct watched *a, const struct watched *b)
{
    return a->changed.tv_sec != b->changed.tv_sec ? a->changed.tv_sec < b->changed.tv_sec
                                                  : a->changed.tv_nsec < b->changed.tv_nsec;
}

/* Returns the malloc'ed path of a file next to a trace with this ending, or NULL if there is
 * none. */
static char *beside(const struct watched *trace, const char *ending)
{
    char *path;

    if (asprintf(&path, "%s%s", trace->path, ending) < 0)
        return NULL;
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* Thread states are in a separate file, which is not sent, so a trace that has them is kept. */
static struct watched *oldest_sent(struct watch *watch)
{
    struct watched *oldest = NULL;

    for (size_t i = 0; i < watch->count; i++) {
        struct watched *trace = &watch->traces[i];
        if (trace->state != WATCHED_SENT || trace->is_kept || trace->bytes == 0 ||
            (oldest != NULL && !is_older(trace, oldest)))
            continue;
        char *states = beside(trace, ".sched");
        if (states == NULL)
            oldest = trace;
        free(states);
    }
    return oldest;
}

/* Removes only names in the directory itself, and only the file that was sent. */
static int remove_sent(struct watch *watch, struct watched *trace)
{
    struct stat status;
    char *ledger = beside(trace, ".shipped"), *index = beside(trace, ".index");
    int is_same = lstat(trace->path, &status) == 0 && cli_watch_is_as_started(trace, &status);
    int error = is_same ? unlink(trace->path) : -1;

    if (error == 0 && index != NULL)
        unlink(index);
    if (error == 0 && ledger != NULL)
        unlink(ledger);
    if (error != 0 && is_same)
        cli_warn(watch->command, "cannot remove '%s': %s", trace->path, strerror(errno));
    free(ledger);
    free(index);
    trace->is_kept = error != 0 && is_same;
    if (!is_same)
        trace->state = WATCHED_WAITS;
    if (error == 0)
        trace->bytes = 0;
    return error;
}

void cli_watch_keep_limit(struct watch *watch)
{
    char text[PROBITY_BYTES_TEXT_BYTES];
    struct watched *oldest;
    uint64_t bytes = 0;

    if (watch->options->disk_limit == 0)
        return;
    for (size_t i = 0; i < watch->count; i++)
        bytes += (uint64_t)watch->traces[i].bytes;
    while (bytes > watch->options->disk_limit && (oldest = oldest_sent(watch)) != NULL) {
        uint64_t freed = (uint64_t)oldest->bytes;
        if (remove_sent(watch, oldest) == 0)
            bytes -= freed;
    }
    int is_over = bytes > watch->options->disk_limit;
    if (is_over && !watch->is_over_limit)
        cli_warn(watch->command, "'%s' has %s of traces, more than --disk-limit, and none that "
                 "could be removed; nothing was lost", watch->options->directory,
                 probity_bytes_text(bytes, text));
    watch->is_over_limit = is_over;
}
