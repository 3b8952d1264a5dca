/* SPDX-License-Identifier: MIT
 *
 * compared.h: runs for a comparison.
 */
#ifndef PROBITY_CLI_COMPARED_H
#define PROBITY_CLI_COMPARED_H

#include "analysis/compare.h"
#include "cli/filter.h"

/* How runs are compared where nothing else is asked for. */
#define CLI_COMPARED_OPTIONS {.confidence = 0.95, .tolerance_percent = 2}

struct cli_compared {
    const struct cli_command *command;
    struct cli_range range; /* of each run */
    struct probity_compare *compare;
    int side;              /* of the runs that are read */
    int is_damaged;        /* a run is not complete */
};

/* Adds a run, unless it is there already. The run is empty afterwards. Returns CLI_OK, or another
 * status and says why. */
int cli_compared_take(struct cli_compared *compared, struct probity_compare_run *run);

/* Reads a trace and adds it. Returns likewise. */
int cli_compared_read(struct cli_compared *compared, char *path);

#endif
