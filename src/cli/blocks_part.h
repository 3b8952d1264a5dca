/* SPDX-License-Identifier: MIT
 *
 * blocks_part.h: collects the blocks of the threads in one lane (query_lanes.h), for commands that
 * show blocks.
 */
#ifndef PROBITY_CLI_BLOCKS_PART_H
#define PROBITY_CLI_BLOCKS_PART_H

#include "cli/probe_range.h"

struct cli_blocks_part {
    struct probity_blocks *blocks;
    struct cli_probe_range chosen; /* records which probes this lane has seen */
};

/* Return 0 or an error. */
int cli_blocks_part_make(const struct probity_blocks_options *options,
                         const struct cli_probe_range *chosen, struct cli_blocks_part **ret_part);
int cli_blocks_part_put(struct cli_blocks_part *part, const struct probity_event *event);
int cli_blocks_part_join(struct probity_blocks *blocks, struct cli_probe_range *chosen,
                         const struct cli_blocks_part *part);

/* Call after the blocks were printed. */
void cli_blocks_part_drop(struct cli_blocks_part *part);

#endif
