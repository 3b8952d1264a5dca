/* SPDX-License-Identifier: MIT
 *
 * launch.h: runs a program and waits for it, for `record` and `overhead`. Signals are received
 * synchronously, so no signal handler is needed.
 */
#ifndef PROBITY_CLI_LAUNCH_H
#define PROBITY_CLI_LAUNCH_H

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "cli/cli.h"

/* A shell's exit statuses for programs that cannot be run, are not found, or died of a signal. */
enum { CLI_NOT_EXECUTABLE = 126, CLI_NOT_FOUND = 127, CLI_BY_SIGNAL = 128 };

struct cli_variable {
    const char *name, *value; /* value NULL: unset */
};

struct cli_launch {
    char **program; /* NULL-terminated; searched for in PATH, as a shell does */
    const char *file; /* file to run instead; NULL: program[0] */
    const struct cli_variable *environment;
    size_t environment_count;
    int is_quiet; /* 1: stdin and stdout are /dev/null */
    /* 1: signals that would end this process also end the program. 0: SIGTERM and SIGHUP are
     * forwarded; SIGINT and SIGQUIT are not, because the terminal sends them to both.
     */
    int is_ours;
    const sigset_t *mask; /* signal mask of the program; NULL: the caller's */
    void (*prepare)(void *context, pid_t pid); /* called between fork and exec; may be NULL */
    void *context;
};

struct cli_launched {
    pid_t pid;
    int status;     /* as a shell would report it; 32 bits on systems without signals */
    int signal;     /* the one that ended it, or 0 */
    int exec_error; /* errno if the program could not be run, or 0 */
    int taken;      /* signal received while waiting, or 0 */
    uint64_t wall_ns;
    struct rusage usage; /* of the program and the children it waited for */
};

/* Name of the program according to its library: the value of %n in PROBITY_OUT. */
void cli_launch_name(const char *program, char ret_name[PATH_MAX]);

/* Returns CLI_OK, or CLI_FAILURE after reporting why no process could be created. Also reports a
 * program that could not be run. */
int cli_launch(const struct cli_command *command, const struct cli_launch *launch,
               struct cli_launched *ret_launched);

#endif
