/* SPDX-License-Identifier: MIT
 *
 * levels.c: one word holds the requested levels and whether they are in effect. A thread that
 * changes it publishes the two variables that scopes read, and publishes them again if the word has
 * changed in the meantime. So the last thread to publish does so for the last word, without a lock
 * that a forked child could inherit.
 */
#include "runtime/levels.h"

#include <errno.h>

#include "base/assert.h"
#include "base/os.h"
#include "runtime/inside.h"
#include "runtime/record.h"
#include "runtime/session.h"
#include "runtime/thread.h"
#include "spool/control.h"

/* Not decided yet: the first scope takes the slow path, which decides whether to record. */
PROBITY_API int probity_scope_level = PROBITY_LEVEL_MAX;
PROBITY_API int probity_scope_param_level = PROBITY_LEVEL_MAX;
PROBITY_API int probity_scope_profiles;

/* Sources of levels; higher values take precedence. */
enum say { BY_NOBODY = 0, BY_UNIT = 1, BY_ENVIRONMENT = 2, BY_CALL = 3 };

/* The word, decoded. */
struct wanted {
    int functions, parameters, by, is_off, is_profile, is_slow;
};

static uint32_t wanted_word = PROBITY_LEVEL_MAX | PROBITY_LEVEL_MAX << 8;

static struct wanted wanted_of(uint32_t word)
{
    probity_assert(word >> 27 == 0);
    return (struct wanted){.functions = word & 255,
                           .parameters = word >> 8 & 255,
                           .by = word >> 16 & 255,
                           .is_off = word >> 24 & 1,
                           .is_profile = word >> 25 & 1,
                           .is_slow = word >> 26 & 1};
}

static uint32_t word_of(struct wanted wanted)
{
    probity_assert(wanted.functions >= 0 && wanted.functions <= 255);
    probity_assert(wanted.parameters >= wanted.functions || wanted.is_off || wanted.is_profile);
    return (uint32_t)wanted.functions | (uint32_t)wanted.parameters << 8 |
           (uint32_t)wanted.by << 16 | (uint32_t)wanted.is_off << 24 |
           (uint32_t)wanted.is_profile << 25 | (uint32_t)wanted.is_slow << 26;
}

static uint32_t word_load(void)
{
    return __atomic_load_n(&wanted_word, __ATOMIC_SEQ_CST);
}

/* Sequentially consistent, here and in changes of the word: a thread that published an old word
 * sees the new one when it checks again. */
static void publish(void)
{
    uint32_t word, again = word_load();

    do {
        word = again;
        struct wanted wanted = wanted_of(word);
        int functions = wanted.is_off ? -1 : wanted.functions;
        int parameters = wanted.is_off || wanted.is_profile ? -1 : wanted.parameters;
        __atomic_store_n(&probity_scope_profiles, wanted.is_profile | wanted.is_slow << 1,
                         __ATOMIC_SEQ_CST);
        __atomic_store_n(&probity_scope_level, functions, __ATOMIC_SEQ_CST);
        __atomic_store_n(&probity_scope_param_level, parameters, __ATOMIC_SEQ_CST);
        again = word_load();
    } while (again != word);
}

static uint32_t mode_load(const struct probity_session *session)
{
    return __atomic_load_n(&session->live.mode, __ATOMIC_SEQ_CST);
}

void probity_levels_publish(struct probity_session *session)
{
    uint32_t word, again = word_load(), mode;

    do {
        word = again;
        mode = mode_load(session);
        struct wanted wanted = wanted_of(word);
        uint32_t levels = probity_control_levels(wanted.functions, wanted.parameters) |
                          mode << PROBITY_CONTROL_MODE_SHIFT;
        /* No thread of this program checks for requests. */
        if (session->settings.writing == PROBITY_WRITING_EXTERNAL)
            levels &= ~(uint32_t)(PROBITY_CONTROL_ANSWERS | PROBITY_CONTROL_ENDS |
                                  PROBITY_CONTROL_CHANGES);
        __atomic_store_n(&session->live.header->levels, levels, __ATOMIC_SEQ_CST);
        again = word_load();
    } while (again != word || mode_load(session) != mode);
}

/* Changes the levels; -1 leaves a level unchanged. A change of lower precedence than an earlier one
 * has no effect. Returns whether anything changed. */
