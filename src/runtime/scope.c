/* SPDX-License-Identifier: MIT
 *
 * scope.c: function scopes outside the inline path of probity_scope.h: at the first call, in
 * profile mode, if other scopes ended without a leave, and with values other than numbers. Runs in
 * the traced thread; async-signal-safe except formatters.
 */
#include <errno.h>
#include <time.h>

#include "base/bytes.h"
#include "base/cpu.h"
#include "base/os.h"
#include "base/thread_local.h"
#include "probity_scope.h"
#include "runtime/budget.h"
#include "runtime/declare.h"
#include "runtime/frames.h"
#include "runtime/inside.h"
#include "runtime/levels.h"
#include "runtime/profile.h"
#include "runtime/record.h"
#include "runtime/scope.h"
#include "runtime/session.h"
#include "runtime/thread.h"
#include "runtime/watch.h"
#include "runtime/values.h"

PROBITY_THREAD_LOCAL(PROBITY_API, void *, probity_scope_exceptions);

static int is_profile_mode(void)
{
    return __atomic_load_n(&probity_scope_profiles, __ATOMIC_RELAXED) & 1;
}

/* Returns the code of a function whose calls are compared with conditions; 0 if they are not, or if
 * the function is not declared yet in this recording. */
static uint32_t watched_code(const struct probity_site_function *function)
{
    uint32_t number = __atomic_load_n(&function->number, __ATOMIC_RELAXED);

    return number != 0 && probity_trigger_of(number - 1) != 0 && probity_session_recording() != NULL
               ? PROBITY_CODE_FIRST + 2 * (number - 1) + 1
               : 0;
}

/* Clears this thread's counter if the function is recorded: it may have been switched on meanwhile
 * (switches.c). */
static void forget_if_recorded(const struct probity_site_function *function)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!probity_budget_counts(function) && probity_scope_counters != NULL)
        __atomic_store_n(
            &probity_scope_counters[__atomic_load_n(&function->number, __ATOMIC_RELAXED)], NULL,
            __ATOMIC_RELAXED);
}

static __attribute__((noinline)) uint64_t enter_first(struct probity_site_function *function)
{
    uint32_t code = __atomic_load_n(&function->code, __ATOMIC_ACQUIRE);
    uint32_t depth = probity_scope_depth;
    int before = errno;

    if (code == 0 && !probity_budget_counts(function))
        code = watched_code(function);
    /* Declaring the function starts recording if that is undecided, and so determines the mode. */
    if (code == 0 && !probity_budget_counts(function)) {
        code = probity_declare_function(function);
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* see probity_budget_clear_codes() */
    }
    errno = before;
    if (code != 0 && is_profile_mode())
        return probity_profile_enter(function);
    /* The descriptor is changed only here, where its library is certainly loaded. */
    if (probity_budget_counts(function)) {
        __atomic_store_n(&function->code, 0, __ATOMIC_RELAXED);
        probity_profile_count(function);
        forget_if_recorded(function);
        return 0;
    }
    uint32_t watched = watched_code(function);
    /* A condition may have been added while the function was declared. */
    if (watched != 0)
        __atomic_store_n(&function->code, 0, __ATOMIC_RELAXED);
    return code | (uint64_t)depth << 32 | (watched != 0 ? PROBITY_SCOPE_ENTERED_WATCHED : 0);
}

/* This function and the next one are the hot path of profile mode: they call other functions only
 * at their ends, so that no register is saved. */
PROBITY_API uint64_t probity_scope_enter_slow(struct probity_site_function *function)
{
    if (is_profile_mode())
        return probity_profile_enter(function);
    return enter_first(function);
}

PROBITY_API void probity_scope_leave_slow(uint32_t code, uint32_t depth, uint32_t place)
{
    if (code != PROBITY_SCOPE_PROFILED) {
        probity_frames_leave(place);
        return;
    }
    probity_frames_free(place + 1);
    probity_profile_leave(depth);
}

PROBITY_API uint64_t probity_scope_leave_raised(uint32_t code)
{
    struct probity_cpu_registers kept;
    uint8_t payload[8];
    int before = errno;

    probity_cpu_keep(&kept);
    probity_put_u32(payload, (code - PROBITY_CODE_FIRST) / 2);
    probity_put_u32(payload + 4, PROBITY_FORMAT_RAISED);
    uint64_t tick = probity_record_values(PROBITY_EVENT_LEAVE, payload, sizeof payload);
    probity_cpu_restore(&kept);
    errno = before;
    return tick;
}

void probity_scope_pause_slow(int is_pause)
{
    int before = errno;

    probity_profile_pause(is_pause);
    errno = before;
}

/* Stores what precedes the values in an event of this kind: site number, format, tick. */
static void put_head(struct probity_payload *payload, uint32_t kind, uint32_t code,
                     uint64_t entered, uint32_t format)
{
    uint8_t head[16];
    uint8_t *at = probity_put_head(head, kind, code, format, entered);

    probity_payload_put(payload, head, (size_t)(at - head));
}

PROBITY_API uint64_t probity_values_slow(uint32_t kind, uint32_t code, uint64_t entered,
                                         struct probity_site_format *format,
                                         const struct probity_value *values)
{
    const struct probity_session *session = probity_session_recording();
    struct probity_payload payload; /* not initialized, to avoid zeroing 2 KiB */
    int before = errno;

    payload.used = 0;
    payload.is_full = 0;
    payload.image = session != NULL ? &session->image : NULL;
    if (format != NULL) {
        uint32_t number = probity_declare_format(format);
        put_head(&payload, kind, code, entered, number);
        for (uint32_t i = 0; number != 0 && i < format->count; i++)
            probity_payload_put_value(&payload, probity_format_type(format, i), &values[i]);
    }
    uint64_t tick = probity_record_values(kind, payload.bytes, payload.used);
    errno = before;
    return tick;
}

