/* SPDX-License-Identifier: MIT
 *
 * trigger.c: conditions and what meets them. Threads compare, and post notices; the writer thread
 * makes dumps of them (src/writer/dumps.c) and computes percentiles.
 */
#include "runtime/trigger.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/selection.h"
#include "base/ticks.h"
#include "probity_scope.h"
#include "runtime/external.h"
#include "runtime/inside.h"
#include "runtime/thread.h"
#include "runtime/trace_file.h"

enum {
    OCTAVE = 16, /* buckets to a power of two of a duration: 6 % wide */
    BUCKETS = 60 * OCTAVE,
    CALLS_MIN = 1000,     /* from which a percentile is taken */
    GENERATION_S = 60     /* a percentile is of this one and the one before */
};

/* Durations of the calls that a percentile is taken of. */
struct durations {
    uint32_t bucket[2][BUCKETS]; /* of this generation and the one before, by turns */
};

uint64_t probity_trigger_functions[PROBITY_LIMIT_SITES / 2 + 1];

/* Of the recording; conditions of earlier ones are overwritten. Their names and limits are read by
 * all threads, and stored before any function is declared. */
static struct probity_condition conditions[PROBITY_CONDITIONS_MAX];
static uint64_t limits[PROBITY_CONDITIONS_MAX]; /* ticks; UINT64_MAX: not known yet */
static uint32_t condition_count;
static struct durations durations[PROBITY_CONDITIONS_MAX];
static uint32_t generation, generation_s;

/* ---- Notices -----------------------------------------------------------------------------------
 */

/* Wakes the writer; a forked child, or a recording that began in a probe, may have none yet. */
static int wake_writer(void)
{
    struct probity_os_signals before;
    int result = PROBITY_ERROR_STATE;

    probity_inside_begin(&before);
    struct probity_session *session = probity_session_enter();
    if (session != NULL) {
        result = 0;
        if (__atomic_load_n(&session->writer.state, __ATOMIC_ACQUIRE) == PROBITY_WRITER_NONE) {
            probity_os_lock(&session->lock);
            result = probity_session_need_writer(session);
            probity_os_unlock(&session->lock);
        }
        if (result == 0)
            probity_writer_notify(&session->writer);
        probity_session_leave(session);
    }
    probity_inside_end(&before);
    return result;
}

static void notice_init(struct probity_notice *ret_notice, uint32_t kind, int32_t condition)
{
    const struct probity_thread_state *slot = probity_thread_slot();

    memset(ret_notice, 0, sizeof *ret_notice);
    ret_notice->kind = kind;
    ret_notice->condition = condition;
    ret_notice->thread = slot != NULL ? slot->thread : (uint32_t)PROBITY_DUMP_NONE;
    ret_notice->tid = probity_os_thread_id();
    ret_notice->number = ret_notice->from = (uint32_t)PROBITY_DUMP_NONE;
}

static void put_text(struct probity_notice *notice, const char *text)
{
    size_t length = strnlen(text, sizeof notice->text - 1);

    memcpy(notice->text, text, length);
    notice->text[length] = 0;
}

static int post(const struct probity_notice *notice)
{
    struct probity_session *session = probity_session_recording();

    if (session == NULL || !session->dumps.is_on)
        return PROBITY_ERROR_STATE;
    if (!probity_notices_post(&session->dumps.notices, notice))
        return PROBITY_ERROR_LIMIT;
    return wake_writer();
}

uint64_t probity_trigger_ticks(void)
{
    const struct probity_session *session = probity_session_recording();

    return session != NULL ? probity_clock_ticks(session->live.clock) : 0;
}

/* ---- Percentiles -------------------------------------------------------------------------------
 */

