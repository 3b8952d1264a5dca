/* SPDX-License-Identifier: MIT
 *
 * ship_watch_children.c: runs a process for each trace that is being sent, at most --senders of
 * them. A trace that is being recorded would keep its process until its program ends, so if other
 * traces wait, some of these processes are requested to end, and their traces then wait in turn:
 *
 *     waits ──► is sent ──ended──► sent ──changed──► waits
 *       ▲          │
 *       └──────────┴─ asked to make room; postponed; failed (after a back-off)
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/ship_watch_internal.h"

#define SECOND_NS UINT64_C(1000000000)

enum {
    BACK_OFF_SHIFT_MAX = 8, /* 256 s */
    TURN_FACTOR = 4,        /* at most a fifth of a turn is spent reading what was sent before */
    /* Exit status of children, besides those of all commands: */
    CHILD_POSTPONED = 100,
    CHILD_MADE_ROOM = 101
};

uint64_t cli_watch_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

int cli_watch_is_as_started(const struct watched *trace, const struct stat *now)
{
    return now->st_dev == trace->device && now->st_ino == trace->inode &&
           now->st_size == trace->sent_bytes &&
           now->st_mtim.tv_sec == trace->sent_changed.tv_sec &&
           now->st_mtim.tv_nsec == trace->sent_changed.tv_nsec;
}

int cli_watch_is_due(const struct watched *trace, uint64_t now_ns)
{
    return trace->state == WATCHED_WAITS && now_ns >= trace->again_ns;
}

/* ---- In the child ------------------------------------------------------------------------------
 */

static int status_of(int status, const struct watched *trace,
                     const struct cli_shipment_result *result)
{
    if (status == CLI_FAILURE)
        return status;
    if (result->outcome == CLI_SHIPMENT_POSTPONED)
        return CHILD_POSTPONED;
    if (result->outcome == CLI_SHIPMENT_MADE_ROOM)
        return CHILD_MADE_ROOM;
    if (!result->was_there)
        printf("%s: run %016" PRIx64 ": %" PRIu64 " rows in %" PRIu64 " blocks sent\n",
               trace->path, result->run, result->counts.rows, result->counts.blocks);
    return status;
}

static int send_one(const struct watch *watch, const struct watched *trace)
{
    struct cli_shipment_options options = watch->options->shipment;
    struct cli_shipment_result result;
    struct cli_fleet fleet;
    int status = cli_fleet_open(&watch->options->fleet, &fleet);

    options.fleet = &fleet;
    options.progress = &watch->progress[trace->slot];
    options.progress->pending_ns = cli_ship_now_ns(); /* if the server is unreachable */
    if (status == CLI_OK)
        status = cli_fleet_connect_within(&fleet, options.retry_ms);
    options.progress->pending_ns = 0;
    if (status == CLI_OK)
        status = status_of(cli_shipment_run(&options, trace->path, &result), trace, &result);
    cli_fleet_close(&fleet);
    return fflush(stdout) == 0 ? status : CLI_FAILURE;
}

/* ---- Starting ----------------------------------------------------------------------------------
 */

static void start(struct watch *watch, struct watched *trace)
{
    pid_t parent = getpid();
    size_t slot = 0;

    while (watch->used[slot])
        slot++;
    trace->slot = slot;
    watch->progress[slot] = (struct cli_shipment_progress){.pending_ns = 0};
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(getppid() == parent ? send_one(watch, trace) : CLI_FAILURE);
    }
    if (child < 0) {
        cli_warn(watch->command, "cannot start a process: %s", strerror(errno));
        trace->again_ns = cli_watch_now_ns() + SECOND_NS;
        return;
    }
    watch->used[slot] = 1;
    watch->children++;
    trace->child = child;
    trace->state = WATCHED_SENDING;
    trace->started_ns = cli_watch_now_ns();
    trace->sent_bytes = trace->bytes;
    trace->sent_changed = trace->changed;
}

/* The trace that has waited longest; NULL: none is waiting. */
static struct watched *next_due(const struct watch *watch, uint64_t now_ns)
{
    struct watched *next = NULL;