PROBITY_API size_t probity_text_length(const void *text, size_t unit, size_t most,
                                       int *ret_is_whole)
{
    const struct probity_session *session = probity_session_recording();

    return probity_text_pointed(session != NULL ? &session->image : NULL, text, unit, most,
                                ret_is_whole);
}

static uint64_t scope_ticks(void)
{
    struct probity_session *session = probity_session_recording();
    struct probity_os_signals before;
    uint64_t tick = 0;

    if (session != NULL)
        return probity_clock_ticks(session->live.clock);
    int saved = errno;
    probity_inside_begin(&before);
    session = probity_session_enter();
    if (session != NULL) {
        tick = probity_clock_ticks(session->live.clock);
        probity_session_leave(session);
    }
    probity_inside_end(&before);
    errno = saved;
    return tick;
}

/* ---- FN_ENTRY ----------------------------------------------------------------------------------
 */

/* Begins a scope as probity_scope_begin() does. Returns its code; 0 in profile mode or if it is not
 * recorded. */
static uint32_t begin_late(struct probity_scope_here *scope, uint64_t minus, uint64_t where)
{
    uint32_t place = probity_scope_jumped(probity_scope_depth, minus, where);
    uint64_t entered = probity_scope_enter_slow(scope->function);

    scope->code = (uint32_t)entered;
    scope->depth = (uint32_t)(entered >> 32) & ~PROBITY_SCOPE_WATCHED;
    scope->place = place;
    if (scope->code != 0)
        probity_scope_take(place, minus, where);
    if (entered & PROBITY_SCOPE_ENTERED_WATCHED)
        scope->place |= PROBITY_SCOPE_WATCHED;
    return scope->code > PROBITY_SCOPE_PROFILED ? scope->code : 0;
}

void probity_scope_defer_slow(struct probity_scope_here *scope, uint64_t minus,
                                          uint64_t where)
{
    scope->pauses->count = scope->pauses->is_paused = 0;
    scope->entered = scope_ticks();
    if (scope->entered == 0 || !is_profile_mode())
        return;
    begin_late(scope, minus, where);
    if (scope->code != 0)
        probity_profile_defer(scope->depth);
}

int probity_scope_due_slow(struct probity_scope_here *scope, uint64_t minus,
                                       uint64_t where)
{
    if (scope->code == PROBITY_SCOPE_PROFILED) {
        probity_profile_confirm(scope->depth);
        return 0;
    }
    return begin_late(scope, minus, where) != 0;
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec now = {0, 0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void probity_scope_keep_pause(struct probity_scope_here *scope, int is_pause)
{
    enum { KEPT = sizeof scope->pauses->pause / sizeof *scope->pauses->pause };
    struct probity_scope_pauses *pauses = scope->pauses;
    uint64_t tick = scope_ticks();
    int before = errno;

    /* A call that is only counted keeps no pauses. */
    if (pauses == NULL || tick == 0 || pauses->is_paused == (unsigned)is_pause)
        return;
    uint64_t cpu_ns = thread_cpu_ns();
    pauses->is_paused = (unsigned)is_pause;
    if (is_pause && pauses->count == KEPT) {
        pauses->count--;
        pauses->pause[KEPT - 1].from = tick - (pauses->pause[KEPT - 1].to -
                                               pauses->pause[KEPT - 1].from);
        pauses->pause[KEPT - 1].cpu_ns = cpu_ns - pauses->pause[KEPT - 1].cpu_ns;
    } else if (is_pause) {
        pauses->pause[pauses->count].from = tick;
        pauses->pause[pauses->count].cpu_ns = cpu_ns;
    } else {
        pauses->pause[pauses->count].to = tick;
        pauses->pause[pauses->count].cpu_ns = cpu_ns - pauses->pause[pauses->count].cpu_ns;
        pauses->count++;
    }
    errno = before;
}

void probity_scope_paused_slow(struct probity_scope_here *scope)
{
    struct probity_scope_pauses *pauses = scope->pauses;
    uint8_t payload[sizeof pauses->pause], *at = payload;
    int is_paused = (int)pauses->is_paused, before = errno;

    if (is_paused)
        probity_scope_keep_pause(scope, 0);
    for (uint32_t i = 0; i < pauses->count; i++, at += 24) {
        probity_put_u64(at, pauses->pause[i].from);
        probity_put_u64(at + 8, pauses->pause[i].to);
        probity_put_u64(at + 16, pauses->pause[i].cpu_ns);
    }
    probity_record_values(PROBITY_EVENT_PAUSED_BEFORE, payload, (size_t)(at - payload));
    if (is_paused)
        probity_record_values(PROBITY_EVENT_PAUSE, NULL, 0);
    pauses->count = 0;
    errno = before;
}

PROBITY_API void probity_profiling_set(int is_on)
{
    uint8_t payload = is_on != 0;

    if (is_profile_mode()) { /* the trace does not grow in profile mode */
        probity_profile_set_timed(is_on != 0);
        return;
    }
    probity_record_event_here(PROBITY_EVENT_PROFILING, &payload, sizeof payload);
}
