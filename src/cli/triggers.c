/* SPDX-License-Identifier: MIT
 *
 * triggers.c: checks conditions and limits of dumps before the program runs or a request is sent to
 * it, because the library can only reject the request.
 */
#include "cli/triggers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conditions.h"
#include "base/window.h"

int cli_triggers_is_pattern(const char *out)
{
    const char *at = out != NULL ? strchr(out, '%') : NULL;

    while (at != NULL && at[1] != 0 && at[1] != 'i')
        at = strchr(at + 2, '%');
    return at != NULL && at[1] == 'i';
}

static int fail_at(const struct cli_command *command, const char *option, const char *text,
                   size_t column, const char *allowed)
{
    return cli_fail_usage(command, "invalid %s '%s', column %zu: expected %s", option, text, column,
                          allowed);
}

int cli_triggers_check_condition(const struct cli_command *command, const char *option,
                                 const char *text)
{
    struct probity_condition condition;
    struct probity_condition_error error;
    const char *end;

    if (!probity_condition_parse(text, &end, &condition, &error))
        return fail_at(command, option, text, error.column, error.allowed);
    if (*end != 0)
        return fail_at(command, option, text, (size_t)(end - text) + 1,
                       "the end; repeat the option for another condition");
    return CLI_OK;
}

static int check_when(const struct cli_command *command, const struct cli_patterns *when)
{
    size_t bytes = 0;

    for (size_t i = 0; i < when->count; i++) {
        int status = cli_triggers_check_condition(command, "--when", when->items[i]);
        if (status != CLI_OK)
            return status;
        bytes += strlen(when->items[i]) + 1;
    }
    if (when->count > PROBITY_CONDITIONS_MAX || bytes > PROBITY_CONDITIONS_BYTES)
        return cli_fail_usage(command, "too many conditions: at most %d with --when, and %d bytes",
                              PROBITY_CONDITIONS_MAX, PROBITY_CONDITIONS_BYTES);
    return CLI_OK;
}

/* Joins all conditions with semicolons. */
static int join_when(const struct cli_command *command, struct cli_triggers *triggers)
{
    char *text = calloc(1, PROBITY_CONDITIONS_BYTES + 1);

    if (text == NULL)
        return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    for (size_t i = 0; i < triggers->when.count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, PROBITY_CONDITIONS_BYTES + 1 - used, "%s%s", i > 0 ? ";" : "",
                 triggers->when.items[i]);
    }
    triggers->conditions = text;
    return CLI_OK;
}

/* The column is relative to the value. */
static int check_dumps(const struct cli_command *command, const char *option, const char *name,
                       const char *value)
{
    struct probity_dumps_settings settings;
    struct probity_condition_error error;
    char text[256];

    probity_dumps_settings_init(&settings);
    if (strlen(value) > 64 || strchr(value, ',') != NULL)
        return fail_at(command, option, value, 1, "a shorter value without commas");
    snprintf(text, sizeof text, "%s=%s", name, value);
    if (probity_dumps_settings_parse(text, &settings, &error))
        return CLI_OK;
    size_t before = strlen(name) + 1;
    return fail_at(command, option, value, error.column > before ? error.column - before : 1,
                   error.allowed);
}

int cli_triggers_check_dumps(const struct cli_command *command, const char *name,
                             const char *value)
{
    return check_dumps(command, name, name, value);
}

/* Checks one setting and adds it. */
static int add_setting(const struct cli_command *command, struct cli_triggers *triggers,
                       const char *option, const char *name, const char *value)
{
    enum { ROOM = 512 };

    if (value == NULL)
        return CLI_OK;
    int status = check_dumps(command, option, name, value);
    if (status != CLI_OK)
        return status;
    if (triggers->settings == NULL)
        triggers->settings = calloc(1, ROOM);
    if (triggers->settings == NULL)
        return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    size_t used = strlen(triggers->settings);
    snprintf(triggers->settings + used, ROOM - used, "%s%s=%s", used > 0 ? "," : "", name, value);
    return CLI_OK;
}

static int check_settings(const struct cli_command *command, struct cli_triggers *triggers)
{
    int status = add_setting(command, triggers, "--before", "before", triggers->before);

    if (status == CLI_OK)
        status = add_setting(command, triggers, "--after", "after", triggers->after);
    if (status == CLI_OK)
        status = add_setting(command, triggers, "--at-most", "at-most", triggers->at_most);
    if (status == CLI_OK)
        status = add_setting(command, triggers, "--keep", "keep", triggers->keep);
    if (status == CLI_OK)
        status = add_setting(command, triggers, "--dump-limit", "limit", triggers->limit);
    return status;
}

int cli_triggers_check(const struct cli_command *command, struct cli_triggers *triggers,
                       const char *mode, const char *writer)
{
    int is_ring = triggers->ring != NULL || triggers->when.count > 0;
    struct probity_condition_error error;
    uint64_t ns, bytes;

    if (triggers->ring != NULL && !probity_window_ring(triggers->ring, &ns, &bytes))
        return cli_fail_usage(command, "invalid --ring '%s' (a window of 1ms to 24 hours, a size "
                              "of 1M to 1G, or both: 30s,256M)", triggers->ring);
    int status = check_when(command, &triggers->when);
    if (status == CLI_OK)
        status = check_settings(command, triggers);
    if (status != CLI_OK)
        return status;
    if (is_ring && mode != NULL && strcmp(mode, "ring") != 0)
        return cli_fail_usage(command, "--mode %s and --ring or --when are mutually exclusive",
                              mode);
    if (triggers->when.count > 0 && writer != NULL && strcmp(writer, "external") == 0)
        return cli_fail_usage(command, "--when and --writer external are mutually exclusive");
    if (!is_ring && (triggers->settings != NULL || triggers->names != NULL))
        return cli_fail_usage(command, "%s requires --ring or --when",
                              triggers->names != NULL ? "%i in -o"
                                                      : "a window or a limit of dumps");
    if (triggers->names != NULL && !probity_dumps_pattern_check(triggers->names, &error))
        return fail_at(command, "-o", triggers->names, error.column, error.allowed);
    return triggers->when.count > 0 ? join_when(command, triggers) : CLI_OK;
}

void cli_triggers_put(const struct cli_triggers *triggers, const char *dumps,
                      struct cli_variable *variables, size_t *count)
{
    const struct cli_variable all[CLI_TRIGGER_VARIABLES] = {
        {"PROBITY_RING", triggers->ring}, {"PROBITY_WHEN", triggers->conditions},
        {"PROBITY_DUMPS", triggers->settings}, {"PROBITY_DUMP", dumps}};

    for (size_t i = 0; i < CLI_TRIGGER_VARIABLES; i++) {
        if (all[i].value != NULL)
            variables[(*count)++] = all[i];
    }
}

void cli_triggers_release(struct cli_triggers *triggers)
{
    cli_patterns_release(&triggers->when);
    free(triggers->conditions);
    free(triggers->settings);
}
