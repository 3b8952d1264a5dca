/* SPDX-License-Identifier: MIT
 *
 * ship_watch.c: the parent scans the directory once a second, starts a child for each trace that is
 * new or has changed, and restarts it, after a back-off, if it failed. Only the children keep track
 * of what was sent, in their ledgers and on the server, so the parent may be killed and restarted
 * at any time. Children end with it.
 */
#include "cli/ship_watch_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/os.h"
#include "print/text.h"
#include "probity.h"
#include "reader/file.h"

#define SECOND_NS UINT64_C(1000000000)
#define RETRY_NS  SECOND_NS /* for a trace that failed and has changed */

enum {
    LOOK_MS = 1000,
    REPORT_SECONDS = 60,
    LAG_SECONDS = 30, /* a smaller lag is not reported */
    FAILURES_MAX = 6  /* with --once: in about a minute */
};

/* ---- Looking -----------------------------------------------------------------------------------
 */

/* Whether a file has the header of a trace, of any version. */
static int is_trace(int directory, const char *name, struct stat *ret_status)
{
    uint8_t header[PROBITY_FILE_HEADER_BYTES];
    int file = probity_os_open_regular(directory, name, O_RDONLY | O_NOFOLLOW);

    if (file < 0)
        return 0;
    int is_one = fstat(file, ret_status) == 0 &&
                 pread(file, header, sizeof header, 0) == (ssize_t)sizeof header &&
                 probity_file_header_check(header) == 0;
    close(file);
    return is_one;
}

static struct watched *find(struct watch *watch, const char *path)
{
    for (size_t i = 0; i < watch->count; i++) {
        if (strcmp(watch->traces[i].path, path) == 0)
            return &watch->traces[i];
    }
    return NULL;
}

/* A trace that has changed is sent again, even after a failure, without back-off, because another
 * process may have copied the rest of it meanwhile. */
static void try_again(struct watched *trace)
{
    uint64_t soon_ns = cli_watch_now_ns() + RETRY_NS;

    if (trace->state == WATCHED_SENT) {
        trace->state = WATCHED_WAITS;
        trace->again_ns = cli_watch_now_ns();
    } else if (trace->failures > 0) {
        trace->failures = 1;
        trace->again_ns = soon_ns < trace->again_ns ? soon_ns : trace->again_ns;
    }
}

/* A name that now leads to another file is another trace. */
static int note(struct watch *watch, const char *path, const struct stat *status)
{
    struct watched *trace = find(watch, path);

    if (trace == NULL) {
        struct watched *grown = probity_array_fit(watch->traces, sizeof *grown, watch->count + 1,
                                                  &watch->room);
        char *copy = strdup(path);
        if (grown != NULL)
            watch->traces = grown;
        if (grown == NULL || copy == NULL) {
            free(copy);
            return -1;
        }
        trace = &watch->traces[watch->count++];
        *trace = (struct watched){.path = copy, .again_ns = cli_watch_now_ns()};
    } else if (trace->state != WATCHED_SENDING &&
               (trace->device != status->st_dev || trace->inode != status->st_ino)) {
        *trace = (struct watched){.path = trace->path, .again_ns = cli_watch_now_ns()};
    }
    trace->is_seen = 1;
    if (trace->state == WATCHED_SENDING)
        return 0; /* the file is being sent in its state at the start */
    trace->device = status->st_dev;
    trace->inode = status->st_ino;
    trace->bytes = status->st_size;
    trace->changed = status->st_mtim;
    if (!cli_watch_is_as_started(trace, status))
        try_again(trace);
    return 0;
}

static void forget_missing(struct watch *watch)
{
    size_t kept = 0;

    for (size_t i = 0; i < watch->count; i++) {
        struct watched *trace = &watch->traces[i];
        if (!trace->is_seen && trace->state != WATCHED_SENDING)
            free(trace->path);
        else
            watch->traces[kept++] = *trace;
    }
    watch->count = kept;
}

