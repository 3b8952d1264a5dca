/* SPDX-License-Identifier: MIT
 *
 * limit.h: options that limit changes: [function:PATTERN:|block:PATTERN:]STATISTIC>PERCENT.
 */
#ifndef PROBITY_CLI_LIMIT_H
#define PROBITY_CLI_LIMIT_H

#include "answers/diff/compare.h"
#include "cli/cli.h"

struct cli_limits {
    struct probity_compare_limit items[PROBITY_COMPARE_LIMITS_MAX];
    char *patterns[PROBITY_COMPARE_LIMITS_MAX]; /* malloc'ed, or NULL */
    size_t count;
};

/* Adds a limit. The text must stay valid. Returns CLI_OK or CLI_USAGE. */
int cli_limit_parse(const struct cli_command *command, struct cli_limits *limits, const char *text);

/* Parses a decimal number with an optional sign and percent sign. Returns 0 or -1. */
int cli_parse_percent(const char *text, double *ret_percent);

void cli_limits_release(struct cli_limits *limits);

#endif
