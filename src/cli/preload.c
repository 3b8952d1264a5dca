/* SPDX-License-Identifier: MIT
 *
 * preload.c: see preload.h. Uses the libraries installed with this tool; if one is missing, the
 * dynamic linker searches for it as usual.
 */
#include "cli/preload.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALLS "libprobity-calls.so.0"
#define FUNCTIONS "libprobity-functions.so.0"

/* Whether the file belongs to root, the caller or the owner of this tool, and is not writable by
 * everyone. It may be writable by its group: with a umask of 002, files that a user builds are. */
static int is_trusted(const char *path)
{
    struct stat tool, status;

    return stat("/proc/self/exe", &tool) == 0 && stat(path, &status) == 0 &&
           (status.st_uid == 0 || status.st_uid == geteuid() || status.st_uid == tool.st_uid) &&
           (status.st_mode & S_IWOTH) == 0;
}

/* Returns PREFIX/lib/NAME for PREFIX/bin/probity if that file is trusted: the tool may be in
 * /tmp/bin, and /tmp/lib may belong to another user. Otherwise returns NAME. */
static void find_library(const char *name, char ret_path[PATH_MAX])
{
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);

    own[length > 0 ? length : 0] = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(own, '/');
        if (slash != NULL)
            *slash = '\0';
    }
    int bytes = snprintf(ret_path, PATH_MAX, "%s/lib", own);
    if ((size_t)bytes + strlen(name) + 2 <= PATH_MAX && is_trusted(ret_path)) {
        ret_path[bytes] = '/';
        memcpy(ret_path + bytes + 1, name, strlen(name) + 1);
        if (is_trusted(ret_path))
            return;
    }
    memcpy(ret_path, name, strlen(name) + 1);
}

/* The dynamic linker separates libraries at spaces and colons. Returns 0, or -1 after reporting an
 * error. */
static int put_library(const struct cli_command *command, const char *name, FILE *list)
{
    char library[PATH_MAX];

    find_library(name, library);
    if (strpbrk(library, " :") != NULL) {
        cli_fail(command, "cannot preload '%s': its path contains a space or a colon", library);
        return -1;
    }
    fprintf(list, "%s%s", ftell(list) > 0 ? ":" : "", library);
    return 0;
}

/* AddressSanitizer's library does not run unless it comes first. So it comes first if the
 * environment preloads it; other preloaded libraries follow Probity's. Returns the number of
 * libraries added. */
static int put_others(FILE *list, int is_sanitizer)
{
    const char *others = getenv("LD_PRELOAD");
    int count = 0;

    while (others != NULL && *others != '\0') {
        size_t length = strcspn(others, " :");
        const char *name = others + length;
        while (name > others && name[-1] != '/')
            name--;
        int is = strncmp(name, "libasan.so", 10) == 0 || strncmp(name, "libclang_rt.asan", 16) == 0;
        if (length > 0 && is == is_sanitizer && ++count > 0)
            fprintf(list, "%s%.*s", ftell(list) > 0 ? ":" : "", (int)length, others);
        others += length + (others[length] != '\0');
    }
    return count;
}

int cli_preload_check(const struct cli_command *command)
{
    (void)command;
    return CLI_OK;
}

char *cli_preload(const struct cli_command *command, int functions, int calls,
                  const char *sanitizer)
{
    char *text = NULL;
    size_t bytes;
    FILE *list = open_memstream(&text, &bytes);
    int result = 0;

    if (list != NULL) {
        if (put_others(list, 1) == 0)
            fputs(sanitizer, list);
        if (calls)
            result = put_library(command, CALLS, list);
        if (functions && result == 0)
            result = put_library(command, FUNCTIONS, list);
        put_others(list, 0);
    }
    if (list == NULL || fclose(list) != 0) {
        cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
        result = -1;
    }
    if (result != 0) {
        free(text);
        text = NULL;
    }
    return text;
}
