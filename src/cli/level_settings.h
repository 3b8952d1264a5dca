/* SPDX-License-Identifier: MIT
 *
 * level_settings.h: checks the settings that `probity level --set` takes.
 */
#ifndef PROBITY_CLI_LEVEL_SETTINGS_H
#define PROBITY_CLI_LEVEL_SETTINGS_H

#include "cli/cli.h"

/* Checks the name and the value of a setting NAME=VALUE. Accepts settings that cannot be changed,
 * since the program's reply has the reason. Returns CLI_OK, or a status after reporting the
 * error. */
int cli_level_settings_check(const struct cli_command *command, const char *setting);

#endif