static uint32_t bucket_of(uint64_t ticks)
{
    uint32_t log2 = 63 - (uint32_t)__builtin_clzll(ticks | OCTAVE);
    uint32_t bucket = (log2 - 4) * OCTAVE + (uint32_t)(ticks >> (log2 - 4) & (OCTAVE - 1));

    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

/* The longest duration of the bucket. */
static uint64_t top_of(uint32_t bucket)
{
    uint32_t shift = bucket / OCTAVE;

    return ((uint64_t)(OCTAVE + bucket % OCTAVE + 1) << shift) - 1;
}

static uint64_t percentile_of(const struct durations *of, uint32_t percentile)
{
    uint64_t count = 0, seen = 0;

    for (uint32_t i = 0; i < BUCKETS; i++)
        count += (uint64_t)__atomic_load_n(&of->bucket[0][i], __ATOMIC_RELAXED) +
                 __atomic_load_n(&of->bucket[1][i], __ATOMIC_RELAXED);
    if (count < CALLS_MIN)
        return UINT64_MAX;
    uint64_t below = (uint64_t)((double)count * percentile / PROBITY_CONDITION_PERCENT_UNIT);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        seen += (uint64_t)__atomic_load_n(&of->bucket[0][i], __ATOMIC_RELAXED) +
                __atomic_load_n(&of->bucket[1][i], __ATOMIC_RELAXED);
        if (seen > below)
            return top_of(i);
    }
    return UINT64_MAX;
}

/* In the writer thread, about once a second. */
static void publish_limits(void *owner)
{
    const struct probity_session *session = owner;
    uint64_t ticks = probity_clock_ticks(session->live.clock) - session->live.first.ticks;
    uint32_t now_s =
        (uint32_t)(probity_ns_of_ticks(ticks, probity_live_rate(&session->live)) / 1000000000);

    if (now_s - generation_s >= GENERATION_S) {
        generation_s = now_s;
        __atomic_store_n(&generation, generation + 1, __ATOMIC_RELAXED);
        for (uint32_t i = 0; i < condition_count; i++)
            memset(durations[i].bucket[generation % 2], 0, sizeof durations[i].bucket[0]);
    }
    for (uint32_t i = 0; i < condition_count; i++) {
        if (conditions[i].percentile != 0)
            __atomic_store_n(&limits[i], percentile_of(&durations[i], conditions[i].percentile),
                             __ATOMIC_RELAXED);
    }
}

/* ---- Functions ---------------------------------------------------------------------------------
 */

static int is_name_of(const char *pattern, const struct probity_site_function *function)
{
    char name[PROBITY_LIMIT_SIGNATURE];

    if (probity_selection_matches(pattern, function->name))
        return 1;
    return (function->flags & PROBITY_FUNCTION_ADDRESSED) &&
           probity_selection_cxx_name(function->name, name, sizeof name) &&
           probity_selection_matches(pattern, name);
}

int probity_trigger_declared(struct probity_session *session,
                             const struct probity_site_function *function, uint32_t number)
{
    uint64_t set = 0;

    if (!session->dumps.is_on || number / 2 > PROBITY_LIMIT_SITES / 2)
        return 0;
    for (uint32_t i = 0; i < condition_count; i++) {
        if (conditions[i].kind == PROBITY_CONDITION_FUNCTION &&
            is_name_of(conditions[i].name.name, function))
            set |= UINT64_C(1) << i;
    }
    __atomic_store_n(&probity_trigger_functions[number / 2], set, __ATOMIC_RELAXED);
    return set != 0;
}

/* end: tick of the leave. */
static void compare(const struct probity_site_function *function, uint32_t condition,
                    uint64_t entered, uint64_t end)
{
    uint64_t limit = __atomic_load_n(&limits[condition], __ATOMIC_RELAXED);
    struct probity_notice notice;

    if (conditions[condition].percentile != 0) {
        uint32_t turn = __atomic_load_n(&generation, __ATOMIC_RELAXED) % 2;
        __atomic_add_fetch(&durations[condition].bucket[turn][bucket_of(end - entered)], 1,
                           __ATOMIC_RELAXED);
    }
    if (end - entered <= limit)
        return;
    notice_init(&notice, PROBITY_DUMP_FUNCTION, (int32_t)condition);
    notice.number = __atomic_load_n(&function->number, __ATOMIC_RELAXED) - 1;
    notice.flags = conditions[condition].percentile != 0 ? PROBITY_DUMP_IS_PERCENTILE : 0;
    notice.start = entered;
    notice.end = end;
    notice.limit = limit;
    put_text(&notice, function->name);
    post(&notice);
}

