/* SPDX-License-Identifier: MIT
 *
 * chosen.c: lists of probes, asked for the role of each.
 */
#include "cli/chosen.h"

int cli_chosen_option(const struct cli_command *command, struct cli_chosen *chosen, int option,
                      const char *value)
{
    switch (option) {
    case 'A': return cli_filter_parse(command, &chosen->from, value, 1);
    case 'B': return cli_filter_parse(command, &chosen->to, value, 1);
    case 'p': return cli_filter_parse(command, &chosen->probes, value, 1);
    default: return -2;
    }
}

static int passes(struct cli_filter *filter, const struct probity_event *event)
{
    return cli_filter_passes(filter, event->is_site ? UINT64_MAX : event->id, event->name,
                             event->name_bytes);
}

int cli_chosen_passes(struct cli_chosen *chosen, const struct probity_event *event)
{
    return event->kind != PROBITY_EVENT_HIT || chosen->probes.count == 0 ||
           passes(&chosen->probes, event);
}

unsigned cli_chosen_role(void *context, const struct probity_event *event)
{
    struct cli_chosen *chosen = context;
    unsigned role = passes(&chosen->from, event) ? PROBITY_BLOCKS_BEGINS : 0;

    return role | (passes(&chosen->to, event) ? PROBITY_BLOCKS_ENDS : 0);
}

int cli_chosen_tell_unseen(const struct cli_command *command, const struct cli_chosen *chosen)
{
    return cli_filter_tell_unseen(command, &chosen->from, "probe") ||
           cli_filter_tell_unseen(command, &chosen->to, "probe") ||
           cli_filter_tell_unseen(command, &chosen->probes, "probe");
}

void cli_chosen_release(struct cli_chosen *chosen)
{
    cli_filter_release(&chosen->from);
    cli_filter_release(&chosen->to);
    cli_filter_release(&chosen->probes);
}
