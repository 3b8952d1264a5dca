/* SPDX-License-Identifier: MIT
 *
 * cli_recover.h: recovers a trace, or the CSV requested instead of it, for `recover` and `record`.
 */
#ifndef PROBITY_CLI_CLI_RECOVER_H
#define PROBITY_CLI_CLI_RECOVER_H

#include "cli/cli.h"
#include "writer/recover.h"

/* Moves the records left in a dead program's spool to its trace. If the trace requests a CSV,
 * writes that next to the trace, under the trace's name without ".probity", and removes the trace.
 * is_trusted: do so even for another user's trace, or a copy. Reports errors on stderr. Returns
 * CLI_OK, CLI_FAILURE, or CLI_DAMAGED if the result is incomplete. */
int cli_recover_trace(const struct cli_command *command, const char *trace, int is_trusted,
                      struct probity_recover_result *ret_result);

/* Same as above, but only for this file: see probity_recover_only(). */
int cli_recover_only(const struct cli_command *command, const char *trace,
                     const struct probity_recover_file *only, int is_trusted,
                     struct probity_recover_result *ret_result);

/* Finishes after probity_recover_only() has returned `error`: reports it, or writes the CSV. */
int cli_recover_finish(const struct cli_command *command, const char *trace, int error,
                       const struct probity_recover_result *result);

#endif
