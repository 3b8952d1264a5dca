/* SPDX-License-Identifier: MIT
 *
 * project.h: finds the history of runs, and recognizes labels in it.
 */
#ifndef PROBITY_CLI_PROJECT_H
#define PROBITY_CLI_PROJECT_H

#include "cli/cli.h"
#include "store/store.h"

/* Help of --project. */
#define CLI_PROJECT_HELP                                                                           \
    "project whose history @LABEL refers to (default: PROBITY_PROJECT, else the working "          \
    "directory or its nearest parent with a history)"

#define CLI_PROJECT_DIRECTORY ".probity"
#define CLI_PROJECT_FILE CLI_PROJECT_DIRECTORY "/runs.db"

/* The project's directory: `option`, else PROBITY_PROJECT, else the working directory or its
 * nearest parent that has a .probity, which the caller must own; else, if must_exist is 0, the
 * working directory. malloc'ed. NULL: failed, and reported why. */
char *cli_project_find(const struct cli_command *command, const char *option, int must_exist);

/* Opens the project's history. Returns CLI_OK, or CLI_FAILURE and reports why. */
int cli_project_open(const struct cli_command *command, const char *option, int is_for_writing,
                     struct probity_store **ret_store);

/* Reports why a call of the store failed. Returns CLI_FAILURE. */
int cli_project_fail(const struct cli_command *command, const struct probity_store *store);

/* @LABEL means the runs with that label; a file with such a name is given as ./@... */
static inline int cli_is_label(const char *name)
{
    return name[0] == '@';
}

#endif
