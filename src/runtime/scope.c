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
    probity_scope_depth += code != 0;
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

static __attribute__((noinline)) void leave_others(uint32_t depth)
{
    uint8_t payload[4];
    uint32_t lost = probity_scope_depth - depth - 1;
    int before = errno;

    if ((int32_t)lost > 0) {
        probity_put_u32(payload, lost);
        probity_record_values(PROBITY_EVENT_UNWOUND, payload, sizeof payload);
    } /* else the scope is another stack's, which went on in this thread */
    errno = before;
}

PROBITY_API void probity_scope_leave_slow(uint32_t code, uint32_t depth)
{
    if (code == PROBITY_SCOPE_PROFILED)
        probity_profile_leave(depth);
    else
        leave_others(depth);
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
