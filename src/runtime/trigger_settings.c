/* SPDX-License-Identifier: MIT
 *
 * trigger_settings.c: checks conditions and the settings of dumps. Called with the session's lock
 * held.
 */
#include "runtime/trigger.h"

/* Checks all conditions, and stores the longest time that any of them may look back. */
static int check_conditions(struct probity_settings *settings, uint64_t *ret_longest_ns)
{
    struct probity_condition condition;
    struct probity_condition_error error;
    const char *at = settings->when;
    int count = 0;

    for (; *at != 0; at += *at == ';') {
        if (count++ == PROBITY_CONDITIONS_MAX ||
            !probity_condition_parse(at, &at, &condition, &error))
            return 0;
        if (condition.limit_ns > *ret_longest_ns)
            *ret_longest_ns = condition.limit_ns;
        settings->has_watched |= probity_condition_is_read(&condition);
        settings->has_gap_conditions |= condition.kind == PROBITY_CONDITION_BLOCK ||
                                        condition.kind == PROBITY_CONDITION_WAIT;
    }
    return 1;
}

const char *probity_trigger_read_settings(const char *dumps, struct probity_settings *settings,
                                          uint64_t *ret_ring_ns)
{
    struct probity_condition_error error;
    uint64_t longest_ns = 0;

    probity_dumps_settings_init(&settings->dumps);
    if (dumps != NULL && !probity_dumps_settings_parse(dumps, &settings->dumps, &error))
        return "PROBITY_DUMPS";
    if (settings->dump[0] != 0 && !probity_dumps_pattern_check(settings->dump, &error))
        return "PROBITY_DUMP";
    if (!check_conditions(settings, &longest_ns))
        return "PROBITY_WHEN";
    *ret_ring_ns = settings->dumps.before_ns + settings->dumps.after_ns + longest_ns +
                   (settings->has_watched ? 2000000000 : 1000000000);
    return NULL;
}
