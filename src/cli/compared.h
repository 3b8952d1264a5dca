/* SPDX-License-Identifier: MIT
 *
 * compared.h: runs for a comparison.
 */
#ifndef PROBITY_CLI_COMPARED_H
#define PROBITY_CLI_COMPARED_H

#include "analysis/compare.h"
#include "cli/filter.h"
#include "cli/project.h"

/* How runs are compared where nothing else is asked for. */
#define CLI_COMPARED_OPTIONS {.confidence = 0.95, .tolerance_percent = 2}

struct cli_compared {
    const struct cli_command *command;
    struct cli_range range; /* of each run */
    struct probity_compare *compare;
    int side;              /* of the runs that are read */
    int is_damaged;        /* a run is not complete */
    const char *project;   /* whose history labels are of; NULL: see cli_project_find() */
    struct probity_store *store; /* of the history; NULL until a label is met */
};

/* Reads a trace, or the runs of a label (cli_is_label()), and adds what is read. One run twice on a
 * side is wrong. Returns CLI_OK, or another status and says why. */
int cli_compared_read(struct cli_compared *compared, char *name);

/* Of one that was never opened too. */
void cli_compared_close(struct cli_compared *compared);

#endif
