/* SPDX-License-Identifier: MIT
 *
 * change.c: changes settings that only the writer thread uses, or that other threads read as one
 * word: once stored, they apply to all threads. All are checked before any is applied. The text
 * comes from a tool of the same user and is checked like one from the environment.
 */
#include "runtime/settings.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hooked.h"
#include "base/share.h"
#include "base/ticks.h"
#include "base/window.h"
#include "format/stream.h"
#include "runtime/budget.h"
#include "runtime/declare.h"
#include "runtime/levels.h"
#include "runtime/session.h"
#include "runtime/switches.h"
#include "runtime/trigger.h"
#include "writer/watch.h"

/* ---- Conditions --------------------------------------------------------------------------------
 */

enum { ADDED_MAX = 32, ADDED_BYTES = 640 };
#define NONE_EARLIER UINT32_MAX

/* Texts of conditions that were added or changed in this recording. */
static char added[ADDED_MAX][ADDED_BYTES];
static uint32_t added_count;

static uint32_t count_now(void)
{
    return *probity_trigger_parts()->count;
}

static int is_same_name(const struct probity_condition_name *left,
                        const struct probity_condition_name *right)
{
    return left->is_number == right->is_number && left->number == right->number &&
           strcmp(left->name, right->name) == 0;
}

/* Returns the existing condition that differs only in its limit, or PROBITY_CONDITIONS_MAX. */
static uint32_t find_condition(const struct probity_condition *wanted)
{
    for (uint32_t i = 0; i < count_now(); i++) {
        const struct probity_condition *condition = &probity_trigger_parts()->conditions[i];
        if (condition->kind == wanted->kind && is_same_name(&condition->name, &wanted->name) &&
            is_same_name(&condition->to, &wanted->to) && condition->is_below == wanted->is_below &&
            condition->percentile == 0 && wanted->percentile == 0 && wanted->signal == 0 &&
            (condition->kind != PROBITY_CONDITION_RATE || condition->limit_ns == wanted->limit_ns))
            return i;
    }
    return PROBITY_CONDITIONS_MAX;
}

/* Returns whether the condition counts or compares the declared function or probe, and its site. */
static int is_declared_for(const struct probity_condition *condition, uint32_t kind,
                           const uint8_t *payload, size_t bytes, uint32_t *ret_site)
{
    char name[PROBITY_LIMIT_NAME + 1];
    size_t at = kind == PROBITY_EVENT_SITE ? 8 : 12;
    const struct probity_trigger_parts *parts = probity_trigger_parts();
    int is_function = kind == PROBITY_EVENT_FUNCTION;

    if ((!is_function && kind != PROBITY_EVENT_SITE) || bytes < at + 2 || condition->name.is_number)
        return 0;
    size_t length = probity_get_u16(payload + at);
    if (length >= sizeof name || length > bytes - at - 2)
        return 0;
    memcpy(name, payload + at + 2, length);
    name[length] = 0;
    *ret_site = probity_get_u32(payload);
    const struct probity_site_function function = {.name = name, .flags = payload[9]};
    int is_of_calls = condition->kind == PROBITY_CONDITION_FUNCTION;
    int is_of_both = condition->kind == PROBITY_CONDITION_GAP ||
                     condition->kind == PROBITY_CONDITION_RATE;
    return is_function ? (is_of_calls || is_of_both) &&
                             parts->is_function(condition->name.name, &function)
                       : !is_of_calls && parts->is_site(&condition->name, name);
}

/* Applies the condition to sites that were declared before it was added. */
static void match_declared(uint32_t kind, const uint8_t *payload, size_t bytes)
{
    const struct probity_trigger_parts *parts = probity_trigger_parts();
    uint32_t number = *parts->count - 1, site;

    if (!is_declared_for(&parts->conditions[number], kind, payload, bytes, &site))
        return;
    if (parts->conditions[number].kind != PROBITY_CONDITION_FUNCTION)
        probity_watch_site(*parts->watch, site, UINT64_C(1) << number);
    else if (site < PROBITY_LIMIT_SITES)
        __atomic_fetch_or(&probity_trigger_functions[site / 2], UINT64_C(1) << number,
                          __ATOMIC_RELAXED);
}

enum { CONDITIONS_AT_ONCE = 8, SWITCHES_AT_ONCE = 32 };

struct change {
    int has_ring, has_dumps;
    uint64_t ring_ns;
    struct probity_dumps_settings dumps;
    struct probity_condition conditions[CONDITIONS_AT_ONCE];
    uint32_t conditions_count;
    struct probity_switching switches[SWITCHES_AT_ONCE];
    uint32_t switches_count;
    uint32_t budget; /* 0: unchanged */
    int mode;        /* an enum probity_mode; 0: unchanged */
};

