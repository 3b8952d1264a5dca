/* SPDX-License-Identifier: MIT
 *
 * launch.c: fork, exec, wait. A pipe that exec closes distinguishes a program that could not be run
 * from a program that itself exits with 126 or 127.
 */
#include "cli/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *file_of(const struct cli_launch *launch)
{
    return launch->file != NULL ? launch->file : launch->program[0];
}

void cli_launch_name(const char *program, char ret_name[PATH_MAX])
{
    const char *slash = strrchr(program, '/');

    snprintf(ret_name, PATH_MAX, "%s", slash != NULL ? slash + 1 : program);
}

static int set_environment(const struct cli_launch *launch)
{
    for (size_t i = 0; i < launch->environment_count; i++) {
        const struct cli_variable *variable = &launch->environment[i];
        if (variable->value != NULL ? setenv(variable->name, variable->value, 1) != 0
                                    : unsetenv(variable->name) != 0)
            return -1;
    }
    return 0;
}

static int silence(void)
{
    int nothing = open("/dev/null", O_RDWR);

    return nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDOUT_FILENO) >= 0
               ? 0
               : -1;
}

/* Waits until the parent is ready or has exited. */
static void wait_for_parent(int prepared)
{
    char byte;

    while (read(prepared, &byte, 1) < 0 && errno == EINTR)
        ;
}

static _Noreturn void run_program(const struct cli_launch *launch, const sigset_t *signals_before,
                                  int report, const int prepared[2])
{
    if (launch->prepare != NULL) {
        close(prepared[1]);
        wait_for_parent(prepared[0]);
    }
    sigprocmask(SIG_SETMASK, signals_before, NULL);
    if ((!launch->is_quiet || silence() == 0) && set_environment(launch) == 0)
        execvp(file_of(launch), launch->program);
    int error_number = errno;
    ssize_t put = write(report, &error_number, sizeof error_number);
    _exit(put > 0 && error_number == ENOENT ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A program that is to end with this process gets SIGTERM for the first signal and SIGKILL for the
 * second. */
static void pass_on(const struct cli_launch *launch, struct cli_launched *launched, int number)
{
    if (number == SIGCHLD || number < 0)
        return;
    if (launch->is_ours)
        kill(launched->pid, launched->taken == 0 ? SIGTERM : SIGKILL);
    else if (number == SIGTERM || number == SIGHUP)
        kill(launched->pid, number);
    launched->taken = number;
}

static int wait_for(const struct cli_launch *launch, const sigset_t *signals,
                    struct cli_launched *launched)
{
    int status;

    for (;;) {
        pid_t ended = wait4(launched->pid, &status, WNOHANG, &launched->usage);
        if (ended == launched->pid)
            break;
        if (ended < 0 && errno != EINTR)
            return CLI_FAILURE;
        pass_on(launch, launched, sigwaitinfo(signals, NULL));
    }
    launched->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    launched->status =
        launched->signal != 0 ? CLI_BY_SIGNAL + launched->signal : WEXITSTATUS(status);
    return CLI_OK;
}

static void report_exec_failure(const struct cli_command *command, const struct cli_launch *launch,
                              int report, struct cli_launched *launched)
{
    int error_number;

    if (read(report, &error_number, sizeof error_number) != (ssize_t)sizeof error_number)
        return; /* exec has closed it: the program is running */
    launched->exec_error = error_number;
    cli_fail(command, "cannot run '%s': %s", file_of(launch), strerror(error_number));
}

int cli_launch(const struct cli_command *command, const struct cli_launch *launch,
               struct cli_launched *ret_launched)
{
    static const int taken[] = {SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT};
    struct cli_launched launched = {0};
    sigset_t signals, before;
    int report[2], prepared[2] = {-1, -1};

    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        sigaddset(&signals, taken[i]);
    if (pipe2(report, O_CLOEXEC) != 0 ||
        (launch->prepare != NULL && pipe2(prepared, O_CLOEXEC) != 0))
        return cli_fail(command, "cannot create a pipe: %s", strerror(errno));
    signal(SIGCHLD, SIG_DFL); /* if SIGCHLD is ignored, there is no exit status */
    sigprocmask(SIG_BLOCK, &signals, &before);
    fflush(NULL);
    uint64_t start_ns = now_ns();
    launched.pid = fork();
    if (launched.pid == 0)
        run_program(launch, launch->mask != NULL ? launch->mask : &before, report[1], prepared);
    close(report[1]);
    if (launch->prepare != NULL && launched.pid > 0)
        launch->prepare(launch->context, launched.pid);
    if (launch->prepare != NULL) {
        close(prepared[0]);
        close(prepared[1]);
    }
    if (launched.pid < 0) {
        close(report[0]);
        sigprocmask(SIG_SETMASK, &before, NULL);
        return cli_fail(command, "cannot fork: %s", strerror(errno));
    }
    report_exec_failure(command, launch, report[0], &launched);
    close(report[0]);
    int status = wait_for(launch, &signals, &launched);
    launched.wall_ns = now_ns() - start_ns;
    sigprocmask(SIG_SETMASK, &before, NULL);
    *ret_launched = launched;
    return status;
}
