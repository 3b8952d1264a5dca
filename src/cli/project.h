/* SPDX-License-Identifier: MIT
 *
 * project.h: which history of runs a command works on, and the runs that a label names in it.
 */
#ifndef PROBITY_CLI_PROJECT_H
#define PROBITY_CLI_PROJECT_H

#include "cli/cli.h"
#include "store/store.h"

#define CLI_PROJECT_FOLDER ".probity"
#define CLI_PROJECT_FILE CLI_PROJECT_FOLDER "/runs.db"

/* The folder whose history is meant: `option`, else PROBITY_PROJECT, else the nearest one from the
 * working directory up that has a .probity; else, where must_exist is 0, the working directory.
 * malloc'ed; NULL: told why. */
char *cli_project_find(const struct cli_command *command, const char *option, int must_exist);

/* Opens the history of the project. Returns CLI_OK or CLI_FAILURE, told why. */
int cli_project_open(const struct cli_command *command, const char *option, int is_for_writing,
                     struct probity_store **ret_store);

/* Says what became of a call of the store that failed. Returns CLI_FAILURE. */
int cli_project_fail(const struct cli_command *command, const struct probity_store *store);

/* @LABEL: the runs of that label. A file whose name begins so is named ./@... */
static inline int cli_is_label(const char *name)
{
    return name[0] == '@';
}

#endif
