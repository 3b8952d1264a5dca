/* SPDX-License-Identifier: MIT
 *
 * launch.h: runs a program and waits for it; for `record` and `overhead`. Signals are taken
 * synchronously, so that there is no handler and no state for one.
 */
#ifndef PROBITY_CLI_LAUNCH_H
#define PROBITY_CLI_LAUNCH_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "cli/cli.h"

/* What a shell exits with where a program cannot be run, is not found, or was ended by a signal. */
enum { CLI_NOT_EXECUTABLE = 126, CLI_NOT_FOUND = 127, CLI_BY_SIGNAL = 128 };

struct cli_variable {
    const char *name, *value; /* value NULL: it is not to be set */
};

struct cli_launch {
    char **program; /* ended by NULL; found as a shell finds it */
    const char *file; /* what is run in its place; NULL: program[0] */
    const struct cli_variable *environment;
    size_t environment_count;
    int is_quiet; /* 1: standard input and output are /dev/null */
    /* 1: what would end us is to end it too. Else SIGTERM and SIGHUP are passed on, and SIGINT and
     * SIGQUIT, which come to both from the terminal, are for the program to decide on. */
    int is_ours;
    const sigset_t *mask; /* of its signals; NULL: the caller's */
};

struct cli_launched {
    pid_t pid;
    int status;     /* as a shell tells it */
    int signal;     /* that ended it, or 0 */
    int exec_error; /* not 0: it could not be run */
    int taken;      /* the signal that was sent to us meanwhile, or 0 */
    uint64_t wall_ns;
    struct rusage usage; /* its own, and that of the children that it waited for */
};

/* Returns CLI_OK, or CLI_FAILURE where no process could be made; says why. That the program could
 * not be run is said too. */
int cli_launch(const struct cli_command *command, const struct cli_launch *launch,
               struct cli_launched *ret_launched);

#endif
