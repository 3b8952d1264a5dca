/* SPDX-License-Identifier: MIT
 *
 * project.c: finds the history in the working directory or above it.
 */
#include "cli/project.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int has_history(const char *directory)
{
    char path[PATH_MAX + sizeof "/" CLI_PROJECT_DIRECTORY];
    struct stat status;

    snprintf(path, sizeof path, "%s/" CLI_PROJECT_DIRECTORY, directory);
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int is_owned(const struct stat *status, int may_be_roots)
{
    return status->st_uid == geteuid() || (may_be_roots && status->st_uid == 0);
}

/* Whether the caller owns the history and its directory: the owner of the directory could replace
 * the history. */
static int is_own_history(const char *directory)
{
    char path[PATH_MAX + sizeof "/" CLI_PROJECT_FILE];
    struct stat status;

    if (stat(*directory != '\0' ? directory : "/", &status) != 0 || !is_owned(&status, 1))
        return 0;
    snprintf(path, sizeof path, "%s/" CLI_PROJECT_DIRECTORY, directory);
    if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode) || !is_owned(&status, 0))
        return 0;
    snprintf(path, sizeof path, "%s/" CLI_PROJECT_FILE, directory);
    return lstat(path, &status) != 0 || (S_ISREG(status.st_mode) && is_owned(&status, 0));
}

/* Removing the last component of a path in the root directory leaves "", which is searched, too. */
static int find_upwards(char *directory)
{
    for (;;) {
        if (has_history(directory))
            return 1;
        char *slash = strrchr(directory, '/');
        if (slash == NULL)
            return 0;
        *slash = '\0';
    }
}

static char *copy_of(const struct cli_command *command, const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL)
        cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    return copy;
}

char *cli_project_find(const struct cli_command *command, const char *option, int must_exist)
{
    const char *named = option != NULL ? option : getenv("PROBITY_PROJECT");
    char here[PATH_MAX], directory[PATH_MAX];

    if (named != NULL && *named != '\0') {
        if (must_exist && !has_history(named)) {
            cli_fail(command, "'%s' has no history of runs; create one with `probity runs init "
                     "--project %s`", named, named);
            return NULL;
        }
        return copy_of(command, named);
    }
    if (getcwd(here, sizeof here) == NULL) {
        cli_fail(command, "cannot get the working directory: %s", strerror(errno));
        return NULL;
    }
    if (!must_exist)
        return copy_of(command, here);
    memcpy(directory, here, sizeof directory);
    if (find_upwards(directory)) {
        if (is_own_history(directory))
            return copy_of(command, directory);
        cli_fail(command, "'%s/" CLI_PROJECT_DIRECTORY "' is ignored: it or its directory belongs "
                 "to another user, or it is a symbolic link; if you trust it, use --project or "
                 "PROBITY_PROJECT", directory);
        return NULL;
    }
    cli_fail(command, "no history of runs in '%s' or its parents; create one with `probity runs "
             "init`", here);
    return NULL;
}

int cli_project_fail(const struct cli_command *command, const struct probity_store *store)
{
    return cli_fail(command, "%s", store != NULL ? probity_store_why(store)
                                                 : probity_error_text(PROBITY_ERROR_MEMORY));
}

int cli_project_open(const struct cli_command *command, const char *option, int is_for_writing,
                     struct probity_store **ret_store)
{
    char *directory = cli_project_find(command, option, 1), *path = NULL;
    struct probity_store *store = NULL;

    if (directory == NULL)
        return CLI_FAILURE;
    int length = asprintf(&path, "%s/" CLI_PROJECT_FILE, directory);
    free(directory);
    if (length < 0)
        return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    int error = probity_store_open(path, is_for_writing, &store);
    free(path);
    if (error == 0) {
        *ret_store = store;
        return CLI_OK;
    }
    cli_project_fail(command, store);
    probity_store_close(store);
    return CLI_FAILURE;
}
