/* SPDX-License-Identifier: MIT
 *
 * cli_drain.h: drains programs that have no writer thread, for `drain` and `record`.
 */
#ifndef PROBITY_CLI_CLI_DRAIN_H
#define PROBITY_CLI_CLI_DRAIN_H

#include <stdint.h>
#include "cli/cli.h"

struct cli_drain;

/* Begins to drain traces that match the pattern and began after start_ns. The pattern must stay
 * valid until the end. Returns CLI_OK, or CLI_FAILURE after reporting why. */
int cli_drain_begin(const struct cli_command *command, const char *pattern, uint64_t start_ns,
                    struct cli_drain **ret_drain);

/* Waits until all these programs have ended and their traces are complete. NULL: does nothing. */
void cli_drain_end(struct cli_drain *drain);

#endif