static int change(int functions, int parameters, enum say by)
{
    uint32_t before = word_load(), after;

    probity_assert(functions <= PROBITY_LEVEL_MAX && parameters <= PROBITY_LEVEL_MAX);
    do {
        struct wanted wanted = wanted_of(before);
        if (wanted.by > (int)by)
            return 0;
        wanted.by = by;
        wanted.functions = functions >= 0 ? functions : wanted.functions;
        wanted.parameters = parameters >= 0 ? parameters : wanted.parameters;
        if (wanted.parameters < wanted.functions)
            wanted.parameters = wanted.functions;
        after = word_of(wanted);
    } while (!__atomic_compare_exchange_n(&wanted_word, &before, after, 0, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    publish();
    return (before & 0xffff) != (after & 0xffff);
}

static void set_state(int is_off, int is_profile)
{
    uint32_t before = word_load(), after;

    do {
        struct wanted wanted = wanted_of(before);
        wanted.is_off = is_off;
        wanted.is_profile = is_profile;
        after = word_of(wanted);
    } while (!__atomic_compare_exchange_n(&wanted_word, &before, after, 0, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    publish();
}

void probity_levels_set_slow(int is_slow)
{
    uint32_t before = word_load(), after;

    do {
        struct wanted wanted = wanted_of(before);
        wanted.is_slow = is_slow;
        after = word_of(wanted);
    } while (!__atomic_compare_exchange_n(&wanted_word, &before, after, 0, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    publish();
}

void probity_levels_ask(int functions, int parameters)
{
    if (functions >= 0)
        change(functions, parameters, BY_ENVIRONMENT);
}

void probity_levels_set_mode(int is_profile)
{
    set_state(wanted_of(word_load()).is_off, is_profile);
}

void probity_levels_forget(int all)
{
    uint32_t before = word_load(), after;

    do {
        struct wanted wanted = wanted_of(before);
        if (!all && wanted.by != BY_ENVIRONMENT)
            return;
        wanted.functions = wanted.parameters = PROBITY_LEVEL_MAX;
        wanted.by = BY_NOBODY;
        after = word_of(wanted);
    } while (!__atomic_compare_exchange_n(&wanted_word, &before, after, 0, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    publish();
}

void probity_levels_begin(struct probity_session *session)
{
    const struct probity_settings *settings = &session->settings;

    probity_levels_ask(settings->level_functions, settings->level_parameters);
    probity_levels_publish(session);
    set_state(0, settings->profile);
}

void probity_levels_end(void)
{
    set_state(1, 0);
}

static int is_level(int level)
{
    return level >= -1 && level <= PROBITY_LEVEL_MAX;
}

uint32_t probity_levels_change(int functions, int parameters)
{
    change(is_level(functions) ? functions : -1, is_level(parameters) ? parameters : -1, BY_CALL);
    probity_levels_publish(probity_session_get());
    struct wanted wanted = wanted_of(word_load());
    return probity_control_levels(wanted.functions, wanted.parameters);
}

static void event_fill(enum probity_levels_origin origin, uint8_t ret_payload[PROBITY_LEVELS_BYTES])
{
    struct wanted wanted = wanted_of(word_load());

    ret_payload[0] = (uint8_t)wanted.functions;
    ret_payload[1] = (uint8_t)wanted.parameters;
    ret_payload[2] = (uint8_t)origin;
}

void probity_levels_record(struct probity_session *session, struct probity_thread_state *slot)
{
    uint8_t payload[PROBITY_LEVELS_BYTES];

    event_fill(PROBITY_LEVELS_START, payload);
    probity_record_event(session, slot, PROBITY_EVENT_LEVELS, payload, sizeof payload);
}

/* Records the change as an event, because existing records were made under other levels. If nothing
 * has been recorded yet, the event at the beginning of the recording is sufficient. */
static void record_change(enum probity_levels_origin origin)
{
    struct probity_os_signals before;
    uint8_t payload[PROBITY_LEVELS_BYTES];
    int has_begun = 0, saved = errno;

    if (probity_session_recording() != NULL) {
        probity_inside_begin(&before);
        struct probity_session *session = probity_session_enter();
        if (session != NULL) {
            probity_levels_publish(session);
            has_begun = probity_session_has_declared(session) != PROBITY_DECLARATIONS_NONE;
            probity_session_leave(session);
        }
        probity_inside_end(&before);
    }
    event_fill(origin, payload);
    if (has_begun)
        probity_record_event_here(PROBITY_EVENT_LEVELS, payload, sizeof payload);
    errno = saved;
}

PROBITY_API int probity_level_set(int functions, int parameters)
{
    if (!is_level(functions) || !is_level(parameters))
        return PROBITY_ERROR_ARGUMENT;
    change(functions, parameters, BY_CALL);
    record_change(PROBITY_LEVELS_PROGRAM);
    return 0;
}

PROBITY_API void probity_level_get(int *ret_functions, int *ret_parameters)
{
    struct wanted wanted = wanted_of(word_load());

    *ret_functions = wanted.functions;
    *ret_parameters = wanted.parameters;
}

PROBITY_API void probity_level_default(int functions, int parameters)
{
    if (is_level(functions) && is_level(parameters) && change(functions, parameters, BY_UNIT))
        record_change(PROBITY_LEVELS_START);
}
