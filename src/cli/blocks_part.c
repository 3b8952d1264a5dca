/* SPDX-License-Identifier: MIT
 *
 * blocks_part.c: each part has its own copy of the chosen probes, and marks those that it has seen.
 */
#include "cli/blocks_part.h"

#include <stdlib.h>

#include "probity.h"

int cli_blocks_part_make(const struct probity_blocks_options *options,
                         const struct cli_probe_range *chosen, struct cli_blocks_part **ret_part)
{
    struct probity_blocks_options taken = *options;
    struct cli_blocks_part *part = calloc(1, sizeof *part);

    if (part == NULL)
        return PROBITY_ERROR_MEMORY;
    taken.role = cli_probe_range_role;
    taken.context = &part->chosen;
    int error = cli_probe_range_copy(chosen, &part->chosen);
    if (error == 0)
        error = probity_blocks_open(&taken, &part->blocks);
    if (error == 0)
        *ret_part = part;
    else
        cli_blocks_part_drop(part);
    return error;
}

int cli_blocks_part_put(struct cli_blocks_part *part, const struct probity_event *event)
{
    return cli_probe_range_passes(&part->chosen, event) ? probity_blocks_put(part->blocks, event)
                                                        : 0;
}

int cli_blocks_part_join(struct probity_blocks *blocks, struct cli_probe_range *chosen,
                         const struct cli_blocks_part *part)
{
    cli_probe_range_join(chosen, &part->chosen);
    return probity_blocks_join(blocks, part->blocks);
}

void cli_blocks_part_drop(struct cli_blocks_part *part)
{
    if (part->blocks != NULL)
        probity_blocks_close(part->blocks);
    cli_probe_range_release(&part->chosen);
    free(part);
}
