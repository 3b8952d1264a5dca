/* SPDX-License-Identifier: MIT
 *
 * trigger.c: conditions, and the checks whether they are met. Threads compare and post notices; the
 * writer thread makes dumps from these (src/writer/dumps.c) and computes percentiles.
 */
#include "runtime/trigger.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hooked.h"
#include "base/selection.h"
#include "base/thread_local.h"
#include "base/ticks.h"
#include "format/stream.h"
#include "probity_scope.h"
#include "runtime/budget.h"
#include "runtime/declare.h"
#include "runtime/external.h"
#include "runtime/inside.h"
#include "runtime/session.h"
#include "runtime/session_messages.h"
#include "runtime/settings.h"
#include "runtime/switches.h"
#include "runtime/thread.h"
#include "runtime/trace_file.h"
#include "writer/durations.h"
#include "writer/watch.h"

enum { GENERATION_S = 60 }; /* a percentile covers this generation and the previous one */

static uint32_t watched_end; /* functions from here on have no conditions */
static int are_added; /* if so, any function may have one */
static int is_endless_reported;

/* The recording's conditions; entries from condition_count on may be from an earlier one. Their
 * names and limits are read by all threads, and stored before any function is declared. */
static struct probity_condition conditions[PROBITY_CONDITIONS_MAX];
static uint64_t limits[PROBITY_CONDITIONS_MAX]; /* ticks; UINT64_MAX: not known yet */
static uint32_t condition_count;
static struct probity_watch *watch; /* conditions that the writer checks; or NULL */

static uint64_t limit_of(uint32_t condition)
{
    return __atomic_load_n(&limits[condition], __ATOMIC_RELAXED);
}

/* Any thread. Acquire: the conditions below the count are complete. Pairs with add_condition(). */
static uint32_t conditions_now(void)
{
    return __atomic_load_n(&condition_count, __ATOMIC_ACQUIRE);
}

static struct probity_watch *watch_now(void)
{
    return __atomic_load_n(&watch, __ATOMIC_ACQUIRE);
}
static struct probity_durations durations[PROBITY_CONDITIONS_MAX]; /* of those with a percentile */
static uint32_t generation_s; /* when the current generation began */

/* ---- Notices -----------------------------------------------------------------------------------
 */

/* Wakes the writer thread, if there is one: not yet in a child, or if a probe began recording. */
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

/* ---- Percentiles -------------------------------------------------------------------------------
 */