void probity_trigger_leave(const struct probity_site_function *function, uint64_t entered)
{
    const struct probity_thread_state *slot = probity_thread_slot();
    uint32_t number = __atomic_load_n(&function->number, __ATOMIC_RELAXED);
    int before = errno;

    if (slot == NULL || number == 0 || entered == 0)
        return;
    uint64_t set = probity_trigger_of(number - 1), end = slot->hot.last_tick;
    for (; set != 0 && (int64_t)(end - entered) > 0; set &= set - 1)
        compare(function, (uint32_t)__builtin_ctzll(set), entered, end);
    errno = before;
}

void probity_trigger_site_declared(struct probity_session *session, const char *name,
                                   uint32_t number)
{
    (void)session;
    (void)name;
    (void)number;
}

/* ---- Requests ----------------------------------------------------------------------------------
 */

PROBITY_API int probity_snapshot(const char *reason)
{
    struct probity_notice notice;
    int before = errno;

    notice_init(&notice, PROBITY_DUMP_PROGRAM, PROBITY_NOTICE_NO_CONDITION);
    notice.start = notice.end = probity_trigger_ticks();
    if (reason != NULL)
        put_text(&notice, reason);
    int result = post(&notice);
    errno = before;
    return result;
}

static void on_signal(int number)
{
    struct probity_notice notice;
    int before = errno;
    int32_t condition = 0;

    while ((uint32_t)condition < condition_count && conditions[condition].signal != number)
        condition++;
    notice_init(&notice, PROBITY_DUMP_SIGNAL, condition);
    notice.number = (uint32_t)number;
    notice.start = notice.end = probity_trigger_ticks();
    post(&notice);
    errno = before;
}

/* The program's own handler is left in place. */
static void handle_signal(int number)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, present;

    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &present) == 0 && present.sa_handler == SIG_DFL &&
        !(present.sa_flags & SA_SIGINFO))
        sigaction(number, &action, NULL);
}

/* ---- Beginning ---------------------------------------------------------------------------------
 */

/* Copies a name so that it stays as it is when %i is expanded. */
static int put_plain(char *ret_text, size_t room, const char *text, size_t length)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (used + 2 >= room)
            return 0;
        if (text[i] == '%')
            ret_text[used++] = '%';
        ret_text[used++] = text[i];
    }
    ret_text[used] = 0;
    return 1;
}

/* Beside the trace. */
static int default_names(struct probity_session *session)
{
    static const char extension[] = ".probity", number[] = "-%i.probity";
    struct probity_dumps *dumps = &session->dumps;
    const char *slash = strrchr(session->trace_path, '/'), *name = slash + 1;
    size_t length = strlen(name), end = sizeof extension - 1;

    probity_assert(slash != NULL);
    if (length > end && strcmp(name + length - end, extension) == 0)
        length -= end;
    if (!put_plain(dumps->pattern, sizeof dumps->pattern - sizeof number, name, length))
        return PROBITY_ERROR_ARGUMENT;
    memcpy(dumps->pattern + strlen(dumps->pattern), number, sizeof number);
    size_t directory = slash == session->trace_path ? 1 : (size_t)(slash - session->trace_path);
    memcpy(dumps->directory_path, session->trace_path, directory);
    dumps->directory_path[directory] = 0;
    return 0;
}