/* State of a search through the declarations for functions that the budget no longer records. */
static const struct probity_condition *sought;
static const struct change *sought_with; /* what else the request changes */
static int is_found, is_endless;

static void find_unrecorded(uint32_t kind, const uint8_t *payload, size_t bytes)
{
    uint32_t site;

    if (!is_declared_for(sought, kind, payload, bytes, &site) || site >= PROBITY_LIMIT_SITES)
        return;
    is_endless |= sought->kind == PROBITY_CONDITION_FUNCTION &&
                  (payload[9] & PROBITY_FUNCTION_ENTRIES) != 0;
    is_found |= (__atomic_load_n(&probity_budget_state[site + 1], __ATOMIC_RELAXED) &
                 (PROBITY_BUDGET_COUNTED | PROBITY_BUDGET_OFF)) != 0 &&
                !probity_switches_turn_on(sought_with->switches, sought_with->switches_count, kind,
                                          payload, bytes);
}

/* In the writer thread, which also decides which functions are only counted. */
static int names_unrecorded(const struct probity_condition *condition)
{
    sought = condition;
    is_found = is_endless = 0;
    probity_declare_each(find_unrecorded);
    return is_found;
}

/* Allocates the memory that the conditions need, before any of them takes effect. */
static int make_room(struct probity_session *session, const struct probity_condition *wanted,
                     uint32_t count)
{
    const struct probity_trigger_parts *parts = probity_trigger_parts();
    struct probity_watch *watch = *parts->watch;
    int result = 0;

    for (uint32_t i = 0; i < count && result == 0; i++) {
        if (!probity_condition_is_watched(&wanted[i]))
            continue;
        if (watch == NULL)
            watch = probity_watch_open(parts->conditions, count_now(),
                                       probity_live_rate(&session->live),
                                       probity_clock_ticks(session->live.clock),
                                       &session->dumps.notices);
        result = watch != NULL ? probity_watch_make_room(watch, wanted[i].kind)
                               : PROBITY_ERROR_MEMORY;
    }
    if (result == 0)
        __atomic_store_n(parts->watch, watch, __ATOMIC_RELEASE);
    else if (watch != NULL && watch != *parts->watch)
        probity_watch_close(watch);
    session->dumps.watch = *parts->watch;
    return result;
}

/* A thread that declares a site at this moment either sees the condition, or the search finds its
 * declaration: both store before they look, with a fence in between. */
