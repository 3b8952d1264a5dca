/* SPDX-License-Identifier: MIT
 *
 * chosen.h: between which probes blocks lie, as options say: --from, --to and --probe.
 */
#ifndef PROBITY_CLI_CHOSEN_H
#define PROBITY_CLI_CHOSEN_H

#include "analysis/blocks.h"
#include "cli/filter.h"

/* Empty lists: any probe. */
struct cli_chosen {
    struct cli_filter from, to; /* begin and end blocks */
    struct cli_filter probes;   /* hits of others are as if they were not there */
};

/* Rows of a table of long options. */
#define CLI_CHOSEN_OPTIONS                                                                         \
    {"from", required_argument, NULL, 'A'}, {"to", required_argument, NULL, 'B'},                  \
    {"probe", required_argument, NULL, 'p'}

/* Returns CLI_OK, CLI_USAGE, or -2 where it is not one of these. */
int cli_chosen_option(const struct cli_command *command, struct cli_chosen *chosen, int option,
                      const char *value);

/* Whether blocks are to know of the event. */
int cli_chosen_passes(struct cli_chosen *chosen, const struct probity_event *event);

/* As struct probity_blocks_options has it; the context is the struct cli_chosen. */
unsigned cli_chosen_role(void *context, const struct probity_event *event);

/* One line for a probe that was asked for and never hit. Returns whether there was any. */
int cli_chosen_tell_unseen(const struct cli_command *command, const struct cli_chosen *chosen);

void cli_chosen_release(struct cli_chosen *chosen);

#endif
