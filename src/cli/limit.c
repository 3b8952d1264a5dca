/* SPDX-License-Identifier: MIT
 *
 * limit.c: parses a limit from its end, because names may contain the separators.
 */
#include "cli/limit.h"

#include <stdlib.h>
#include <string.h>

int cli_parse_percent(const char *text, double *ret_percent)
{
    size_t sign = *text == '+' || *text == '-';
    size_t length = sign + strspn(text + sign, "0123456789.");
    char *end = NULL;

    if (length == sign || strcmp(text + length + (text[length] == '%'), "") != 0)
        return -1;
    *ret_percent = strtod(text, &end);
    return end == text + length && *ret_percent > -100 && *ret_percent < 1e6 ? 0 : -1;
}

/* Returns the last < or >, or NULL. */
static const char *find_bound(const char *text)
{
    const char *below = strrchr(text, '<'), *above = strrchr(text, '>');

    return below == NULL || (above != NULL && above > below) ? above : below;
}

static int parse_statistic(const char *text, size_t length, struct probity_compare_limit *limit)
{
    char name[16] = "";

    memcpy(name, text, length < sizeof name ? length : 0);
    limit->statistic = probity_compare_statistic_parse(name);
    return limit->statistic != PROBITY_COMPARE_STATISTICS;
}

/* Parses "function:PATTERN", "block:PATTERN" or "request:PATTERN". */
static int parse_scope(const char *text, size_t length, struct probity_compare_limit *limit,
                       char **ret_pattern)
{
    for (int kind = 0; kind < PROBITY_COMPARE_KINDS; kind++) {
        const char *name = probity_compare_kind_name((enum probity_compare_kind)kind);
        size_t used = strlen(name);
        if (length <= used + 1 || strncmp(text, name, used) != 0 || text[used] != ':')
            continue;
        limit->is_of_kind = 1;
        limit->kind = (enum probity_compare_kind)kind;
        *ret_pattern = strndup(text + used + 1, length - used - 1);
        limit->pattern = *ret_pattern;
        return *ret_pattern != NULL;
    }
    return 0;
}

static int parse_limit(const char *text, struct probity_compare_limit *limit, char **ret_pattern)
{
    const char *bound = find_bound(text);

    if (bound == NULL || cli_parse_percent(bound + 1, &limit->percent) != 0)
        return 0;
    limit->is_below = *bound == '<';
    const char *colon = memrchr(text, ':', (size_t)(bound - text));
    if (!parse_statistic(colon != NULL ? colon + 1 : text,
                         (size_t)(bound - (colon != NULL ? colon + 1 : text)), limit))
        return 0;
    return colon == NULL || parse_scope(text, (size_t)(colon - text), limit, ret_pattern);
}

int cli_limit_parse(const struct cli_command *command, struct cli_limits *limits, const char *text)
{
    struct probity_compare_limit limit = {.text = text};

    if (limits->count == PROBITY_COMPARE_LIMITS_MAX)
        return cli_fail_usage(command, "too many --fail-on options (at most %d)",
                              PROBITY_COMPARE_LIMITS_MAX);
    if (!parse_limit(text, &limit, &limits->patterns[limits->count]))
        return cli_fail_usage(command, "invalid --fail-on '%s' (expected calls, self, total, cpu, "
                              "mean, median or p99, then > or <, then percent, as 'p99>+5%%'; "
                              "optionally after function:PATTERN:, block:PATTERN: or "
                              "request:PATTERN:)", text);
    if (limit.is_of_kind && !probity_compare_exists(limit.kind, limit.statistic)) {
        free(limits->patterns[limits->count]);
        return cli_fail_usage(command, "--fail-on %s: %ss have no %s time; use total", text,
                              probity_compare_kind_name(limit.kind),
                              probity_compare_statistic_name(limit.statistic));
    }
    limits->items[limits->count++] = limit;
    return CLI_OK;
}

void cli_limits_release(struct cli_limits *limits)
{
    for (size_t i = 0; i < limits->count; i++)
        free(limits->patterns[i]);
    limits->count = 0;
}