static void add_condition(struct probity_session *session, uint32_t number)
{
    const struct probity_trigger_parts *parts = probity_trigger_parts();

    int is_function = parts->conditions[number].kind == PROBITY_CONDITION_FUNCTION;

    if (is_function)
        *parts->are_added = 1;
    else
        probity_watch_add(*parts->watch, number, probity_live_rate(&session->live));
    __atomic_store_n(parts->count, number + 1, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    probity_declare_each(match_declared);
    if (is_function)
        probity_budget_clear_codes(); /* so that the next calls find it */
}

/* Returns why the condition cannot be added; NULL if it can. earlier: number of conditions before
 * it in the same request; NONE_EARLIER: all were tried. */
static const char *why_not(const struct probity_condition *condition, uint32_t found,
                           uint32_t earlier)
{
    if (earlier == NONE_EARLIER)
        return NULL;
    if (found == PROBITY_CONDITIONS_MAX &&
        (condition->percentile != 0 || !(probity_condition_is_watched(condition) ||
                                         condition->kind == PROBITY_CONDITION_FUNCTION)))
        return "only function, request, gap, rate and value, without percentiles, can be added";
    if (found == PROBITY_CONDITIONS_MAX && count_now() + earlier >= PROBITY_CONDITIONS_MAX)
        return "there are already 64 conditions";
    if (found == PROBITY_CONDITIONS_MAX && names_unrecorded(condition))
        return "calls that it names are only counted (budget, or switched off); see on=";
    if (found == PROBITY_CONDITIONS_MAX && is_endless)
        return PROBITY_TRIGGER_ENDLESS;
    if (added_count + earlier >= ADDED_MAX)
        return "conditions were already changed 32 times";
    return condition->length >= ADDED_BYTES ? "the condition is too long" : NULL;
}

/* earlier: as above, for a trial; otherwise NONE_EARLIER. */
static int change_condition(struct probity_session *session,
                            const struct probity_condition *condition, uint32_t earlier,
                            const char **ret_why)
{
    const struct probity_trigger_parts *parts = probity_trigger_parts();
    struct probity_dumps *dumps = &session->dumps;
    uint32_t number = find_condition(condition);
    uint64_t rate = probity_live_rate(&session->live);
    uint64_t limit = probity_ticks_of_ns((int64_t)condition->limit_ns, rate);

    *ret_why = why_not(condition, number, earlier);
    if (*ret_why != NULL)
        return PROBITY_ERROR_ARGUMENT;
    if (earlier != NONE_EARLIER)
        return 0;
    int is_new = number == PROBITY_CONDITIONS_MAX;
    number = is_new ? count_now() : number;
    char *text = added[added_count++];
    memcpy(text, condition->text, condition->length);
    if (is_new) {
        parts->conditions[number] = *condition;
        parts->conditions[number].text = text; /* the request's is on the stack */
    }
    parts->conditions[number].limit_ns = condition->limit_ns;
    parts->conditions[number].number = condition->number;
    __atomic_store_n(&parts->limits[number], limit, __ATOMIC_RELAXED);
    dumps->condition[number] = text;
    dumps->condition_bytes[number] = (uint32_t)condition->length;
    if (is_new)
        add_condition(session, number);
    dumps->conditions = count_now();
    if (!is_new && *parts->watch != NULL && probity_condition_is_watched(condition))
        probity_watch_limit(*parts->watch, number, limit);
    return 0;
}

static uint64_t longest_ns_now(void)
{
    uint64_t longest_ns = 0;

    for (uint32_t i = 0; i < count_now(); i++) {
        uint64_t ns = probity_trigger_parts()->conditions[i].limit_ns;
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    return longest_ns;
}

/* ---- Settings ----------------------------------------------------------------------------------
 */

/* Settings that cannot be changed, and why. */
static const char *const fixed[][2] = {
    {"functions", "they are patched when a recording begins; see off= and on="},
    {"args", "they are described when the program starts"},
    {"calls", "they are chosen when a recording begins"},
};

static int refuse(char *ret_why, size_t room, const char *what, const char *why)
{
    size_t length = strlen(why) + sizeof ": "; /* truncates a long setting, not the reason */

    snprintf(ret_why, room, "%.*s: %s", (int)(room > length ? room - length : 0), what, why);
    return PROBITY_ERROR_ARGUMENT;
}

static int take_ring(struct change *change, const char *value)
{
    uint64_t bytes = 0;

    change->has_ring = 1;
    return probity_window_ring(value, &change->ring_ns, &bytes) && bytes == 0;
}

static int take_condition(struct change *change, const char *value)
{
    struct probity_condition_error error;
    const char *end;

    return change->conditions_count < CONDITIONS_AT_ONCE &&
           probity_condition_parse(value, &end, &change->conditions[change->conditions_count++],
                                   &error) &&
           *end == 0;
}

static int take_switch(struct change *change, const char *name, const char *value)
{
    if (change->switches_count == SWITCHES_AT_ONCE)
        return 0;
    change->switches[change->switches_count++] =
        (struct probity_switching){.is_off = strcmp(name, "off") == 0, .pattern = value};
    return 1;
}

static int take_budget(const struct probity_session *session, struct change *change,
                       const char *value, char *ret_why, size_t room)
{
    if (session->settings.profile)
        return refuse(ret_why, room, "budget", "in profile mode, all calls are counted");
    return probity_share_parse(value, &change->budget)
               ? 0
               : refuse(ret_why, room, "budget", "expected a percentage");
}

static int take_mode(const struct probity_session *session, struct change *change,
                     const char *value, char *ret_why, size_t room)
{
    static const char words[][6] = {"block", "drop", "ring"};
    int ring = PROBITY_MODE_RING;

    for (int i = 0; i < 3; i++)
        change->mode = strcmp(value, words[i]) == 0 ? PROBITY_MODE_BLOCK + i : change->mode;
    if (session->settings.profile)
        return refuse(ret_why, room, "mode", "calls are counted; detach, then attach again");
    if (change->mode == 0)
        return refuse(ret_why, room, "mode", "expected block or drop");
    return (change->mode == ring) == (probity_live_mode(&session->live) == ring)
               ? 0
               : refuse(ret_why, room, "mode", "a ring is for a whole recording; detach, then "
                                               "attach");
}

/* Parses one setting; its name ends with a zero byte. */
static int take_one(struct probity_session *session, struct change *change, char *name, char *value,
                    char *ret_why, size_t room)
{
    struct probity_condition_error error;

    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (strcmp(name, fixed[i][0]) == 0)
            return refuse(ret_why, room, name, fixed[i][1]);
    }
    if (strcmp(name, "off") == 0 || strcmp(name, "on") == 0)
        return take_switch(change, name, value)
                   ? 0
                   : refuse(ret_why, room, name, "more than 32 patterns at once");
    if (strcmp(name, "mode") == 0)
        return take_mode(session, change, value, ret_why, room);
    if (strcmp(name, "budget") == 0)
        return take_budget(session, change, value, ret_why, room);
    if (!session->dumps.is_on)
        return refuse(ret_why, room, name, "it requires a recording with PROBITY_RING");
    if (strcmp(name, "ring") == 0)
        return take_ring(change, value)
                   ? 0
                   : refuse(ret_why, room, name, "expected a time of 1ms to 24 hours; a ring's "
                                                 "size is fixed");
    if (strcmp(name, "when") == 0)
        return take_condition(change, value)
                   ? 0
                   : refuse(ret_why, room, name, "invalid condition, or too many");
    value[-1] = '=';
    change->has_dumps = 1;
    return probity_dumps_settings_parse(name, &change->dumps, &error)
               ? 0
               : refuse(ret_why, room, name, "invalid, or it cannot be changed");
}

static int take_all(struct probity_session *session, struct change *change, char *text,
                    char *ret_why, size_t room)
{
    for (char *next = text; next != NULL;) {
        char *line = next, *equals = strchr(line, '=');
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = 0;
        if (equals == NULL || *line == 0 || (next != NULL && equals >= next))
            return refuse(ret_why, room, "settings", "expected NAME=VALUE");
        *equals = 0;
        int result = take_one(session, change, line, equals + 1, ret_why, room);
        if (result != 0)
            return result;
    }
    return 0;
}

/* Call once it is known which functions the request switches on. */
static int try_conditions(struct probity_session *session, const struct change *change,
                          char *ret_why, size_t room)
{
    const char *why;
    size_t bytes = 0;
    int result = 0;

    for (uint32_t i = 0; i < session->dumps.conditions; i++)
        bytes += session->dumps.condition_bytes[i] + 1;
    for (uint32_t i = 0; i < change->conditions_count; i++) {
        uint32_t same = find_condition(&change->conditions[i]);
        bytes += change->conditions[i].length + 1;
        bytes -= same < PROBITY_CONDITIONS_MAX ? session->dumps.condition_bytes[same] + 1 : 0;
    }
    if (change->conditions_count > 0 && bytes > sizeof session->settings.when)
        return refuse(ret_why, room, "when", "the condition is too long");
    sought_with = change;
    for (uint32_t i = 0; i < change->conditions_count && result == 0; i++) {
        result = change_condition(session, &change->conditions[i], i, &why);
        if (result != 0)
            refuse(ret_why, room, change->conditions[i].text, why);
    }
    sought_with = NULL;
    return result;
}

static void apply_dumps(struct probity_session *session,
                        const struct probity_dumps_settings *wanted)
{
    struct probity_dumps *dumps = &session->dumps;
    uint64_t rate = probity_live_rate(&session->live);

    if (wanted->at_most != dumps->settings.at_most) {
        memset(dumps->recent, 0, wanted->at_most * sizeof dumps->recent[0]);
        dumps->recent_at = 0;
    }
    dumps->settings = *wanted;
    dumps->before = probity_ticks_of_ns((int64_t)wanted->before_ns, rate);
    dumps->after = probity_ticks_of_ns((int64_t)wanted->after_ns, rate);
    dumps->period = probity_ticks_of_ns((int64_t)wanted->period_ns, rate);
}

/* Keeps the window at least as long as the dumps need. ret_settings: for forked children. */
static void apply_ring(struct probity_session *session, const struct change *change,
                       struct probity_settings *ret_settings)
{
    const struct probity_dumps_settings *dumps = &session->dumps.settings;
    uint64_t rate = probity_live_rate(&session->live);
    uint64_t least_ns =
        dumps->before_ns + dumps->after_ns + longest_ns_now() + 2000000000;
    uint64_t least = probity_ticks_of_ns((int64_t)least_ns, rate);

    if (change->has_ring)
        session->live.ring_ticks = probity_ticks_of_ns((int64_t)change->ring_ns, rate);
    if (session->live.ring_ticks != 0 && session->live.ring_ticks < least)
        session->live.ring_ticks = least;
    if (change->has_ring)
        ret_settings->ring_ns = change->ring_ns;
    if (ret_settings->ring_ns != 0 && ret_settings->ring_ns < least_ns)
        ret_settings->ring_ns = least_ns;
}

/* Joins the conditions in effect to a value of PROBITY_WHEN. They fit: see try_conditions(). */
static void join_conditions(const struct probity_dumps *dumps,
                            struct probity_settings *ret_settings)
{
    size_t used = 0;

    for (uint32_t i = 0; i < dumps->conditions; i++) {
        if (i > 0)
            ret_settings->when[used++] = ';';
        memcpy(ret_settings->when + used, dumps->condition[i], dumps->condition_bytes[i]);
        used += dumps->condition_bytes[i];
        ret_settings->has_watched |=
            probity_condition_is_read(&probity_trigger_parts()->conditions[i]);
    }
    ret_settings->when[used] = 0;
    ret_settings->texts_set |= used > 0 ? PROBITY_SETTINGS_HAS_WHEN : 0;
}

/* Sequentially consistent: see probity_levels_publish(). A thread reads the mode only when it finds
 * no free chunk, and then every 10 ms while it waits for one. */
static void apply_mode(struct probity_session *session, int mode)
{
    __atomic_store_n(&session->live.mode, (uint32_t)mode, __ATOMIC_SEQ_CST);
    probity_levels_publish(session);
}

/* Applies the changes, also for children forked from now on. */
static void apply(struct probity_session *session, const struct change *change)
{
    struct probity_settings *settings = probity_session_inherit_begin();

    if (change->budget != 0) {
        probity_budget_change(session, change->budget);
        settings->budget = change->budget;
        if (settings->cost == PROBITY_SETTINGS_COST_OFF)
            settings->cost = PROBITY_SETTINGS_COST_LONG; /* as if there had been a budget */
    }
    if (change->mode != 0) {
        apply_mode(session, change->mode);
        settings->mode = change->mode;
    }
    if (change->has_dumps)
        apply_dumps(session, &change->dumps);
    if (session->dumps.is_on) {
        apply_ring(session, change, settings);
        settings->dumps = session->dumps.settings;
        join_conditions(&session->dumps, settings);
    }
    probity_session_inherit_end();
}

static void say_switched(char *ret_said, size_t room)
{
    struct probity_switched now;
    char sites[80] = "", stays[PROBITY_LIMIT_NAME + 32] = "";

    probity_switches_count(&now);
    if (now.sites > 0)
        snprintf(sites, sizeof sites, "; %u of %u sites hit so far are off", now.sites_off,
                 now.sites);
    if (now.stays[0] != 0)
        snprintf(stays, sizeof stays, "; site '%s' stays on", now.stays);
    snprintf(ret_said, room, "%u of %u functions called so far are only counted%s%s%s%s%s",
             now.functions_off, now.functions, sites, stays,
             now.unmatched != NULL ? "; none of them matches '" : "",
             now.unmatched != NULL ? now.unmatched : "", now.unmatched != NULL ? "'" : "");
}

static int change_settings(void *owner, const char *text, char *ret_why, size_t room)
{
    struct probity_session *session = owner;
    struct change change = {.dumps = session->dumps.settings};
    char copy[PROBITY_SPOOL_CHANGE_TEXT];
    const char *why = "";

    if (strlen(text) > PROBITY_EVENT_BYTES_MAX - PROBITY_LEVELS_BYTES)
        return refuse(ret_why, room, "settings", "too many bytes for one record");
    snprintf(copy, sizeof copy, "%s", text);
    int result = take_all(session, &change, copy, ret_why, room);
    if (result == 0)
        result = try_conditions(session, &change, ret_why, room);
    if (result != 0)
        return result;
    why = change.switches_count > 0
              ? probity_switches_check(session, change.switches, change.switches_count)
              : NULL;
    if (why != NULL)
        return refuse(ret_why, room, "on and off", why);
    if (make_room(session, change.conditions, change.conditions_count) != 0)
        return refuse(ret_why, room, "when", "out of memory");
    for (uint32_t i = 0; i < change.conditions_count && result == 0; i++)
        result = change_condition(session, &change.conditions[i], NONE_EARLIER, &why);
    if (result != 0)
        return refuse(ret_why, room, "when", why);
    if (change.switches_count > 0)
        probity_switches_apply(session, change.switches, change.switches_count);
    apply(session, &change);
    if (change.switches_count > 0)
        say_switched(ret_why, room);
    return 0;
}

void probity_change_begin(struct probity_session *session)
{
    added_count = 0;
    session->writer.change_settings = change_settings;
    session->writer.write_changes = probity_switches_write;
}
