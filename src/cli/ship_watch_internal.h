/* SPDX-License-Identifier: MIT
 *
 * ship_watch_internal.h: shared by the parts of `probity ship --watch`: ship_watch.c scans the
 * directory, ship_watch_children.c runs a process for each trace, ship_watch_limit.c removes traces
 * that were sent.
 */
#ifndef PROBITY_CLI_SHIP_WATCH_INTERNAL_H
#define PROBITY_CLI_SHIP_WATCH_INTERNAL_H

#include <sys/stat.h>
#include <sys/types.h>

#include "cli/ship_watch.h"

enum watched_state {
    WATCHED_WAITS, /* to be sent, from again_ns on */
    WATCHED_SENDING,
    WATCHED_SENT
};

/* One trace. Moments are of CLOCK_MONOTONIC. */
struct watched {
    char *path;
    enum watched_state state;
    int is_seen; /* in the latest scan */
    int is_kept; /* it could not be removed */
    dev_t device;
    ino_t inode;
    off_t bytes;
    struct timespec changed; /* as of the latest scan; those below as of its latest start */
    off_t sent_bytes;
    struct timespec sent_changed;
    pid_t child;
    unsigned failures;
    unsigned postponed;  /* number of times since it was sent or failed */
    uint64_t again_ns;   /* WATCHED_WAITS: the time from which it may be sent */
    uint64_t started_ns; /* WATCHED_SENDING */
    size_t slot;         /* of its child's progress */
};

struct watch {
    const struct cli_watch_options *options;
    const struct cli_command *command;
    struct watched *traces;
    size_t count, room, children;
    struct cli_shipment_progress *progress; /* of `senders` children, shared with them */
    uint8_t *used;                          /* 1 for each that is in use */
    uint64_t reported_ns;
    int is_over_limit; /* and this was reported */
    int is_behind;
    int is_taking_turns; /* traces wait for others, which are being recorded */
    int worst; /* exit status of the children that sent a trace */
};

/* Collects children that have ended, and starts those that are due; if there are too many, requests
 * some that follow a trace to end. */
void cli_watch_take_ends(struct watch *watch);
void cli_watch_start_all(struct watch *watch);

/* Whether the file is the one for which its child was started, unchanged. */
int cli_watch_is_as_started(const struct watched *trace, const struct stat *now);

/* Whether a trace is waiting for a child now. */
int cli_watch_is_due(const struct watched *trace, uint64_t now_ns);

/* Removes sent traces if they have too many bytes. */
void cli_watch_keep_limit(struct watch *watch);

/* CLOCK_MONOTONIC. */
uint64_t cli_watch_now_ns(void);

#endif
