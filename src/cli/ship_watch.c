/* SPDX-License-Identifier: MIT
 *
 * ship_watch.c: the parent looks at the directory once a second, starts a child for each trace that
 * is new or has changed, and starts it again, after a back-off, if it failed. What was sent is
 * known by the children alone, from their ledgers and the server, so the parent may be killed and
 * started again at any time. Children end with it.
 */
#include "cli/ship_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "print/bytes_text.h"
#include "print/text.h"
#include "probity.h"
#include "reader/file.h"

enum {
    LOOK_MS = 1000,
    CHILDREN_MAX = 64,
    BACK_OFF_SECONDS_MAX = 300,
    REPORT_SECONDS = 60,
    LAG_SECONDS = 30, /* less is not worth a message */
    FAILURES_MAX = 6  /* with --once: in about a minute */
};

enum state { STATE_NEW, STATE_SENDING, STATE_SENT, STATE_FAILED };

/* One trace. */
struct watched {
    char *path;
    enum state state;
    int is_seen; /* in the latest look */
    int is_kept; /* it could not be removed */
    dev_t device;
    ino_t inode;
    off_t bytes;
    struct timespec changed; /* these as of the latest look; below, as of its latest start */
    off_t sent_bytes;
    struct timespec sent_changed;
    pid_t child;
    unsigned failures;
    uint64_t again_ns; /* FAILED: when to try again */
    size_t slot;       /* of its child's progress */
};

struct watch {
    const struct cli_watch_options *options;
    const struct cli_command *command;
    struct watched *traces;
    size_t count, room, children;
    struct cli_shipment_progress *progress; /* CHILDREN_MAX, shared with the children */
    uint8_t used[CHILDREN_MAX];
    uint64_t reported_ns;
    int is_over_limit; /* and that was reported */
    int is_behind;
    int worst; /* exit status of the children that sent a trace */
};

/* ---- Looking -----------------------------------------------------------------------------------
 */

/* Whether a file has the header of a trace, of any version. */
static int is_trace(int directory, const char *name, struct stat *ret_status)
{
    uint8_t header[PROBITY_FILE_HEADER_BYTES];
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

    if (file < 0)
        return 0;
    int is_one = fstat(file, ret_status) == 0 && S_ISREG(ret_status->st_mode) &&
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

/* A name that leads to another file now is another trace. */
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
        *trace = (struct watched){.path = copy};
    } else if (trace->state != STATE_SENDING &&
               (trace->device != status->st_dev || trace->inode != status->st_ino)) {
        *trace = (struct watched){.path = trace->path};
    }
    trace->is_seen = 1;
    if (trace->state == STATE_SENDING)
        return 0; /* what is being sent is the file as it was at the start */
    trace->device = status->st_dev;
    trace->inode = status->st_ino;
    trace->bytes = status->st_size;
    trace->changed = status->st_mtim;
    int is_same = trace->bytes == trace->sent_bytes &&
                  trace->changed.tv_sec == trace->sent_changed.tv_sec &&
                  trace->changed.tv_nsec == trace->sent_changed.tv_nsec;
    if (trace->state == STATE_SENT && !is_same)
        trace->state = STATE_NEW;
    return 0;
}

static void forget_missing(struct watch *watch)
{
    size_t kept = 0;

    for (size_t i = 0; i < watch->count; i++) {
        struct watched *trace = &watch->traces[i];
        if (!trace->is_seen && trace->state != STATE_SENDING)
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

/* ---- Children ----------------------------------------------------------------------------------
 */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* In the child. */
static int send_one(const struct watch *watch, struct watched *trace)
{
    struct cli_shipment_options options = watch->options->shipment;
    struct cli_shipment_result result;
    struct cli_fleet fleet;
    int status = cli_fleet_open(&watch->options->fleet, &fleet);

    options.fleet = &fleet;
    options.progress = &watch->progress[trace->slot];
    options.progress->pending_ns = cli_ship_now_ns(); /* in case the server is away */
    if (status == CLI_OK)
        status = cli_fleet_connect_within(&fleet, options.retry_ms);
    options.progress->pending_ns = 0;
    if (status == CLI_OK)
        status = cli_shipment_run(&options, trace->path, &result);
    if (status != CLI_FAILURE && !result.was_there)
        printf("%s: run %016" PRIx64 ": %" PRIu64 " rows in %" PRIu64 " blocks sent\n",
               trace->path, result.run, result.counts.rows, result.counts.blocks);
    cli_fleet_close(&fleet);
    return fflush(stdout) == 0 ? status : CLI_FAILURE;
}

static void start(struct watch *watch, struct watched *trace)
{
    pid_t parent = getpid();
    size_t slot = 0;

    while (slot < CHILDREN_MAX && watch->used[slot])
        slot++;
    if (slot == CHILDREN_MAX)
        return;
    trace->slot = slot;
    watch->progress[slot].pending_ns = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(getppid() == parent ? send_one(watch, trace) : CLI_FAILURE);
    }
    if (child < 0) {
        cli_warn(watch->command, "cannot start a process: %s", strerror(errno));
        return;
    }
    watch->used[slot] = 1;
    watch->children++;
    trace->child = child;
    trace->state = STATE_SENDING;
    trace->sent_bytes = trace->bytes;
    trace->sent_changed = trace->changed;
}

static int is_as_started(const struct watched *trace, const struct stat *now)
{
    return now->st_dev == trace->device && now->st_ino == trace->inode &&
           now->st_size == trace->sent_bytes &&
           now->st_mtim.tv_sec == trace->sent_changed.tv_sec &&
           now->st_mtim.tv_nsec == trace->sent_changed.tv_nsec;
}

static void take_end(struct watch *watch, struct watched *trace, int status)
{
    struct stat now;
    int is_sent = WIFEXITED(status) &&
                  (WEXITSTATUS(status) == CLI_OK || WEXITSTATUS(status) == CLI_DAMAGED);

    watch->used[trace->slot] = 0;
    watch->children--;
    trace->child = 0;
    trace->state = is_sent ? STATE_SENT : STATE_FAILED;
    if (is_sent) {
        trace->failures = 0;
        watch->worst = WEXITSTATUS(status) != CLI_OK ? WEXITSTATUS(status) : watch->worst;
        /* Sent again if it was replaced or has grown: what was sent before costs a look. */
        if (lstat(trace->path, &now) != 0 || !is_as_started(trace, &now))
            trace->state = STATE_NEW;
        return;
    }
    uint64_t seconds = UINT64_C(1) << (trace->failures < 8 ? trace->failures : 8);
    seconds = seconds < BACK_OFF_SECONDS_MAX ? seconds : BACK_OFF_SECONDS_MAX;
    trace->failures++;
    trace->again_ns = now_ns() + seconds * 1000000000;
}

static void take_ends(struct watch *watch)
{
    int status;
    pid_t child;

    while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
        for (size_t i = 0; i < watch->count; i++) {
            if (watch->traces[i].child == child)
                take_end(watch, &watch->traces[i], status);
        }
    }
}

