/* SPDX-License-Identifier: MIT
 *
 * tool/start.c: starts the tool: its arguments as UTF-8, the environment that it expects, and a
 * console that shows UTF-8.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <windows.h>

#include "base/windows/posix.h"

int main(int argc, char **argv);
int wmain(int argc, wchar_t **wide);

static void set_temporary(void)
{
    char directory[PROBITY_POSIX_TEMPORARY_BYTES];
    int length = probity_posix_temporary_directory(directory, sizeof directory);

    if (length < 2)
        return;
    directory[length - 1] = 0; /* removes the trailing separator */
    setenv("TMPDIR", directory, 0);
}

/* Returns a list of arguments, which is not freed, or NULL after a message. */
static char **narrow(int argc, wchar_t *const *wide)
{
    char **argv = calloc((size_t)argc + 1, sizeof *argv);

    for (int i = 0; argv != NULL && i < argc; i++) {
        size_t room = 3 * wcslen(wide[i]) + 1;
        argv[i] = malloc(room);
        if (argv[i] == NULL) {
            argv = NULL;
        } else if (probity_posix_narrow(wide[i], argv[i], room) < 0) {
            fprintf(stderr, "probity: argument %d is not valid UTF-16\n", i);
            return NULL;
        }
    }
    if (argv == NULL)
        fprintf(stderr, "probity: %s\n", strerror(ENOMEM));
    return argv;
}

/* Called by the system's start code in place of main(). */
int wmain(int argc, wchar_t **wide)
{
    char **argv = narrow(argc, wide);

    if (argv == NULL)
        return 2;
    set_temporary();
    if (isatty(STDOUT_FILENO) || isatty(STDERR_FILENO))
        SetConsoleOutputCP(CP_UTF8);
    return main(argc, argv);
}
