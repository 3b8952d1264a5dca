/* SPDX-License-Identifier: MIT
 *
 * view_open_command.c: opens a page in the browser with xdg-open, whose output is discarded.
 */
#include "page/view_open.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

extern char **environ;

int view_open(const char *place)
{
    char *arguments[] = {"xdg-open", (char *)(uintptr_t)place, NULL};
    posix_spawn_file_actions_t actions;
    int status = 0;
    pid_t child;

    int error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (error != 0)
        return cli_fail(&cli_command_view, "cannot open '%s' with xdg-open: %s; open it in a "
                        "browser", place, strerror(error));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return cli_fail(&cli_command_view, "xdg-open failed to open '%s'; open it in a browser",
                        place);
    return CLI_OK;
}
