/* SPDX-License-Identifier: MIT
 *
 * cli_drain.h: drains programs without a writing thread; for `drain` and `record`.
 */
#ifndef PROBITY_CLI_CLI_DRAIN_H
#define PROBITY_CLI_CLI_DRAIN_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/cli.h"

struct cli_drain {
    pid_t pid; /* process that searches for traces; 0: none */
    int hold;  /* closed when no more traces will appear */
};

/* Starts a process that drains traces with names of this pattern that began since start_ns. Returns
 * CLI_OK, or CLI_FAILURE and reports why. */
int cli_drain_begin(const struct cli_command *command, const char *pattern, uint64_t start_ns,
                    struct cli_drain *ret_drain);

/* Waits until all of these programs have ended and their traces are complete. */
void cli_drain_end(struct cli_drain *drain);

#endif
