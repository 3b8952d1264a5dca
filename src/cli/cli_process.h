/* SPDX-License-Identifier: MIT
 *
 * cli_process.h: for commands that take a process id: `attach`, `detach`, `level`, `drain` and
 * others.
 */
#ifndef PROBITY_CLI_CLI_PROCESS_H
#define PROBITY_CLI_CLI_PROCESS_H

#include "cli/cli.h"
#include "writer/request.h"

/* Whether an operand is a process id, that is, all digits. A trace with such a name is given as
 * ./NAME. */
int cli_process_is(const char *operand);

/* Opens the spool of a recording process by the process id that the user sees. Returns CLI_OK, or
 * CLI_FAILURE after reporting why. */
int cli_process_open(const struct cli_command *command, const char *operand,
                     struct probity_request **ret_request);

/* Whether there is a process with this id. */
int cli_process_exists(uint32_t pid);

/* Reports why probity_request_open_process() failed; call before errno changes. Returns
 * CLI_FAILURE. */
int cli_process_fail(const struct cli_command *command, uint32_t pid, const char *directory,
                     int error);

#endif
