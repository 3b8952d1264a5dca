/* SPDX-License-Identifier: MIT
 *
 * preload.h: `record --functions`: finds the library that records functions.
 */
#ifndef PROBITY_CLI_PRELOAD_H
#define PROBITY_CLI_PRELOAD_H

#include "cli/cli.h"

/* The value of LD_PRELOAD: libprobity-functions, followed by what the environment already preloads.
 * malloc'ed. NULL after reporting an error. */
char *cli_preload_functions(const struct cli_command *command);

#endif
