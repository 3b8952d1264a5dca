/* SPDX-License-Identifier: MIT
 *
 * launch_without_fork.c: replaces launch.c if the tool is built with -DPROBITY_WITHOUT_FORK: runs a
 * program with posix_spawnp(). There are no signals to forward: an interrupt from the console also
 * reaches the program, and is ignored here while the program runs.
 */
#include "cli/launch.h"

#ifdef PROBITY_WITHOUT_FORK

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"

/* The library omits ".exe" from a program's name. */
void cli_launch_name(const char *program, char ret_name[PATH_MAX])
{
    static const char suffix[] = ".exe";
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s", program);
    probity_os_use_slashes(path);
    const char *slash = strrchr(path, '/');
    snprintf(ret_name, PATH_MAX, "%s", slash != NULL ? slash + 1 : path);
    size_t length = strlen(ret_name), suffix_length = sizeof suffix - 1;
    if (length > suffix_length && strcasecmp(ret_name + length - suffix_length, suffix) == 0)
        ret_name[length - suffix_length] = '\0';
}

/* value NULL: unsets it. */
static int set_variable(const char *name, const char *value)
{
    return value != NULL ? setenv(name, value, 1) : unsetenv(name);
}

/* Changes this process's environment, which the program inherits. before: the values to restore.
 * Returns 0 or an error number. */
static int set_environment(const struct cli_launch *launch, char **before)
{
    for (size_t i = 0; i < launch->environment_count; i++) {
        const struct cli_variable *variable = &launch->environment[i];
        const char *value = getenv(variable->name);
        before[i] = value != NULL ? strdup(value) : NULL;
        if ((value != NULL && before[i] == NULL) ||
            set_variable(variable->name, variable->value) != 0)
            return ENOMEM;
    }
    return 0;
}

static void restore_environment(const struct cli_launch *launch, char **before)
{
    for (size_t i = 0; i < launch->environment_count; i++) {
        set_variable(launch->environment[i].name, before[i]);
        free(before[i]);
    }
    free(before);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns 0 or an error number. */
static int spawn(const struct cli_launch *launch, const char *file, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0)
        return error;
    for (int i = STDIN_FILENO; error == 0 && launch->is_quiet && i <= STDOUT_FILENO; i++)
        error = posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
    fflush(stdout);
    if (error == 0)
        error = posix_spawnp(ret_pid, file, &actions, NULL, launch->program, NULL);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Returns 0 or an error number. */
static int start(const struct cli_launch *launch, const char *file, pid_t *ret_pid)
{
    char **before = calloc(launch->environment_count + 1, sizeof *before);
    int error = before != NULL ? set_environment(launch, before) : ENOMEM;

    if (error == 0)
        error = spawn(launch, file, ret_pid);
    if (before != NULL)
        restore_environment(launch, before);
    return error;
}

static int run_and_wait(const struct cli_launch *launch, const char *file,
                        struct cli_launched *launched)
{
    int status = 0;

    launched->exec_error = start(launch, file, &launched->pid);
    if (launched->exec_error != 0) {
        launched->status = launched->exec_error == ENOENT ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE;
        return 0;
    }
    if (wait4(launched->pid, &status, 0, &launched->usage) != launched->pid)
        return errno;
    launched->status = WEXITSTATUS(status);
    return 0;
}

int cli_launch(const struct cli_command *command, const struct cli_launch *launch,
               struct cli_launched *ret_launched)
{
    const char *file = launch->file != NULL ? launch->file : launch->program[0];
    struct cli_launched launched = {0};

    if (launch->prepare != NULL) /* reports what is not recorded */
        launch->prepare(launch->context, getpid());
    void (*before)(int) = signal(SIGINT, SIG_IGN);
    uint64_t start_ns = now_ns();
    int error = run_and_wait(launch, file, &launched);
    launched.wall_ns = now_ns() - start_ns;
    signal(SIGINT, before);
    if (error != 0)
        return cli_fail(command, "cannot wait for '%s': %s", file, strerror(error));
    if (launched.exec_error != 0)
        cli_fail(command, "cannot run '%s': %s", file, strerror(launched.exec_error));
    *ret_launched = launched;
    return CLI_OK;
}

#endif