/* Returns CLI_OK, or CLI_FAILURE after reporting that the directory cannot be read. */
static int look(struct watch *watch)
{
    DIR *directory = opendir(watch->options->directory);
    struct dirent *entry;
    struct stat status;
    int error = 0;

    if (directory == NULL)
        return cli_fail(watch->command, "cannot read '%s': %s", watch->options->directory,
                        strerror(errno));
    for (size_t i = 0; i < watch->count; i++)
        watch->traces[i].is_seen = 0;
    while (error == 0 && (entry = readdir(directory)) != NULL) {
        char *path;
        if (entry->d_name[0] == '.' || !is_trace(dirfd(directory), entry->d_name, &status))
            continue;
        if (asprintf(&path, "%s/%s", watch->options->directory, entry->d_name) < 0) {
            error = -1;
            break;
        }
        error = note(watch, path, &status);
        free(path);
    }
    closedir(directory);
    if (error != 0)
        return cli_fail(watch->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    forget_missing(watch);
    return CLI_OK;
}

/* ---- The lag -----------------------------------------------------------------------------------
 */

/* Age of the oldest event that was not sent; for a waiting trace, the time since it began to
 * wait. */
static uint64_t lag_seconds(const struct watch *watch, uint64_t now)
{
    uint64_t wall_ns = cli_ship_now_ns(), most_ns = 0;

    for (size_t i = 0; i < watch->options->senders; i++) {
        uint64_t ns = watch->used[i]
                          ? __atomic_load_n(&watch->progress[i].pending_ns, __ATOMIC_RELAXED)
                          : 0;
        if (ns != 0 && ns < wall_ns && wall_ns - ns > most_ns)
            most_ns = wall_ns - ns;
    }
    for (size_t i = 0; i < watch->count; i++) {
        const struct watched *trace = &watch->traces[i];
        if (cli_watch_is_due(trace, now) && now - trace->again_ns > most_ns)
            most_ns = now - trace->again_ns;
    }
    return most_ns / SECOND_NS;
}

/* Reports the lag once a minute while the database lags or traces take turns, and once more when
 * that is over. */
static void report_lag(struct watch *watch)
{
    uint64_t now = cli_watch_now_ns(), lag = lag_seconds(watch, now);
    size_t failed = 0, waiting = 0;

    for (size_t i = 0; i < watch->count; i++) {
        failed += watch->traces[i].failures > 0;
        waiting += watch->traces[i].failures == 0 && cli_watch_is_due(&watch->traces[i], now);
    }
    int is_behind = lag >= LAG_SECONDS || failed > 0 || watch->is_taking_turns;
    if (is_behind && now - watch->reported_ns >= SECOND_NS * REPORT_SECONDS) {
        cli_warn(watch->command, "'%s': %zu trace%s being sent, %zu waiting for their turn "
                 "(--senders %zu), %zu waiting to be tried again; the database is %" PRIu64
                 " s behind", watch->options->directory, watch->children,
                 probity_text_s(watch->children), waiting, watch->options->senders, failed, lag);
        watch->reported_ns = now;
    } else if (!is_behind && watch->is_behind) {
        cli_warn(watch->command, "'%s': the database has caught up", watch->options->directory);
        watch->reported_ns = 0;
    }
    watch->is_behind = is_behind && watch->reported_ns != 0;
}

/* ---- Watching ----------------------------------------------------------------------------------
 */

static int is_all_tried(const struct watch *watch)
{
    for (size_t i = 0; i < watch->count; i++) {
        const struct watched *trace = &watch->traces[i];
        int is_tried = trace->state == WATCHED_WAITS && trace->failures >= FAILURES_MAX;
        if (trace->state != WATCHED_SENT && !is_tried)
            return 0;
    }
    return 1;
}

static int end_once(const struct watch *watch)
{
    int status = watch->worst;

    for (size_t i = 0; i < watch->count; i++) {
        if (watch->traces[i].state == WATCHED_SENT)
            continue;
        cli_warn(watch->command, "'%s' was not sent, after %u tries", watch->traces[i].path,
                 watch->traces[i].failures);
        status = CLI_FAILURE;
    }
    return status;
}

static int run(struct watch *watch)
{
    const struct timespec pause = {.tv_sec = LOOK_MS / 1000};

    for (;;) {
        cli_watch_take_ends(watch);
        int status = look(watch);
        if (status != CLI_OK)
            return status;
        if (watch->options->once && is_all_tried(watch))
            return end_once(watch);
        cli_watch_start_all(watch);
        cli_watch_keep_limit(watch);
        report_lag(watch);
        nanosleep(&pause, NULL);
    }
}

int cli_ship_watch(const struct cli_watch_options *options)
{
    struct watch watch = {.options = options, .command = options->shipment.command};
    size_t bytes = options->senders * sizeof *watch.progress;

    watch.used = calloc(options->senders, sizeof *watch.used);
    watch.progress = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = watch.used != NULL && watch.progress != MAP_FAILED
                     ? run(&watch)
                     : cli_fail(watch.command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    for (size_t i = 0; i < watch.count; i++)
        free(watch.traces[i].path);
    free(watch.traces);
    if (watch.progress != MAP_FAILED)
        munmap(watch.progress, bytes);
    free(watch.used);
    return status;
}
