/* SPDX-License-Identifier: MIT
 *
 * preload.h: `record --functions`: finds the library that records functions.
 */
#ifndef PROBITY_CLI_PRELOAD_H
#define PROBITY_CLI_PRELOAD_H

#include "cli/cli.h"

/* LD_PRELOAD for the program: libprobity-functions, before what the environment preloads already.
 * malloc'ed. NULL: reported. */
char *cli_preload_functions(const struct cli_command *command);

#endif
