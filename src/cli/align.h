/* SPDX-License-Identifier: MIT
 *
 * align.h: aligns the clocks of several hosts (doc/hosts.md), unless --no-align is given, and
 * reports the result.
 */
#ifndef PROBITY_CLI_ALIGN_H
#define PROBITY_CLI_ALIGN_H

#include "cli/cli.h"
#include "cli/option.h"

#define CLI_ALIGN_ROW                                                                              \
    {.name = "no-align", .help = "use each host's clock as it is", .take = cli_take_no_align}

int cli_take_no_align(const struct cli_given *given);

/* Whether --no-align was given: 1 or 0. */
int cli_align_is_off(void);

/* Requests alignment, unless --no-align was given. */
void cli_align_use(struct probity_reader_options *options);

/* Warns about clocks that were shifted and bounds that could not be used. `info` prints these
 * itself: for it, reports only how many hits were left out. */
void cli_align_report(const struct cli_command *command, const struct probity_reader *reader);

#endif
