/* SPDX-License-Identifier: MIT
 *
 * cli_unfinished.c: removes incomplete output, which has a temporary name, before a signal kills
 * the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"

/* The last two are raised by libraries. SIGBUS is handled in cli_sigbus.c. */
static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,
                              SIGTERM, SIGXCPU, SIGABRT, SIGSEGV};

enum { SIGNALS = sizeof signals / sizeof *signals };

/* A command has a single output. The path is set last and cleared first, so that a signal in
 * between sees no output. */
static struct {
    const char *volatile path;
    const char *const *volatile files;
    int is_at_exit;
} unfinished;

int cli_remove_directory(const char *path, const char *const *files)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), error_number = 0;

    if (directory < 0)
        return -1;
    for (; *files != NULL; files++) {
        if (unlinkat(directory, *files, 0) != 0 && errno != ENOENT)
            error_number = errno;
    }
    close(directory);
    int result = rmdir(path);
    if (result != 0 && error_number != 0)
        errno = error_number;
    return result;
}

void cli_unfinished_remove(void)
{
    if (unfinished.path != NULL && unfinished.files != NULL)
        cli_remove_directory(unfinished.path, unfinished.files);
    else if (unfinished.path != NULL)
        unlink(unfinished.path);
}

/* SA_RESETHAND has restored the default action, which takes effect when this handler returns. */
static void remove_and_die(int signal_number)
{
    cli_unfinished_remove();
    raise(signal_number);
}

void cli_unfinished_set(const struct cli_output *output)
{
    const struct sigaction action = {.sa_handler = remove_and_die, .sa_flags = SA_RESETHAND};
    struct sigaction before;

    /* For libraries that call exit() when out of memory. */
    if (!unfinished.is_at_exit)
        atexit(cli_unfinished_remove);
    unfinished.is_at_exit = 1;
    unfinished.files = output->files;
    unfinished.path = output->temporary;
    /* Ignored signals stay ignored, and commands with their own handlers end normally. */
    for (size_t i = 0; i < SIGNALS; i++) {
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
}

void cli_unfinished_clear(void)
{
    unfinished.path = NULL;
}
