/* SPDX-License-Identifier: MIT
 *
 * cli_repeated.h: traces that are given several times are counted once, with a warning.
 */
#ifndef PROBITY_CLI_CLI_REPEATED_H
#define PROBITY_CLI_CLI_REPEATED_H

#include <stddef.h>

#include "cli/cli.h"

/* Moves the first path of each file to the front; links lead to the same file. Returns the number
 * of files. */
size_t cli_repeated_links(const struct cli_command *command, char **paths, size_t count);

/* Moves one trace of each recording to the front: of several copies, the one with the most records,
 * or the first. reader: opened on the paths, in their order. Returns the number of recordings. */
size_t cli_repeated_copies(const struct cli_command *command, char **paths,
                           const struct probity_reader *reader);

#endif
