/* SPDX-License-Identifier: MIT
 *
 * preload.c: see preload.h. Uses the library installed with this tool; if there is none, the
 * dynamic linker searches for one as usual.
 */
#include "cli/preload.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libprobity-functions.so.0"

/* Whether nobody else can have put the file there: it belongs to root, the caller or the owner of
 * this tool, and nobody else may write to it. */
static int is_trusted(const char *path)
{
    struct stat tool, status;

    return stat("/proc/self/exe", &tool) == 0 && stat(path, &status) == 0 &&
           (status.st_uid == 0 || status.st_uid == geteuid() || status.st_uid == tool.st_uid) &&
           (status.st_mode & S_IWOTH) == 0;
}

/* For PREFIX/bin/probity, PREFIX/lib/LIBRARY if it is trusted: the tool may be in /tmp/bin, and
 * /tmp/lib may be another user's. Otherwise LIBRARY. */
static void find_library(char ret_path[PATH_MAX])
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
    if (bytes + sizeof "/" LIBRARY <= PATH_MAX && is_trusted(ret_path)) {
        memcpy(ret_path + bytes, "/" LIBRARY, sizeof "/" LIBRARY);
        if (is_trusted(ret_path))
            return;
    }
    memcpy(ret_path, LIBRARY, sizeof LIBRARY);
}

char *cli_preload_functions(const struct cli_command *command)
{
    const char *others = getenv("LD_PRELOAD");
    char library[PATH_MAX];

    find_library(library);
    /* The dynamic linker separates libraries there. */
    if (strpbrk(library, " :") != NULL) {
        cli_fail(command, "cannot preload '%s': its path contains a space or a colon", library);
        return NULL;
    }
    size_t bytes = strlen(library) + (others != NULL ? strlen(others) : 0) + 2;
    char *list = malloc(bytes);
    if (list == NULL)
        cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    else
        snprintf(list, bytes, "%s%s%s", library, others != NULL && *others != '\0' ? ":" : "",
                 others != NULL ? others : "");
    return list;
}
