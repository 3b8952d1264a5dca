/* SPDX-License-Identifier: MIT
 *
 * cli_recover.h: recovery of one trace and of the CSV that it was to become; used by `recover` and
 * `record`.
 */
#ifndef PROBITY_CLI_CLI_RECOVER_H
#define PROBITY_CLI_CLI_RECOVER_H

#include "cli/cli.h"
#include "writer/recover.h"

/* Folds the spool of a dead program into its trace; where the trace asks for a CSV, makes it and
 * removes the trace. Says on stderr what went wrong. Returns CLI_OK, CLI_FAILURE, or CLI_DAMAGED
 * where the result is not complete. */
int cli_recover_trace(const struct cli_command *command, const char *trace,
                      struct probity_recover_result *ret_result);

#endif