/* In the writer thread, about once a second. */
static void publish_limits(void *owner)
{
    const struct probity_session *session = owner;
    uint64_t ticks = probity_clock_ticks(session->live.clock) - session->live.first.ticks;
    uint32_t now_s =
        (uint32_t)(probity_ns_of_ticks(ticks, probity_live_rate(&session->live)) / 1000000000);
    int is_turn = now_s - generation_s >= GENERATION_S;

    generation_s = is_turn ? now_s : generation_s;
    for (uint32_t i = 0, count = conditions_now(); i < count; i++) {
        if (conditions[i].percentile == 0)
            continue;
        if (is_turn)
            probity_durations_turn(&durations[i]);
        uint64_t limit = probity_durations_percentile(&durations[i], conditions[i].percentile);
        __atomic_store_n(&limits[i], limit, __ATOMIC_RELAXED);
        if (conditions[i].kind == PROBITY_CONDITION_REQUEST)
            probity_watch_limit(watch, i, limit);
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

/* Reports, once in a recording, a condition that calls of the function can never meet. */
static void report_endless(const struct probity_condition *condition,
                           const struct probity_site_function *function)
{
    char text[512];

    if (__atomic_exchange_n(&is_endless_reported, 1, __ATOMIC_RELAXED))
        return;
    int length = snprintf(text, sizeof text,
                          "probity: '%.*s' is never met by '%.80s': %s; see probity-functions(7)\n",
                          condition->length < 160 ? (int)condition->length : 160, condition->text,
                          function->name, PROBITY_TRIGGER_ENDLESS);
    probity_session_say(text, (size_t)length);
}

/* Gives a function the conditions that name it. Returns whether its calls are compared. */
static int give_conditions(const struct probity_site_function *function, uint32_t number)
{
    uint64_t set = 0, calls = 0;

    if (number / 2 > PROBITY_LIMIT_SITES / 2)
        return 0;
    for (uint32_t i = 0, count = conditions_now(); i < count; i++) {
        if (conditions[i].name.is_number || !is_name_of(conditions[i].name.name, function))
            continue;
        if (conditions[i].kind == PROBITY_CONDITION_FUNCTION &&
            (function->flags & PROBITY_FUNCTION_ENTRIES))
            report_endless(&conditions[i], function);
        else if (conditions[i].kind == PROBITY_CONDITION_FUNCTION)
            set |= UINT64_C(1) << i;
        else if (conditions[i].kind == PROBITY_CONDITION_GAP ||
                 conditions[i].kind == PROBITY_CONDITION_RATE)
            calls |= UINT64_C(1) << i;
    }
    if (calls != 0 && watch_now() != NULL)
        probity_watch_site(watch_now(), number, calls);
    /* Another condition may be added at the same time, by match_declared(). */
    __atomic_fetch_or(&probity_trigger_functions[number / 2], set, __ATOMIC_RELAXED);
    if (set != 0 && number / 2 >= watched_end)
        watched_end = number / 2 + 1;
    return set != 0;
}

static int function_declared(struct probity_session *session,
                             const struct probity_site_function *function, uint32_t number)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* same as below */
    return session->dumps.is_on && give_conditions(function, number);
}

/* Discards the conditions that functions had in an earlier recording. These functions have no code,
 * so their next call declares them again. */
static void forget_functions(void)
{
    uint32_t end = are_added ? PROBITY_LIMIT_SITES / 2 : watched_end;

    for (uint32_t i = 0; i < end; i++)
        __atomic_store_n(&probity_trigger_functions[i], 0, __ATOMIC_RELAXED);
    watched_end = 0;
    are_added = 0;
}

/* end: the tick of the leave. */
static void compare(const struct probity_site_function *function, uint32_t condition,
                    uint64_t entered, uint64_t end)
{
    uint64_t limit = limit_of(condition);
    struct probity_notice notice;

    if (conditions[condition].percentile != 0)
        probity_durations_add(&durations[condition], end - entered);
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

static void call_ended(const struct probity_site_function *function, uint64_t entered,
                       uint64_t left)
{
    const struct probity_thread_state *slot = probity_thread_slot();
    uint32_t number = __atomic_load_n(&function->number, __ATOMIC_RELAXED);
    int before = errno;

    if (slot == NULL || number == 0 || entered == 0 || left == 0)
        return;
    /* The call may have begun in an earlier recording. */
    const struct probity_session *session = probity_session_recording();
    if (session == NULL || (int64_t)(entered - session->live.first.ticks) < 0)
        return;
    /* The enter tick of a call without a macro is rounded up. */
    entered = (int64_t)(left - entered) > 0 ? entered : left;
    for (uint64_t set = probity_trigger_of(number - 1); set != 0; set &= set - 1)
        compare(function, (uint32_t)__builtin_ctzll(set), entered, left);
    errno = before;
}

/* ---- Spans and waits ---------------------------------------------------------------------------
 *
 * Both end with a record so long after the previous one that the thread reads its CPU clock anyway.
 * The previous record is found in the words before it.
 */

/* Indexed by the number of a named site: the conditions whose span begins there, and those whose
 * span ends there or that name the site. */
static uint64_t sites_from[PROBITY_LIMIT_SITES], sites_to[PROBITY_LIMIT_SITES];

enum { KEPT_WORDS = 24 };

/* The last words of this thread's previous chunk. */
typedef uint64_t words_kept[KEPT_WORDS];
PROBITY_THREAD_LOCAL(static, words_kept, kept_words);

static void keep_words(const uint64_t *words, uint32_t count)
{
    memcpy(kept_words, words + count - KEPT_WORDS, sizeof kept_words);
}

int probity_trigger_is_site(const char *pattern, const char *name)
{
    char plain[PROBITY_LIMIT_NAME + 1];
    const char *colon = strrchr(name, ':');

    if (probity_selection_matches(pattern, name))
        return 1;
    if (colon == NULL || (size_t)(colon - name) >= sizeof plain)
        return 0;
    memcpy(plain, name, (size_t)(colon - name));
    plain[colon - name] = 0;
    return probity_selection_matches(pattern, plain);
}

static int is_site_name(const struct probity_condition_name *wanted, const char *name)
{
    return !wanted->is_number &&
           (wanted->name[0] == 0 || probity_trigger_is_site(wanted->name, name));
}

int probity_trigger_names_site(uint32_t number)
{
    const struct probity_watch *watching = watch_now();

    return (conditions_now() > 0 &&
            (__atomic_load_n(&sites_from[number], __ATOMIC_RELAXED) |
             __atomic_load_n(&sites_to[number], __ATOMIC_RELAXED)) != 0) ||
           (watching != NULL && probity_watch_names(watching, number));
}

static void site_declared(const char *name, uint32_t number)
{
    uint64_t from = 0, to = 0, watched = 0;

    /* By now, the site is in the list of declarations: see add_condition(). */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (number >= PROBITY_LIMIT_SITES || conditions_now() == 0)
        return;
    for (uint32_t i = 0, count = conditions_now(); i < count; i++) {
        const struct probity_condition *condition = &conditions[i];
        if (condition->kind == PROBITY_CONDITION_BLOCK) {
            from |= (uint64_t)is_site_name(&condition->name, name) << i;
            to |= (uint64_t)is_site_name(&condition->to, name) << i;
        } else if (condition->kind == PROBITY_CONDITION_WAIT) {
            to |= (uint64_t)is_site_name(&condition->name, name) << i;
        }
        if (probity_condition_is_read(condition))
            watched |= (uint64_t)is_site_name(&condition->name, name) << i;
    }
    if (watched != 0 && watch_now() != NULL)
        probity_watch_site(watch_now(), number, watched);
    __atomic_store_n(&sites_from[number], from, __ATOMIC_RELAXED);
    __atomic_store_n(&sites_to[number], to, __ATOMIC_RELAXED);
}

/* Returns whether the probe is the wanted one. code: 2 × probe number, or 2 × site number + 1. */
static int is_probe(const struct probity_condition_name *wanted, const uint64_t *sites,
                    uint32_t condition, uint32_t code)
{
    if (wanted->is_number)
        return code == 2 * (uint64_t)wanted->number;
    return code % 2 == 1 && code / 2 < PROBITY_LIMIT_SITES &&
           (__atomic_load_n(&sites[code / 2], __ATOMIC_RELAXED) >> condition & 1);
}

static uint64_t word_at(uint64_t at)
{
    return __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
}

/* Returns the size in words of a record of this kind, given its head; 0 if it is of another. */
static uint32_t words_of(uint64_t word, uint32_t kind)
{
    uint32_t code = (uint32_t)(word & PROBITY_WORD_CODE_MASK);

    return code < PROBITY_WORD_CODE_FIRST && (code & 15) == kind ? code >> 4 & 255 : 0;
}

/* Skips padding that ends at `end`: returns the end of the record before it. */
static uint64_t before_pads(uint64_t begin, uint64_t end)
{
    enum { PADS_MAX = 4 };

    for (int i = 0; i < PADS_MAX; i++) {
        uint64_t at = end;
        while (at > begin && end - at < 8 * KEPT_WORDS &&
               (at == end || words_of(word_at(at), PROBITY_WORD_PAD) != (end - at) / 8))
            at -= 8;
        if (at == end || words_of(word_at(at), PROBITY_WORD_PAD) != (end - at) / 8)
            return end;
        end = at;
    }
    return end;
}

/* Returns whether the tick of a head, or a record's full tick, may be that time. If the CPU clock
 * was read, the record's tick is a little later than the one stored for the thread. */
static int is_about(uint64_t tick, uint64_t last)
{
    return tick - last + (1 << 20) < 1 << 21;
}

static uint64_t full_tick(uint64_t word, uint64_t near)
{
    int64_t delta = (int64_t)((word & ~PROBITY_WORD_CODE_MASK) - (near << PROBITY_WORD_CODE_BITS));

    return near + (uint64_t)(delta >> PROBITY_WORD_CODE_BITS);
}

/* Returns the head of the record with about the tick `last` that ends before `end`, or 0. */
static uint64_t record_before(uint64_t begin, uint64_t end, uint64_t last)
{
    uint64_t at = before_pads(begin, end) - 8;

    if (at < begin || at >= end)
        return 0;
    end = at + 8;
    uint64_t word = word_at(at);
    if ((word & PROBITY_WORD_CODE_MASK) >= PROBITY_WORD_CODE_FIRST &&
        is_about(full_tick(word, last), last))
        return at;
    for (at -= 16; at >= begin && end - at <= 8 * KEPT_WORDS; at -= 8) {
        if (words_of(word_at(at), PROBITY_WORD_EVENT) == (end - at) / 8 &&
            is_about(word_at(at + 8), last))
            return at;
    }
    return 0;
}

/* Returns the same for the record that will be stored at `at`. */
static uint64_t find_before(struct probity_session *session,
                            const struct probity_thread_state *slot, uint64_t at, uint64_t last)
{
    const struct probity_pool *pool = &session->live.pool;

    if (slot->chunk == PROBITY_POOL_NONE)
        return 0;
    uint64_t begin = (uint64_t)probity_pool_words(pool, slot->chunk);
    if (at < begin || at - begin >= (uint64_t)pool->chunk_words * 8)
        return 0;
    uint64_t found = record_before(begin, at, last);
    if (found != 0 || before_pads(begin, at) != begin)
        return found;
    uint64_t kept = (uint64_t)kept_words;
    return record_before(kept, kept + sizeof kept_words, last);
}

static void find_blocks(struct probity_trigger_met *met)
{
    for (uint32_t i = 0, count = conditions_now(); i < count; i++) {
        const struct probity_condition *condition = &conditions[i];
        if (condition->kind == PROBITY_CONDITION_BLOCK &&
            is_probe(&condition->name, sites_from, i, met->from) &&
            is_probe(&condition->to, sites_to, i, met->code))
            met->conditions |= UINT64_C(1) << i;
    }
}

static void find_waits(struct probity_trigger_met *met)
{
    for (uint32_t i = 0, count = conditions_now(); i < count; i++) {
        const struct probity_condition *condition = &conditions[i];
        if (condition->kind == PROBITY_CONDITION_WAIT &&
            (condition->name.name[0] == 0 ||
             is_probe(&condition->name, sites_to, i, met->code)))
            met->conditions |= UINT64_C(1) << i;
    }
}

/* Parses the hit in the event. Returns 0 if it is not a hit. */
static int take_event(uint32_t kind, const void *payload, size_t bytes,
                      struct probity_hit_with *ret_hit)
{
    return kind == PROBITY_EVENT_HIT_WITH && probity_hit_with_parse(payload, bytes, ret_hit);
}

static int take_before(uint64_t before, int is_hit, struct probity_hit_with *ret_hit)
{
    uint64_t event = is_hit ? 0 : word_at(before + 16);

    ret_hit->code = (word_at(before) & PROBITY_WORD_CODE_MASK) - PROBITY_WORD_CODE_FIRST;
    return is_hit || take_event(event & 0xffff, (const void *)(before + 24), event >> 16 & 0xffff,
                                ret_hit);
}

/* Finds the conditions on a span or wait that began with the record at `before`. */
static void find_conditions(uint64_t before, int is_hit,
                            const struct probity_trigger_record *record,
                            struct probity_trigger_met *met)
{
    struct probity_hit_with from = {0}, to = {.code = record->code - PROBITY_WORD_CODE_FIRST};

    if (!take_before(before, is_hit, &from) ||
        (record->code == 0 && !take_event(record->kind, record->payload, record->bytes, &to)))
        return;
    met->from = (uint32_t)from.code;
    met->code = (uint32_t)to.code;
    find_blocks(met);
    met->id = to.object;
    if (probity_role_is_wait(from.role, to.role) && from.object == to.object)
        find_waits(met);
}

static void gap_found(struct probity_session *session, const struct probity_thread_state *slot,
                      const struct probity_trigger_record *record, uint64_t at, uint64_t last,
                      struct probity_trigger_met *ret_met)
{
    uint64_t before = find_before(session, slot, at, last);
    int is_hit = before != 0 &&
                 (word_at(before) & PROBITY_WORD_CODE_MASK) >= PROBITY_WORD_CODE_FIRST;
    int saved = errno;

    memset(ret_met, 0, sizeof *ret_met);
    if (before == 0)
        return;
    ret_met->start = is_hit ? full_tick(word_at(before), last) : word_at(before + 8);
    find_conditions(before, is_hit, record, ret_met);
    errno = saved;
}

static void compare_met(const struct probity_trigger_met *met)
{
    struct probity_notice notice;
    int saved = errno;

    for (uint64_t set = met->conditions; set != 0; set &= set - 1) {
        int condition = __builtin_ctzll(set);
        uint64_t limit = limit_of((uint32_t)condition);
        if (met->end - met->start <= limit)
            continue;
        int is_wait = conditions[condition].kind == PROBITY_CONDITION_WAIT;
        notice_init(&notice, conditions[condition].kind, condition);
        notice.from = is_wait ? (uint32_t)PROBITY_DUMP_NONE : met->from;
        notice.number = met->code;
        notice.flags = conditions[condition].percentile != 0 ? PROBITY_DUMP_IS_PERCENTILE : 0;
        notice.id = is_wait ? met->id : 0;
        notice.start = met->start;
        notice.end = met->end;
        notice.limit = limit;
        post(&notice);
    }
    errno = saved;
}

/* ---- Requests ----------------------------------------------------------------------------------
 */

PROBITY_API int probity_snapshot(const char *reason)
{
    struct probity_notice notice;
    int before = errno;

    notice_init(&notice, PROBITY_DUMP_PROGRAM, PROBITY_NOTICE_NO_CONDITION);
    notice.start = notice.end = probity_scope_watch_begin();
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

    while ((uint32_t)condition < conditions_now() && conditions[condition].signal != number)
        condition++;
    if ((uint32_t)condition >= conditions_now())
        return; /* the condition was an earlier recording's */
    notice_init(&notice, PROBITY_DUMP_SIGNAL, condition);
    notice.number = (uint32_t)number;
    notice.start = notice.end = probity_scope_watch_begin();
    post(&notice);
    errno = before;
}

/* Leaves an existing handler of the program in place. Ours may run on a small stack: the thread's
 * alternate stack, if it has one. */
static void handle_signal(int number)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
    struct sigaction present;
    char text[128];

    sigemptyset(&action.sa_mask);
    int result = sigaction(number, NULL, &present);
    if (result == 0 && present.sa_handler == SIG_DFL && !(present.sa_flags & SA_SIGINFO))
        result = sigaction(number, &action, NULL);
    if (result == 0)
        return;
    snprintf(text, sizeof text, "signal %d cannot be handled: %.80s; it causes no dump", number,
             strerror(errno));
    probity_session_say_once(text);
}

/* ---- Beginning ---------------------------------------------------------------------------------
 */

/* Copies a name with percent signs doubled, so that expanding %i leaves it unchanged. */
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

/* Names dumps after the trace, next to it. */
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

/* Stores the pattern without %n and %p, in two parts. */
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

/* Handles a declaration made before this recording, which is not made again. */
static void was_declared(uint32_t kind, const uint8_t *payload, size_t bytes)
{
    char name[PROBITY_LIMIT_NAME + 1];
    size_t at = kind == PROBITY_EVENT_SITE ? 8 : 12;

    if ((kind != PROBITY_EVENT_SITE && kind != PROBITY_EVENT_FUNCTION) || bytes < at + 2)
        return;
    size_t length = probity_get_u16(payload + at);
    if (length >= sizeof name || length > bytes - at - 2)
        return;
    memcpy(name, payload + at + 2, length);
    name[length] = 0;
    const struct probity_site_function function = {.name = name, .flags = payload[9]};
    if (kind == PROBITY_EVENT_SITE)
        site_declared(name, probity_get_u32(payload));
    else
        give_conditions(&function, probity_get_u32(payload));
}

static int take_conditions(struct probity_session *session)
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
    probity_trigger_has_gaps = session->settings.has_gap_conditions;
    if (session->settings.has_watched)
        watch = probity_watch_open(conditions, condition_count, rate, session->live.first.ticks,
                                   &dumps->notices);
    dumps->watch = watch;
    if (watch != NULL) {
        watch->durations = durations;
        watch->sites_to = sites_to;
    }
    if (condition_count != 0) {
        memset(sites_from, 0, sizeof sites_from);
        memset(sites_to, 0, sizeof sites_to);
        probity_declare_each(was_declared);
        probity_budget_clear_codes();
    }
    if (!session->settings.has_watched || watch != NULL)
        return 0;
    probity_session_complain("PROBITY_WHEN", "no memory for its conditions");
    return PROBITY_ERROR_MEMORY;
}

