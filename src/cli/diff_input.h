/* SPDX-License-Identifier: MIT
 *
 * diff_input.h: reads runs for a comparison.
 */
#ifndef PROBITY_CLI_DIFF_INPUT_H
#define PROBITY_CLI_DIFF_INPUT_H

#include "answers/diff/compare.h"
#include "cli/filter.h"
#include "cli/fleet_options.h"
#include "cli/time_range.h"
#include "cli/project.h"

/* Default options of a comparison. */
#define CLI_DIFF_INPUT_OPTIONS {.confidence = 0.95, .tolerance_percent = 2}

struct cli_diff_input {
    const struct cli_command *command;
    struct cli_range range; /* applies to each run */
    struct probity_compare *compare;
    int side;              /* the side of the runs being read */
    int is_bare;           /* 1: the output cannot show that a run is incomplete */
    int is_damaged;        /* some run is incomplete */
    const char *project;   /* project with the history of labels; NULL: see cli_project_find() */
    struct probity_store *store; /* of the history; NULL until a label is used */
    struct cli_fleet_source source; /* if it has a URL, labels refer to its runs */
};

/* Reads a trace, or all runs with a label (cli_is_label()), and adds them. Fails if a side gets the
 * same run twice. Returns CLI_OK, or another status after reporting why. */
int cli_diff_input_read(struct cli_diff_input *compared, char *name);

/* May also be called if nothing was opened. */
void cli_diff_input_close(struct cli_diff_input *compared);

#endif
