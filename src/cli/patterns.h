/* SPDX-License-Identifier: MIT
 *
 * patterns.h: the values of a repeated option such as --function. Patterns may contain commas, as
 * names of templates do, so each pattern is a separate option.
 */
#ifndef PROBITY_CLI_PATTERNS_H
#define PROBITY_CLI_PATTERNS_H

#include "cli/cli.h"

struct cli_patterns {
    const char **items; /* `count` patterns, then NULL; or NULL */
    int *is_found;      /* for each pattern: whether it has matched */
    size_t count;
};

/* The text must stay valid. Returns CLI_OK, or CLI_FAILURE if out of memory. */
int cli_patterns_add(const struct cli_command *command, struct cli_patterns *patterns,
                     const char *text);

/* Whether a function matches any pattern (see cli_function_matches()); remembers which one. Returns
 * 1 if there are no patterns. */
int cli_patterns_match(struct cli_patterns *patterns, const char *name, const char *signature);

/* Returns the first pattern that has not matched, or NULL. */
const char *cli_patterns_idle(const struct cli_patterns *patterns);

void cli_patterns_release(struct cli_patterns *patterns);

#endif
