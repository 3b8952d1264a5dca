/* SPDX-License-Identifier: MIT
 *
 * drain_processes.c: implements drain_traces.h with a process for each trace and, for `record`, one
 * that looks for traces.
 */
#include "cli/drain_traces.h"

#ifndef PROBITY_WITHOUT_FORK

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PASS_NS = 100000000 };

struct cli_drain {
    pid_t pid; /* the process that looks for traces */
    int hold;  /* closed when no more traces can appear */
};

/* Drains until the program ends. */
static int drain_all(const struct cli_command *command, const char *trace,
                     struct probity_drainer *drainer)
{
    int status;

    while (!drain_advance(command, trace, &drainer, &status)) {
        if (drainer != NULL)
            probity_drainer_wait(drainer, PASS_NS);
        else
            poll(NULL, 0, DRAIN_LOOK_MS);
    }
    return status;
}

void drain_hand_over(struct drain_follow *follow, const char *path,
                     struct probity_drainer *drainer)
{
    fflush(NULL);
    pid_t pid = fork();

    if (pid == 0) {
        if (follow->is_ours)
            prctl(PR_SET_PDEATHSIG, SIGTERM);
        int status = cli_cut_judge(follow->command, drain_all(follow->command, path, drainer));
        fflush(NULL);
        _exit(status);
    }
    if (pid < 0)
        follow->status =
            cli_fail(follow->command, "cannot fork: %s", strerror(errno));
    else
        follow->count++;
    probity_drainer_close(drainer); /* the child shares the lock */
}

static void reap(struct drain_follow *follow)
{
    int status;

    while (follow->count > 0 && waitpid(-1, &status, WNOHANG) > 0) {
        follow->count--;
        if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
            follow->status = WEXITSTATUS(status);
        else if (WIFSIGNALED(status))
            follow->status = cli_fail(follow->command, "a drainer process was killed by signal %d",
                                      WTERMSIG(status));
    }
}

void drain_proceed(struct drain_follow *follow)
{
    reap(follow);
    if (follow->count > 0 || follow->watches)
        poll(NULL, 0, DRAIN_LOOK_MS);
}

/* ---- For `record` ------------------------------------------------------------------------------
 */

/* Signals that end `record` do not end draining, which ends when the programs end. */
static _Noreturn void follow_pattern(struct drain_follow *follow, const char *pattern, int hold)
{
    static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct pollfd ended = {.fd = hold, .events = POLLIN};

    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    do {
        drain_consider_pattern(follow, pattern);
        reap(follow);
    } while (poll(&ended, 1, DRAIN_LOOK_MS) == 0);
    /* The program's children may have started since, and may themselves start children. */
    do {
        drain_consider_pattern(follow, pattern);
        drain_proceed(follow);
    } while (follow->count > 0);
    _exit(follow->status);
}

int cli_drain_begin(const struct cli_command *command, const char *pattern, uint64_t start_ns,
                    struct cli_drain **ret_drain)
{
    struct drain_follow follow = {.command = command, .start_ns = start_ns};
    struct cli_drain *drain = malloc(sizeof *drain);
    int hold[2];

    if (drain == NULL || pipe2(hold, O_CLOEXEC) != 0) {
        free(drain);
        return cli_fail(command, "cannot create a pipe: %s", strerror(errno));
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(hold[1]);
        follow_pattern(&follow, pattern, hold[0]);
    }
    close(hold[0]);
    if (pid < 0) {
        close(hold[1]);
        free(drain);
        return cli_fail(command, "cannot fork: %s", strerror(errno));
    }
    *drain = (struct cli_drain){pid, hold[1]};
    *ret_drain = drain;
    return CLI_OK;
}

void cli_drain_end(struct cli_drain *drain)
{
    if (drain == NULL)
        return;
    close(drain->hold);
    while (waitpid(drain->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(drain);
}

#endif