/* The pattern without %n and %p, in two parts. */
static int given_names(struct probity_session *session)
{
    struct probity_dumps *dumps = &session->dumps;
    char *path = session->scratch[2];
    int result = probity_trace_file_expand_dump(session, session->settings.dump, path);
    const char *slash = strrchr(path, '/');

    if (result != 0 || slash == NULL || strlen(slash + 1) >= sizeof dumps->pattern)
        return PROBITY_ERROR_ARGUMENT;
    memcpy(dumps->pattern, slash + 1, strlen(slash + 1) + 1);
    size_t length = slash == path ? 1 : (size_t)(slash - path), used = 0;
    for (size_t i = 0; i < length; i++) {
        dumps->directory_path[used++] = path[i];
        i += path[i] == '%' && path[i + 1] == '%';
    }
    dumps->directory_path[used] = 0;
    return 0;
}

static void take_conditions(struct probity_session *session)
{
    struct probity_dumps *dumps = &session->dumps;
    struct probity_condition_error error;
    const char *at = session->settings.when;
    uint64_t rate = probity_live_rate(&session->live);

    for (; *at != 0 && dumps->conditions < PROBITY_CONDITIONS_MAX; at += *at == ';') {
        uint32_t number = dumps->conditions;
        struct probity_condition *condition = &conditions[number];
        if (!probity_condition_parse(at, &at, condition, &error))
            break; /* they were checked with the settings */
        dumps->condition[number] = condition->text;
        dumps->condition_bytes[number] = (uint32_t)condition->length;
        limits[number] = condition->percentile != 0
                             ? UINT64_MAX
                             : probity_ticks_of_ns((int64_t)condition->limit_ns, rate);
        if (condition->kind == PROBITY_CONDITION_SIGNAL)
            handle_signal(condition->signal);
        if (condition->percentile != 0) {
            memset(&durations[number], 0, sizeof durations[number]);
            session->writer.publish_limits = publish_limits;
        }
        dumps->conditions++;
    }
    condition_count = dumps->conditions;
}

int probity_trigger_begin(struct probity_session *session)
{
    struct probity_dumps *dumps = &session->dumps;
    uint64_t rate = probity_live_rate(&session->live);

    condition_count = 0;
    memset(&dumps->notices, 0, offsetof(struct probity_notices, notice));
    dumps->is_on = session->settings.has_dumps && !probity_external_is(session);
    if (!dumps->is_on)
        return 0;
    dumps->settings = session->settings.dumps;
    dumps->before = probity_ticks_of_ns((int64_t)dumps->settings.before_ns, rate);
    dumps->after = probity_ticks_of_ns((int64_t)dumps->settings.after_ns, rate);
    dumps->period = probity_ticks_of_ns((int64_t)dumps->settings.period_ns, rate);
    dumps->directory = -1;
    dumps->conditions = dumps->posted_seen = dumps->number = 0;
    dumps->made = dumps->left_out = dumps->failed = dumps->failure_to_report = 0;
    dumps->bytes = 0;
    dumps->windows = dumps->recent_at = dumps->kept_count = 0;
    memset(dumps->recent, 0, dumps->settings.at_most * sizeof dumps->recent[0]);
    int result = session->settings.dump[0] != 0 ? given_names(session) : default_names(session);
    if (result != 0) {
        probity_session_complain("PROBITY_DUMP", "the name is too long");
        return result;
    }
    generation = generation_s = 0;
    take_conditions(session);
    session->writer.dumps = dumps;
    return 0;
}

void probity_trigger_report(struct probity_session *session)
{
    uint32_t *failure = &session->dumps.failure_to_report;
    uint32_t error = __atomic_load_n(failure, __ATOMIC_ACQUIRE);
    char text[256];

    if (error == 0 || __atomic_exchange_n(failure, 0, __ATOMIC_ACQ_REL) == 0)
        return;
    snprintf(text, sizeof text, "dump '%.100s' was not written: %.80s; recording goes on",
             session->dumps.pattern, strerror((int)error));
    probity_session_say_once(text);
}
