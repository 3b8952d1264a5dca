/* SPDX-License-Identifier: MIT
 *
 * drain_traces.h: drains the traces that `drain` has found. drain_processes.c starts a process for
 * each, so that a damaged spool or a killed process does not affect the others; without fork,
 * drain_without_fork.c drains them in turn.
 */
#ifndef PROBITY_CLI_DRAIN_TRACES_H
#define PROBITY_CLI_DRAIN_TRACES_H

#include "cli/cli_drain.h"
#include "writer/drainer.h"

enum { DRAIN_LOOK_MS = 20 }; /* time between searches for new traces */

struct drain_seen;
struct drain_trace;

struct drain_follow {
    const struct cli_command *command;
    uint64_t start_ns; /* ignores earlier traces */
    int is_ours;       /* 1: children end with this process, and on the same signals */
    struct drain_seen *seen;
    size_t seen_count;
    struct drain_trace *traces; /* only without fork */
    size_t count;               /* traces that are being drained */
    int status;
    int watches; /* 1: watch for new programs, even if all have ended */
};

/* Begins to drain this trace, and takes over the drainer. */
void drain_hand_over(struct drain_follow *follow, const char *path,
                     struct probity_drainer *drainer);

/* Continues for DRAIN_LOOK_MS, or returns at once if nothing is being drained or watched. Notes
 * which traces are complete. */
void drain_proceed(struct drain_follow *follow);

/* Passes on all traces that match the pattern and have not been examined yet. */
void drain_consider_pattern(struct drain_follow *follow, const char *pattern);

/* Makes one pass. When the program has ended, closes the drainer, which is then NULL, and completes
 * the trace. Returns 1, with CLI_OK or the reported failure, or 0 if there is more to do: if the
 * program itself is completing the trace, this only means waiting until it has done so or was
 * killed in the attempt. */
int drain_advance(const struct cli_command *command, const char *trace,
                  struct probity_drainer **drainer, int *ret_status);

/* Call when nothing is being drained. */
void drain_release(struct drain_follow *follow);

#endif
