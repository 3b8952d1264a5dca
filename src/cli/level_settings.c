/* SPDX-License-Identifier: MIT
 *
 * level_settings.c: checks the settings of `probity level --set` before they are sent to the
 * program. The program checks them, too, but its reply has no room for an explanation.
 */
#include "cli/level_settings.h"

#include <string.h>

#include "base/share.h"
#include "base/window.h"
#include "cli/triggers.h"

static int check_ring(const struct cli_command *command, const char *name, const char *value)
{
    uint64_t ns, bytes;

    (void)name;
    if (probity_window_ring(value, &ns, &bytes) && bytes == 0)
        return CLI_OK;
    return cli_fail_usage(command, "invalid ring '%s' (a window of 1ms to 24 hours; its size is "
                          "fixed when recording begins)", value);
}

static int check_budget(const struct cli_command *command, const char *name, const char *value)
{
    uint32_t share;

    (void)name;
    return probity_share_parse(value, &share)
               ? CLI_OK
               : cli_fail_usage(command, "invalid budget '%s' (a percentage above 0, such as 1%%)",
                                value);
}

static int check_pattern(const struct cli_command *command, const char *name, const char *value)
{
    enum { PATTERN_MAX = 255 };
    size_t bytes = strlen(value);

    return bytes > 0 && bytes <= PATTERN_MAX
               ? CLI_OK
               : cli_fail_usage(command, "invalid %s '%s' (a pattern of 1 to %d bytes)", name,
                                value, PATTERN_MAX);
}

static int check_mode(const struct cli_command *command, const char *name, const char *value)
{
    (void)name;
    for (const char *const *word = (const char *const[]){"block", "drop", "ring", NULL};
         *word != NULL; word++) {
        if (strcmp(value, *word) == 0)
            return CLI_OK;
    }
    if (strcmp(value, "profile") == 0)
        return cli_fail_usage(command, "a recording cannot become a profile: calls that have begun "
                              "were recorded; use --off '*' to only count calls, or `probity "
                              "detach` and `probity attach`");
    return cli_fail_usage(command, "invalid mode '%s' (block or drop)", value);
}

/* The program's reply has the reason why the setting cannot be changed. */
static int check_fixed(const struct cli_command *command, const char *name, const char *value)
{
    (void)command;
    (void)name;
    (void)value;
    return CLI_OK;
}

static int check_levels(const struct cli_command *command, const char *name, const char *value)
{
    (void)value;
    return cli_fail_usage(command, "'%s' is not a setting: give levels after the process, as in "
                          "`probity level PID 3 1`", name);
}

static const struct {
    const char *name;
    int (*check)(const struct cli_command *command, const char *name, const char *value);
} settings[] = {
    {"after", cli_triggers_check_dumps}, {"args", check_fixed},
    {"at-most", cli_triggers_check_dumps}, {"before", cli_triggers_check_dumps},
    {"budget", check_budget}, {"calls", check_fixed}, {"functions", check_fixed},
    {"keep", cli_triggers_check_dumps}, {"level", check_levels}, {"levels", check_levels},
    {"limit", cli_triggers_check_dumps}, {"mode", check_mode}, {"off", check_pattern},
    {"on", check_pattern}, {"parameters", check_levels}, {"ring", check_ring},
    {"when", cli_triggers_check_condition},
};

int cli_level_settings_check(const struct cli_command *command, const char *setting)
{
    const char *equals = strchr(setting, '=');
    size_t length = equals != NULL ? (size_t)(equals - setting) : 0;

    if (length == 0 || strchr(setting, '\n') != NULL)
        return cli_fail_usage(command, "invalid --set '%s' (NAME=VALUE)", setting);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *name = settings[i].name;
        if (strlen(name) == length && memcmp(name, setting, length) == 0)
            return settings[i].check(command, name, equals + 1);
    }
    return cli_fail_usage(command, "invalid setting '%.*s' (after, at-most, before, budget, keep, "
                          "limit, mode, off, on, ring or when)", (int)length, setting);
}
