/* SPDX-License-Identifier: MIT
 *
 * sched.h: thread states from the scheduler, in TRACE.sched (doc/sched.md): `record --sched`
 * writes it, commands that show states read it.
 */
#ifndef PROBITY_CLI_SCHED_H
#define PROBITY_CLI_SCHED_H

#include <sys/types.h>

#include "cli/cli.h"

struct probity_sched;

/* For `record`. */
struct cli_sched {
    const struct cli_command *command;
    const char *near;    /* a path in the directory for temporary files */
    size_t ring_kib;     /* 0: the default */
    uint32_t share;      /* limit, in millionths of the program's CPU time; 0: none */
    int is_ring;         /* older events are discarded */
    struct probity_sched *sched; /* NULL: not recording */
    char **paths;        /* paths of traces */
    size_t path_count;
};

/* Starts recording a process before its exec; reports what is not permitted. For cli_launch():
 * context is a struct cli_sched. */
void cli_sched_prepare(void *context, pid_t pid);

/* Ends recording. */
void cli_sched_end(struct cli_sched *sched);

/* Adds a trace for which a file of thread states is written. */
void cli_sched_add(struct cli_sched *sched, const char *path);

/* Writes the files, reports what is missing in them, and releases everything. */
void cli_sched_conclude(struct cli_sched *sched);

/* Makes a reader read the thread states. */
void cli_sched_use(struct probity_reader_options *options);

#endif
