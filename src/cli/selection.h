/* SPDX-License-Identifier: MIT
 *
 * selection.h: options of `record` that select functions without macros, as the rules that
 * probity-functions(7) describes.
 */
#ifndef PROBITY_CLI_SELECTION_H
#define PROBITY_CLI_SELECTION_H

#include "cli/cli.h"
#include "cli/patterns.h"

struct cli_selection {
    struct cli_patterns files, functions, excluded, objects;
    size_t min_bytes; /* 0: any */
};

/* All rules as one text for PROBITY_SELECT, malloc'ed; NULL if there are none. Returns CLI_OK, or
 * an exit status after reporting an invalid rule or a file that cannot be read. */
int cli_selection_text(const struct cli_command *command, const struct cli_selection *selection,
                       char **ret_text);

void cli_selection_release(struct cli_selection *selection);

#endif
