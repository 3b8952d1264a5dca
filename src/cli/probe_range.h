/* SPDX-License-Identifier: MIT
 *
 * probe_range.h: the probes that begin and end blocks: --start-probe, --end-probe and --probe.
 */
#ifndef PROBITY_CLI_PROBE_RANGE_H
#define PROBITY_CLI_PROBE_RANGE_H

#include "answers/blocks/blocks.h"
#include "cli/filter.h"

/* An empty list means any probe. */
struct cli_probe_range {
    struct cli_filter from, to; /* begin and end blocks */
    struct cli_filter probes;   /* other hits are ignored */
};

/* Rows of a table of options; MEMBER of CALL is a struct cli_probe_range. */
#define CLI_PROBE_RANGE_ROWS(CALL, MEMBER, FROM_HELP, TO_HELP)                                     \
    {.name = "start-probe", .older = "from", .value = "ID,...", .help = FROM_HELP,                 \
     .brief = "probes that start blocks", CLI_NAMES(CALL, MEMBER.from)},                           \
    {.name = "end-probe", .older = "to", .value = "ID,...", .help = TO_HELP,                       \
     .brief = "probes that end blocks", CLI_NAMES(CALL, MEMBER.to)},                               \
    {.name = "probe", .value = "ID,...", .help = "ignore hits of all other probes",                \
     .brief = "ignore all other probes", CLI_NAMES(CALL, MEMBER.probes)}

/* Whether a hit is relevant for blocks. */
int cli_probe_range_passes(struct cli_probe_range *chosen, const struct probity_event *event);

/* For struct probity_blocks_options; the context is the struct cli_probe_range. */
unsigned cli_probe_range_role(void *context, const struct probity_event *event);

/* Warns about requested probes that were never hit. Returns whether there were any. */
int cli_probe_range_warn_unseen(const struct cli_command *command,
                                const struct cli_probe_range *chosen);

/* Makes a copy for another thread, in which nothing is seen; adds to the original what the copy has
 * seen. Return 0 or PROBITY_ERROR_MEMORY. */
int cli_probe_range_copy(const struct cli_probe_range *chosen, struct cli_probe_range *ret_copy);
void cli_probe_range_join(struct cli_probe_range *chosen, const struct cli_probe_range *copy);

void cli_probe_range_release(struct cli_probe_range *chosen);

#endif