static void start_all(struct watch *watch)
{
    for (size_t i = 0; i < watch->count; i++) {
        struct watched *trace = &watch->traces[i];
        if (trace->state == STATE_NEW ||
            (trace->state == STATE_FAILED && now_ns() >= trace->again_ns))
            start(watch, trace);
    }
}

/* ---- The limit ---------------------------------------------------------------------------------
 */

static int is_older(const struct watched *a, const struct watched *b)
{
    return a->changed.tv_sec != b->changed.tv_sec ? a->changed.tv_sec < b->changed.tv_sec
                                                  : a->changed.tv_nsec < b->changed.tv_nsec;
}

/* A file beside a trace with this ending. Returns its malloc'ed path, or NULL if there is none. */
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

/* The states of its threads are in a file of their own and not sent, so such a trace is kept. */
static struct watched *oldest_sent(struct watch *watch)
{
    struct watched *oldest = NULL;

    for (size_t i = 0; i < watch->count; i++) {
        struct watched *trace = &watch->traces[i];
        if (trace->state != STATE_SENT || trace->is_kept || trace->bytes == 0 ||
            (oldest != NULL && !is_older(trace, oldest)))
            continue;
        char *states = beside(trace, ".sched");
        if (states == NULL)
            oldest = trace;
        free(states);
    }
    return oldest;
}

/* Only names that the directory itself has, and only the file that was sent. */
static int remove_sent(struct watch *watch, struct watched *trace)
{
    struct stat status;
    char *ledger = beside(trace, ".shipped"), *index = beside(trace, ".index");
    int is_same = lstat(trace->path, &status) == 0 && is_as_started(trace, &status);
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
        trace->state = STATE_NEW;
    if (error == 0)
        trace->bytes = 0;
    return error;
}

static void keep_limit(struct watch *watch)
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

/* ---- The lag -----------------------------------------------------------------------------------
 */

static uint64_t lag_seconds(const struct watch *watch)
{
    uint64_t oldest_ns = UINT64_MAX, now = cli_ship_now_ns();

    for (size_t i = 0; i < CHILDREN_MAX; i++) {
        uint64_t ns = watch->used[i]
                          ? __atomic_load_n(&watch->progress[i].pending_ns, __ATOMIC_RELAXED)
                          : 0;
        if (ns != 0 && ns < oldest_ns)
            oldest_ns = ns;
    }
    return oldest_ns < now ? (now - oldest_ns) / 1000000000 : 0;
}

/* Once a minute while the database is behind, and when it no longer is. */
static void report_lag(struct watch *watch)
{
    uint64_t lag = lag_seconds(watch), now = now_ns();
    size_t failed = 0;

    for (size_t i = 0; i < watch->count; i++)
        failed += watch->traces[i].failures > 0;
    int is_behind = lag >= LAG_SECONDS || failed > 0;
    if (is_behind && now - watch->reported_ns >= UINT64_C(1000000000) * REPORT_SECONDS) {
        cli_warn(watch->command, "'%s': %zu trace%s being sent, %zu waiting to be tried again; the "
                 "database is %" PRIu64 " s behind", watch->options->directory, watch->children,
                 probity_text_s(watch->children), failed, lag);
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
        int is_tried = trace->state == STATE_FAILED && trace->failures >= FAILURES_MAX;
        if (trace->state != STATE_SENT && !is_tried)
            return 0;
    }
    return 1;
}

static int end_once(const struct watch *watch)
{
    int status = watch->worst;

    for (size_t i = 0; i < watch->count; i++) {
        if (watch->traces[i].state == STATE_SENT)
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
        take_ends(watch);
        int status = look(watch);
        if (status != CLI_OK)
            return status;
        if (watch->options->once && is_all_tried(watch))
            return end_once(watch);
        start_all(watch);
        keep_limit(watch);
        report_lag(watch);
        nanosleep(&pause, NULL);
    }
}

int cli_ship_watch(const struct cli_watch_options *options)
{
    struct watch watch = {.options = options, .command = options->shipment.command};
    size_t bytes = CHILDREN_MAX * sizeof *watch.progress;

    watch.progress = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (watch.progress == MAP_FAILED)
        return cli_fail(watch.command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    int status = run(&watch);
    for (size_t i = 0; i < watch.count; i++)
        free(watch.traces[i].path);
    free(watch.traces);
    munmap(watch.progress, bytes);
    return status;
}