    for (size_t i = 0; i < watch->count; i++) {
        struct watched *trace = &watch->traces[i];
        if (cli_watch_is_due(trace, now_ns) && (next == NULL || trace->again_ns < next->again_ns))
            next = trace;
    }
    return next;
}

/* A turn begins when a child has read what was sent before. The longer that took, the longer the
 * turn is. */
static int is_turn_over(const struct watch *watch, const struct watched *trace, uint64_t now_ns)
{
    const struct cli_shipment_progress *progress = &watch->progress[trace->slot];
    uint64_t turn_ns = __atomic_load_n(&progress->turn_ns, __ATOMIC_RELAXED);
    uint64_t wanted_ns = watch->options->shipment.flush_ms * 1000000;

    if (trace->state != WATCHED_SENDING || turn_ns == 0 || turn_ns > now_ns)
        return 0;
    uint64_t reading_ns = turn_ns > trace->started_ns ? turn_ns - trace->started_ns : 0;
    wanted_ns = wanted_ns > TURN_FACTOR * reading_ns ? wanted_ns : TURN_FACTOR * reading_ns;
    return now_ns - turn_ns >= wanted_ns;
}

/* Requests as many children to end as there are traces waiting. */
static void make_room(struct watch *watch, uint64_t now_ns)
{
    size_t wanted = 0;

    for (size_t i = 0; i < watch->count; i++)
        wanted += (size_t)cli_watch_is_due(&watch->traces[i], now_ns);
    for (size_t i = 0; i < watch->options->senders; i++)
        wanted -= wanted > 0 && watch->used[i] && watch->progress[i].must_make_room;
    for (size_t i = 0; wanted > 0 && i < watch->count; i++) {
        const struct watched *trace = &watch->traces[i];
        if (!is_turn_over(watch, trace, now_ns) ||
            watch->progress[trace->slot].must_make_room)
            continue;
        __atomic_store_n(&watch->progress[trace->slot].must_make_room, 1, __ATOMIC_RELAXED);
        watch->is_taking_turns = 1;
        wanted--;
    }
}

void cli_watch_start_all(struct watch *watch)
{
    uint64_t now_ns = cli_watch_now_ns();
    struct watched *next;

    while ((next = next_due(watch, now_ns)) != NULL && watch->children < watch->options->senders)
        start(watch, next);
    if (next != NULL)
        make_room(watch, now_ns);
    else
        watch->is_taking_turns = 0;
}

/* ---- Ending ------------------------------------------------------------------------------------
 */

static uint64_t back_off_ns(unsigned times)
{
    return SECOND_NS << (times < BACK_OFF_SHIFT_MAX ? times : BACK_OFF_SHIFT_MAX);
}

static void take_sent(struct watch *watch, struct watched *trace, int status)
{
    struct stat now;

    trace->failures = trace->postponed = 0;
    watch->worst = status != CLI_OK ? status : watch->worst;
    /* A trace is sent again if it was replaced or has grown: checking what was sent before takes
     * little time. */
    if (lstat(trace->path, &now) == 0 && cli_watch_is_as_started(trace, &now))
        trace->state = WATCHED_SENT;
}

static void take_end(struct watch *watch, struct watched *trace, int status)
{
    uint64_t now_ns = cli_watch_now_ns();
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : CLI_FAILURE;

    watch->used[trace->slot] = 0;
    watch->children--;
    trace->child = 0;
    trace->state = WATCHED_WAITS;
    trace->again_ns = now_ns;
    if (code == CLI_OK || code == CLI_DAMAGED) {
        take_sent(watch, trace, code);
    } else if (code == CHILD_MADE_ROOM) {
        trace->failures = trace->postponed = 0;
    } else if (code == CHILD_POSTPONED) {
        uint64_t wait_ns = back_off_ns(trace->postponed++);
        uint64_t max_ns = watch->options->shipment.settle_ms * 1000000;
        trace->again_ns = now_ns + (wait_ns < max_ns ? wait_ns : max_ns);
    } else {
        trace->again_ns = now_ns + back_off_ns(trace->failures++);
    }
}

void cli_watch_take_ends(struct watch *watch)
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
