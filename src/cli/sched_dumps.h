/* SPDX-License-Identifier: MIT
 *
 * sched_dumps.h: thread states next to the dumps that a program makes while it is recorded with
 * `record --sched` (doc/sched.md, "Dumps"). A thread of `record` waits for dumps.
 */
#ifndef PROBITY_CLI_SCHED_DUMPS_H
#define PROBITY_CLI_SCHED_DUMPS_H

#include <pthread.h>

#include "cli/cli.h"

struct probity_sched;

struct cli_sched_dumps {
    const struct cli_command *command;
    struct probity_sched *sched;
    char *directory, *name; /* where dumps appear; a pattern for fnmatch() */
    int watch, stop;        /* descriptors of inotify and of an eventfd */
    int is_running, is_reported;
    pthread_t thread;
};

/* Starts waiting. pattern: an absolute path, which may contain %n, %p and %i, but not %n in its
 * directory. Reports failures. */
void cli_sched_dumps_begin(struct cli_sched_dumps *dumps, struct probity_sched *sched,
                           const char *pattern, const char *program);

/* Ends waiting, after the program has ended and cli_sched_end() was called. */
void cli_sched_dumps_end(struct cli_sched_dumps *dumps);

#endif
