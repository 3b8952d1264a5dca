/* SPDX-License-Identifier: MIT
 *
 * cli_spools.h: finds the spools of the user, or of all users, for the commands that list them.
 */
#ifndef PROBITY_CLI_CLI_SPOOLS_H
#define PROBITY_CLI_CLI_SPOOLS_H

#include "cli/cli.h"
#include "reader/spools.h"

/* Rejects --all with PROBITY_SPOOL_DIR, which names one directory. what: "--all searches". Returns
 * CLI_OK or CLI_USAGE. */
int cli_spools_check(const struct cli_command *command, int is_all, const char *what);

/* Lists the spools, oldest first; with is_all, also readable ones of other users, with a warning
 * about directories that are unreadable. ret_spools must be all zeros; release it in any case.
 * Returns CLI_OK; CLI_DAMAGED if a directory was skipped because it does not belong to the user in
 * its name; or CLI_FAILURE. */
int cli_spools_collect(const struct cli_command *command, int is_all,
                       struct probity_spools *ret_spools);

#endif
