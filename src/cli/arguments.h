/* SPDX-License-Identifier: MIT
 *
 * arguments.h: the options of `record` that show arguments and results of functions without macros:
 * writes the description that libprobity-functions reads (doc/arguments.md).
 */
#ifndef PROBITY_CLI_ARGUMENTS_H
#define PROBITY_CLI_ARGUMENTS_H

#include "cli/cli.h"
#include "cli/patterns.h"

struct cli_arguments {
    struct cli_patterns arguments, results; /* patterns of functions */
    struct cli_patterns files; /* more executables and shared libraries to search */
};

/* Checks the patterns. Returns CLI_OK, or an exit status after reporting the error. */
int cli_arguments_check(const struct cli_command *command, const struct cli_arguments *arguments);

/* Describes the functions of a program (searched for in PATH, as a shell does), of the shared
 * libraries that it is linked with, and of the files. Warns if none match, or if none have
 * debugging information. *ret_descriptor: a file in memory, for the program to inherit and the
 * caller to close; -1 if there is nothing to describe. Returns CLI_OK, or CLI_FAILURE after
 * reporting why. */
int cli_arguments_describe(const struct cli_command *command,
                           const struct cli_arguments *arguments, const char *program,
                           int *ret_descriptor);

void cli_arguments_release(struct cli_arguments *arguments);

#endif
