/* SPDX-License-Identifier: MIT
 *
 * align.c: requests that readers align the clocks of several hosts, and reports the result.
 */
#include "cli/align.h"

#include <inttypes.h>

#include "answers/report/hosts_print.h"
#include "print/time_text.h"
#include "reader/hosts.h"

/* As requested for this process. */
static int is_off;

int cli_take_no_align(const struct cli_given *given)
{
    (void)given;
    is_off = 1;
    return CLI_OK;
}

int cli_align_is_off(void)
{
    return is_off;
}

void cli_align_use(struct probity_reader_options *options)
{
    options->align = is_off ? NULL : &probity_align_steps;
}

void cli_align_report(const struct cli_command *command, const struct probity_reader *reader)
{
    const struct probity_hosts *hosts = probity_reader_hosts(reader);
    char text[PROBITY_HOSTS_TEXT_BYTES];

    if (hosts == NULL)
        return;
    if (hosts->count > PROBITY_HOSTS_MAX)
        cli_warn(command, "clocks not aligned: the traces are of %zu hosts, more than %d",
                 hosts->count, PROBITY_HOSTS_MAX);
    for (uint32_t i = 0; !command->shows_hosts && i < hosts->count; i++) {
        if (hosts->hosts[i].reference != i)
            cli_warn(command, "%s", probity_hosts_text(hosts, i, text));
    }
    for (size_t i = 0; !command->shows_hosts && i < hosts->pair_count; i++) {
        if (hosts->pairs[i].state == PROBITY_PAIR_CONTRADICTORY)
            cli_warn(command, "%s", probity_hosts_pair_text(hosts, &hosts->pairs[i], text));
    }
    if (hosts->left_out > 0)
        cli_warn(command, "%" PRIu64 " hits with ids not used to align clocks: too many",
                 hosts->left_out);
}
