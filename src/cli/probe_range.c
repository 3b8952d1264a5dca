/* SPDX-License-Identifier: MIT
 *
 * probe_range.c: tests hits against lists of probes.
 */
#include "cli/probe_range.h"

#include "probity.h"

static int passes(struct cli_filter *filter, const struct probity_event *event)
{
    return cli_filter_passes(filter, event->is_site ? UINT64_MAX : event->id, event->name,
                             event->name_bytes);
}

int cli_probe_range_passes(struct cli_probe_range *chosen, const struct probity_event *event)
{
    return event->kind != PROBITY_EVENT_HIT || chosen->probes.count == 0 ||
           passes(&chosen->probes, event);
}

unsigned cli_probe_range_role(void *context, const struct probity_event *event)
{
    struct cli_probe_range *chosen = context;
    unsigned role = passes(&chosen->from, event) ? PROBITY_BLOCKS_BEGINS : 0;

    return role | (passes(&chosen->to, event) ? PROBITY_BLOCKS_ENDS : 0);
}

int cli_probe_range_warn_unseen(const struct cli_command *command,
                                const struct cli_probe_range *chosen)
{
    return cli_filter_warn_unseen(command, &chosen->from, "probe") ||
           cli_filter_warn_unseen(command, &chosen->to, "probe") ||
           cli_filter_warn_unseen(command, &chosen->probes, "probe");
}

int cli_probe_range_copy(const struct cli_probe_range *chosen, struct cli_probe_range *ret_copy)
{
    struct cli_probe_range copy = {.from = {.count = 0}};

    if (cli_filter_copy(&chosen->from, &copy.from) == 0 &&
        cli_filter_copy(&chosen->to, &copy.to) == 0 &&
        cli_filter_copy(&chosen->probes, &copy.probes) == 0) {
        *ret_copy = copy;
        return 0;
    }
    cli_probe_range_release(&copy);
    return PROBITY_ERROR_MEMORY;
}

void cli_probe_range_join(struct cli_probe_range *chosen, const struct cli_probe_range *copy)
{
    cli_filter_see(&chosen->from, &copy->from);
    cli_filter_see(&chosen->to, &copy->to);
    cli_filter_see(&chosen->probes, &copy->probes);
}

void cli_probe_range_release(struct cli_probe_range *chosen)
{
    cli_filter_release(&chosen->from);
    cli_filter_release(&chosen->to);
    cli_filter_release(&chosen->probes);
}
