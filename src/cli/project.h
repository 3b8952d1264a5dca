/* SPDX-License-Identifier: MIT
 *
 * project.h: finds a project's history of runs, and recognizes labels.
 */
#ifndef PROBITY_CLI_PROJECT_H
#define PROBITY_CLI_PROJECT_H

#include "cli/cli.h"
#include "store/store.h"

/* The text of --help for --project. */
#define CLI_PROJECT_HELP                                                                           \
    "project whose history @LABEL refers to (default: PROBITY_PROJECT, else the working "          \
    "directory or its nearest parent with a history)"

#define CLI_PROJECT_DIRECTORY ".probity"
#define CLI_PROJECT_FILE CLI_PROJECT_DIRECTORY "/runs.db"

/* Returns the project's directory: `option`, or else PROBITY_PROJECT, or else the nearest
 * directory, from the working directory upwards, with a .probity that the caller owns, or else,
 * unless must_exist, the working directory. malloc'ed. NULL after reporting an error. */
char *cli_project_find(const struct cli_command *command, const char *option, int must_exist);

/* Opens the project's history. Returns CLI_OK, or CLI_FAILURE after reporting why. */
int cli_project_open(const struct cli_command *command, const char *option, int is_for_writing,
                     struct probity_store **ret_store);

/* Reports why a call to the store failed. Returns CLI_FAILURE. */
int cli_project_fail(const struct cli_command *command, const struct probity_store *store);

/* Whether text is @LABEL, which refers to the runs with that label. A file with such a name is
 * given as ./@... */
static inline int cli_is_label(const char *name)
{
    return name[0] == '@';
}

#endif
