/* SPDX-License-Identifier: MIT
 *
 * fleet_story.h: `probity fleet --request ID`: prints the hits of one request in all runs, and the
 * calls between them.
 */
#ifndef PROBITY_CLI_FLEET_STORY_H
#define PROBITY_CLI_FLEET_STORY_H

#include "cli/fleet_options.h"

struct cli_fleet_story_options {
    const struct cli_command *command;
    const struct cli_fleet_source *source;
    const char *request; /* its correlation id, as given */
    const char *out;
    int force, as_json;
};

/* Reports errors. Returns an exit status. */
int cli_fleet_story(const struct cli_fleet_story_options *options);

#endif
