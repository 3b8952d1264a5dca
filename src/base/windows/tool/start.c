/* SPDX-License-Identifier: MIT
 *
 * tool/start.c: prepares the environment that the tool expects, before main(): the directory for
 * temporary files, and a console that shows UTF-8.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <windows.h>

#include "base/windows/posix.h"

static void set_temporary(void)
{
    char directory[MAX_PATH + 1], setting[MAX_PATH + 16];
    int length = probity_posix_temporary_directory(directory, sizeof directory);

    if (getenv("TMPDIR") != NULL || length < 2)
        return;
    directory[length - 1] = 0; /* the trailing separator */
    snprintf(setting, sizeof setting, "TMPDIR=%s", directory);
    _putenv(setting);
}

__attribute__((constructor)) static void start(void)
{
    set_temporary();
    if (isatty(STDOUT_FILENO) || isatty(STDERR_FILENO))
        SetConsoleOutputCP(CP_UTF8);
}