static int begin(struct probity_session *session, int is_child)
{
    struct probity_dumps *dumps = &session->dumps;
    uint64_t rate = probity_live_rate(&session->live);

    condition_count = 0;
    is_endless_reported = 0;
    forget_functions();
    if (watch != NULL)
        probity_watch_close(watch);
    watch = dumps->watch = NULL;
    probity_trigger_has_gaps = 0;
    memset(&dumps->notices, 0, offsetof(struct probity_notices, notice));
    dumps->is_on = session->settings.has_dumps && !probity_external_is(session);
    probity_switches_begin(is_child);
    probity_change_begin(session);
    if (!dumps->is_on)
        return 0;
    dumps->calls = &probity_dumps_calls;
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
    generation_s = 0;
    result = take_conditions(session);
    if (result != 0)
        return result;
    session->writer.dumps = dumps;
    return 0;
}

const struct probity_trigger_parts *probity_trigger_parts(void)
{
    static const struct probity_trigger_parts parts = {conditions, limits,     &condition_count,
                                                       &watch,     &are_added, is_name_of,
                                                       is_site_name};

    return &parts;
}

/* Reports that the writer thread ended before it wrote a dump that was requested. */
static void report_unwritten(const struct probity_session *session)
{
    char text[256];

    if (session->dumps.windows == 0 && !probity_dumps_are_asked(&session->dumps))
        return;
    snprintf(text, sizeof text,
             "dump '%.100s' was not written: the exit ended the writer thread; the trace has its "
             "records (call probity_stop() before the exit)",
             session->dumps.pattern);
    probity_session_say_once(text);
}

static void report(struct probity_session *session)
{
    uint32_t *failure = &session->dumps.failure_to_report;
    uint32_t error = __atomic_load_n(failure, __ATOMIC_ACQUIRE);
    char text[256];

    if (PROBITY_OS_THREADS_ARE_GONE() &&
        __atomic_load_n(&session->state, __ATOMIC_RELAXED) == PROBITY_SESSION_ENDING)
        report_unwritten(session);
    if (error == 0 || __atomic_exchange_n(failure, 0, __ATOMIC_ACQ_REL) == 0)
        return;
    snprintf(text, sizeof text, "dump '%.100s' was not written: %.80s; recording continues",
             session->dumps.pattern, strerror((int)error));
    probity_session_say_once(text);
}

const struct probity_trigger_calls probity_trigger_calls = {
    .read_settings = probity_trigger_read_settings,
    .begin = begin,
    .function_declared = function_declared,
    .site_declared = site_declared,
    .switch_declared = probity_switches_declared,
    .switch_site = probity_switches_site,
    .call_ended = call_ended,
    .gap_found = gap_found,
    .compare = compare_met,
    .keep_words = keep_words,
    .report = report};
