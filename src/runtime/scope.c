/* SPDX-License-Identifier: MIT
 *
 * scope.c: what a function scope does when it does not take the inline path of probity_scope.h: the
 * first time at a place, in profile mode, where others were left without a record, and with values
 * that are more than numbers. Runs in the traced thread; signal handlers too, but for formatters.
 */
#include <errno.h>

#include "base/bytes.h"
#include "base/os.h"
#include "probity_scope.h"
#include "runtime/declare.h"
#include "runtime/levels.h"
#include "runtime/profile.h"
#include "runtime/record.h"
#include "runtime/thread.h"
#include "runtime/values.h"

PROBITY_API __thread uint32_t probity_scope_depth __attribute__((tls_model("initial-exec")));
PROBITY_API __thread struct probity_scope_frame probity_scope_frame[PROBITY_SCOPE_FRAMES]
    __attribute__((tls_model("initial-exec")));

static int is_profile_mode(void)
{
    return __atomic_load_n(&probity_scope_profiles, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) uint64_t enter_first(struct probity_site_function *function)
{
    uint32_t code = __atomic_load_n(&function->code, __ATOMIC_ACQUIRE);
    uint32_t depth = probity_scope_depth;
    int before = errno;

    /* Declaring starts the recording where that is undecided, and so decides the mode. */
    if (code == 0)
        code = probity_declare_function(function);
    errno = before;
    if (code != 0 && is_profile_mode())
        return probity_profile_enter(function);
    return code | (uint64_t)depth << 32;
}

/* These two are the hot path of profile mode: calls at their ends only, so that they save no
 * register. */
PROBITY_API uint64_t probity_scope_enter_slow(struct probity_site_function *function)
{
    if (is_profile_mode())
        return probity_profile_enter(function);
    return enter_first(function);
}

/* The innermost `count` scopes were left without a record. */
static __attribute__((noinline)) void tell_unwound(uint32_t count)
{
    uint8_t payload[4];
    int before = errno;

    if (is_profile_mode()) {
        probity_profile_unwind(count);
    } else {
        probity_put_u32(payload, count);
        probity_record_values(PROBITY_EVENT_UNWOUND, payload, sizeof payload);
    }
    errno = before;
}

static void free_places(uint32_t from)
{
    for (uint32_t i = from; i < PROBITY_SCOPE_FRAMES && i < probity_scope_depth; i++)
        __atomic_store_n(&probity_scope_frame[i].minus, 0, __ATOMIC_RELAXED);
}

PROBITY_API uint32_t probity_scope_jumped(uint32_t place, uint64_t minus, uint64_t key)
{
    const struct probity_scope_frame *frame = probity_scope_frame;
    uint32_t alive = place;

    /* Frames of coroutines, and of handlers with a stack of their own, do not compare. */
    int is_comparable = probity_os_is_own_stack((uintptr_t)(0 - minus)) &&
                        probity_os_is_own_stack((uintptr_t)(0 - frame[place - 1].minus));
    /* What lies above a scope that is gone is gone too. */
    for (uint32_t i = place; is_comparable && i > 0 && frame[i - 1].minus >= minus; i--) {
        if (probity_scope_is_over(&frame[i - 1], minus, key))
            alive = i - 1;
    }
    if (alive < place) {
        tell_unwound(place - alive);
        free_places(alive);
        probity_scope_depth = alive;
    }
    return alive;
}

/* Scopes above the one that is left now. */
static __attribute__((noinline)) void leave_others(uint32_t place)
{
    uint32_t lost = probity_scope_depth - place - 1;

    /* Else the scope is another stack's, which went on in this thread. */
    if ((int32_t)lost > 0) {
        free_places(place + 1);
        tell_unwound(lost);
    }
}

PROBITY_API void probity_scope_leave_slow(uint32_t code, uint32_t depth, uint32_t place)
{
    if (code != PROBITY_SCOPE_PROFILED) {
        leave_others(place);
        return;
    }
    free_places(place + 1);
    probity_profile_leave(depth);
}

PROBITY_API void probity_scope_pause_slow(int is_pause)
{
    int before = errno;

    probity_profile_pause(is_pause);
    errno = before;
}

/* Site number, format, tick: what stands before the values of this kind. */
static void put_head(struct probity_payload *payload, uint32_t kind, uint32_t code,
                     uint64_t entered, uint32_t format)
{
    uint8_t head[16];
    uint8_t *at = probity_put_head(head, kind, code, format, entered);

    probity_payload_put(payload, head, (size_t)(at - head));
}

PROBITY_API void probity_values_slow(uint32_t kind, uint32_t code, uint64_t entered,
                                     struct probity_site_format *format,
                                     const struct probity_value *values)
{
    const struct probity_session *session = probity_session_recording();
    struct probity_payload payload; /* bytes stay as they are: 2 KiB need no zeroes */
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
    probity_record_values(kind, payload.bytes, payload.used);
    errno = before;
}

PROBITY_API uint64_t probity_scope_ticks(void)
{
    struct probity_session *session = probity_session_recording();
    struct probity_os_signals before;
    uint64_t tick = 0;

    if (session != NULL)
        return probity_clock_ticks(session->live.clock);
    int saved = errno;
    probity_os_signals_block(&before);
    session = probity_session_enter();
    if (session != NULL) {
        tick = probity_clock_ticks(session->live.clock);
        probity_session_leave(session);
    }
    probity_os_signals_restore(&before);
    errno = saved;
    return tick;
}

PROBITY_API void probity_profiling_set(int is_on)
{
    uint8_t payload = is_on != 0;

    if (is_profile_mode()) { /* in which no trace grows */
        probity_profile_set_timed(is_on != 0);
        return;
    }
    probity_record_event_here(PROBITY_EVENT_PROFILING, &payload, sizeof payload);
}
