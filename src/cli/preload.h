/* SPDX-License-Identifier: MIT
 *
 * preload.h: `record --functions` and `record --calls`: finds the libraries that record them.
 */
#ifndef PROBITY_CLI_PRELOAD_H
#define PROBITY_CLI_PRELOAD_H

#include "cli/cli.h"

/* Reports if this build cannot preload libraries. Returns CLI_OK or CLI_FAILURE. */
int cli_preload_check(const struct cli_command *command);

/* The value of LD_PRELOAD: libprobity-calls and libprobity-functions if requested, followed by
 * what the environment already preloads. sanitizer: a library that must come first, or "".
 * malloc'ed. NULL after reporting an error. */
char *cli_preload(const struct cli_command *command, int functions, int calls,
                  const char *sanitizer);

#endif
