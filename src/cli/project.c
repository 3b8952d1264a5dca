/* SPDX-License-Identifier: MIT
 *
 * project.c: looks for the history as git looks for its repository.
 */
#include "cli/project.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int has_history(const char *folder)
{
    char path[PATH_MAX + sizeof "/" CLI_PROJECT_FOLDER];
    struct stat status;

    snprintf(path, sizeof path, "%s/" CLI_PROJECT_FOLDER, folder);
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The root directory becomes "", and is looked into as well. */
static int find_upwards(char *folder)
{
    for (;;) {
        if (has_history(folder))
            return 1;
        char *slash = strrchr(folder, '/');
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
    char here[PATH_MAX], folder[PATH_MAX];

    if (named != NULL && *named != '\0') {
        if (must_exist && !has_history(named)) {
            cli_fail(command, "'%s' has no history of runs; `probity runs init --project %s` makes "
                     "one", named, named);
            return NULL;
        }
        return copy_of(command, named);
    }
    if (getcwd(here, sizeof here) == NULL) {
        cli_fail(command, "cannot tell the working directory: %s", strerror(errno));
        return NULL;
    }
    if (!must_exist)
        return copy_of(command, here);
    memcpy(folder, here, sizeof folder);
    if (find_upwards(folder))
        return copy_of(command, folder);
    cli_fail(command, "no history of runs in '%s' or above it; `probity runs init` makes one",
             here);
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
    char *folder = cli_project_find(command, option, 1), *path = NULL;
    struct probity_store *store = NULL;

    if (folder == NULL)
        return CLI_FAILURE;
    int length = asprintf(&path, "%s/" CLI_PROJECT_FILE, folder);
    free(folder);
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
