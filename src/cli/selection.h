/* SPDX-License-Identifier: MIT
 *
 * selection.h: the options of `record` that select functions without macros, by the rules described
 * in probity-functions(7).
 */
#ifndef PROBITY_CLI_SELECTION_H
#define PROBITY_CLI_SELECTION_H

#include "cli/cli.h"
#include "cli/patterns.h"

struct cli_selection {
    struct cli_patterns files, functions, excluded, sources, objects;
    size_t min_bytes; /* 0: any size */
};

/* Sets all rules as one text for PROBITY_SELECT, malloc'ed, or NULL without rules. Returns CLI_OK,
 * or an exit status after reporting an invalid rule or a file that cannot be read. */
int cli_selection_text(const struct cli_command *command, const struct cli_selection *selection,
                       char **ret_text);

void cli_selection_release(struct cli_selection *selection);

#endif
