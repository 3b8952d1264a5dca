/* SPDX-License-Identifier: MIT
 *
 * scope_path.c: the path that every recorded scope takes (begin, enter, leave) and events with
 * values. Other functions are called only in unusual cases. Async-signal-safe.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/cpu.h"
#include "base/inlined.h"
#include "probity_scope.h"
#include "runtime/budget.h"
#include "runtime/declare.h"
#include "runtime/frames.h"
#include "runtime/profile.h"
#include "runtime/record.h"
#include "runtime/scope.h"

/* Returns the low bits of the return address in a frame. */
static uint64_t back_of(uintptr_t frame)
{
    return __atomic_load_n(PROBITY_VOLATILE(frame + sizeof(void *)), __ATOMIC_RELAXED) & 0xffff;
}

/* A scope that is about to begin. */
struct coming {
    uint64_t minus, where; /* of struct probity_scope_place */
    uint32_t code, place;
};

static uint64_t where_of(const struct probity_scope_here *scope, const void *code_address)
{
    return (uint64_t)PROBITY_NUMBER(code_address) << 16 | (PROBITY_NUMBER(scope) & 0xffff);
}

/* Returns whether the function is prepared, and with it what is needed to count exceptions. */
static int is_prepared(const struct probity_site_function *function)
{
    return function != NULL &&
           (probity_scope_exceptions != NULL || !(function->flags & PROBITY_FUNCTION_CXX));
}

/* code_address: an address in the function to which the scope belongs. */
static inline __attribute__((always_inline)) struct coming
coming(struct probity_scope_here *scope, struct probity_site_function *function, uintptr_t frame,
       const void *code_address)
{
    scope->function = function;
    scope->ret = NULL;
    scope->raised = probity_scope_raised();
    return (struct coming){
        .minus = (0 - (uint64_t)frame) << 16 | back_of(frame),
        .where = where_of(scope, code_address),
        .code = __builtin_expect(is_prepared(function), 1)
                    ? __atomic_load_n(&function->code, __ATOMIC_RELAXED)
                    : 0,
        .place = probity_scope_depth};
}

static inline __attribute__((always_inline)) int is_usual(const struct coming *coming)
{
    int profiles = __atomic_load_n(&probity_scope_profiles, __ATOMIC_RELAXED);

    return __builtin_expect(coming->code != 0 && !profiles &&
                                coming->place < PROBITY_SCOPE_FRAMES &&
                                !probity_scope_is_suspect(coming->place,
                                                          coming->minus & ~UINT64_C(0xffff)), 1);
}

static inline __attribute__((always_inline)) void
begin_usual(struct probity_scope_here *scope, const struct coming *coming)
{
    scope->code = coming->code;
    scope->place = coming->place;
    scope->is_open = 1;
    probity_scope_take(coming->place, coming->minus, coming->where);
}

/* Returns the code for the scope of a call that is only counted and records no parameters. */
static inline uint32_t counted_code(const struct probity_site_function *function)
{
    int parameters = __atomic_load_n(&probity_scope_param_level, __ATOMIC_RELAXED);

    return function->level <= parameters ? PROBITY_SCOPE_DEFERRED : 0;
}

static inline void set_code(struct probity_scope_here *scope, uint32_t code)
{
    scope->code = code;
    scope->is_open = code != 0;
}

/* Counts the call if its function is only counted, and this thread has counted a call of it
 * before. */
static inline __attribute__((always_inline)) int count(struct probity_scope_here *scope)
{
    const struct probity_site_function *function = scope->function;
    uint64_t **counters = probity_scope_counters;

    if (counters == NULL || function == NULL ||
        __atomic_load_n(&function->code, __ATOMIC_RELAXED) != 0)
        return 0;
    uint64_t *counter =
        __atomic_load_n(&counters[__atomic_load_n(&function->number, __ATOMIC_RELAXED)],
                        __ATOMIC_RELAXED);
    if (counter == NULL)
        return 0;
    probity_cpu_add(counter, 1);
    scope->pauses = NULL;
    set_code(scope, counted_code(function));
    return 1;
}

static int is_counted(const struct probity_site_function *function)
{
    return __atomic_load_n(&function->code, __ATOMIC_RELAXED) == 0 &&
           probity_budget_counts(function);
}

/* C++ only: finds out from the C++ library, once per thread, where it counts exceptions. */
static void *(*find_exceptions)(void);

PROBITY_API void probity_scope_exceptions_by(void *(*find)(void))
{
    if (__atomic_exchange_n(&find_exceptions, find, __ATOMIC_RELAXED) == NULL)
        probity_scope_exceptions = NULL; /* look it up again */
}

static uint32_t raised_now(const struct probity_site_function *function)
{
    /* Used by programs without exceptions. */
    static uint64_t none[2];
    void *(*find)(void) = __atomic_load_n(&find_exceptions, __ATOMIC_RELAXED);

    if (probity_scope_exceptions == NULL && function->flags & PROBITY_FUNCTION_CXX)
        probity_scope_exceptions = find != NULL ? find() : none;
    return probity_scope_raised();
}

/* Prepares the first call of a function or thread. Returns whether the scope can begin. */
static __attribute__((noinline)) int prepare(struct probity_scope_here *scope,
                                             struct probity_site_function **function,
                                             const void *note)
{
    struct probity_cpu_registers kept;

    probity_cpu_keep(&kept);
    if (scope->function == NULL)
        scope->function = probity_scope_describe(function, note);
    if (scope->function != NULL)
        scope->raised = raised_now(scope->function);
    probity_cpu_restore(&kept);
    return scope->function != NULL;
}

/* Returns the place, without the bit that marks a call whose duration is compared. */
static uint32_t place_of(const struct probity_scope_here *scope)
{
    return scope->place & ~PROBITY_SCOPE_WATCHED;
}

/* Returns whether the scope is in profile mode and needs nothing else. */
static inline __attribute__((always_inline)) int
is_only_profiled(const struct probity_scope_here *scope, uint32_t place, uint64_t minus)
{
    return __atomic_load_n(&probity_scope_profiles, __ATOMIC_RELAXED) & 1 &&
           place < PROBITY_SCOPE_FRAMES && is_prepared(scope->function) &&
           __atomic_load_n(&scope->function->code, __ATOMIC_RELAXED) != 0 &&
           !probity_scope_is_suspect(place, minus & ~UINT64_C(0xffff));
}

static inline __attribute__((always_inline)) void
begin_profiled(struct probity_scope_here *scope, uint32_t place, uint64_t minus, uint64_t where)
{
    uint64_t entered = probity_profile_enter(scope->function);

    scope->pauses = NULL;
    scope->place = place;
    scope->depth = (uint32_t)(entered >> 32);
    set_code(scope, (uint32_t)entered);
    if (scope->code != 0)
        probity_scope_take(place, minus, where);
}

/* Begins a scope that may be the first of its function or thread, in profile mode, after a jump, or
 * deeply nested. */
static inline __attribute__((always_inline)) uint32_t
begin_any(struct probity_scope_here *scope, struct probity_site_function **function, uint64_t minus,
          uint64_t where, const void *note)
{
    uint32_t place = probity_scope_depth;

    if (!is_prepared(scope->function) && !prepare(scope, function, note))
        return 0;
    scope->pauses = NULL;
    if (probity_scope_is_suspect(place, minus & ~UINT64_C(0xffff)))
        place = probity_scope_jumped(place, minus, where);
    scope->place = place;
    uint64_t entered = probity_scope_enter_slow(scope->function);
    scope->depth = (uint32_t)(entered >> 32) & ~PROBITY_SCOPE_WATCHED;
    set_code(scope, (uint32_t)entered);
    if (scope->code != 0) {
        probity_scope_take(place, minus, where);
        if (entered & PROBITY_SCOPE_ENTERED_WATCHED) {
            scope->place |= PROBITY_SCOPE_WATCHED;
            /* The tick of the enter replaces this once it is recorded. */
            scope->entered = probity_scope_watch_begin();
        }
    } else if (is_counted(scope->function)) {
        set_code(scope, counted_code(scope->function));
    }
    return scope->code > PROBITY_SCOPE_DEFERRED ? scope->code : 0;
}

static __attribute__((noinline)) uint32_t begin_unusual(struct probity_scope_here *scope,
                                                        struct probity_site_function **function,
                                                        uint64_t minus, uint64_t where,
                                                        const void *note)
{
    return begin_any(scope, function, minus, where, note);
}

/* Returns whether the duration of the call is compared. */
static int is_watched(const struct probity_scope_here *scope)
{
    return (scope->place & PROBITY_SCOPE_WATCHED) != 0;
}

static inline __attribute__((always_inline)) void hit_begun(struct probity_scope_here *scope,
                                                            uint32_t code)
{
    if (__builtin_expect(is_watched(scope), 0))
        scope->entered = probity_scope_watch_hit(code);
    else
        probity_hit(code);
}

static struct probity_site_function *described(struct probity_site_function *const *function)
{
    /* Acquire, a plain load on x86: pairs with probity_scope_describe(). */
    return __atomic_load_n(function, __ATOMIC_ACQUIRE);
}

/* Functions for unusual cases are called last, so that no registers are saved for them. */
static __attribute__((noinline)) uint32_t
begin_called_from(struct probity_scope_here *scope, struct probity_site_function **function,
                  uintptr_t frame, const void *note, const void *code_address)
{
    const struct coming here = coming(scope, described(function), frame, code_address);

    if (!is_usual(&here))
        return count(scope) ? 0
                            : begin_unusual(scope, function, here.minus, here.where, note);
    begin_usual(scope, &here);
    return here.code;
}

/* Never inlined, even if programs are optimized together with the library: the return address must
 * be in the function that has the scope. */
PROBITY_API __attribute__((noinline)) uint32_t
probity_scope_begin_frame(struct probity_scope_here *scope, struct probity_site_function **function,
                          uintptr_t frame, const void *note)
{
    return begin_called_from(scope, function, frame, note, __builtin_return_address(0));
}

PROBITY_API __attribute__((noinline)) void
probity_scope_enter_frame(struct probity_scope_here *scope, struct probity_site_function **function,
                          uintptr_t frame, const void *note)
{
    uint32_t code =
        begin_called_from(scope, function, frame, note, __builtin_return_address(0));

    if (code != 0)
        hit_begun(scope, code);
}

PROBITY_API void probity_scope_enter_site(struct probity_scope_here *scope,
                                          struct probity_site_function **function, uintptr_t frame,
                                          const void *note, const void *code)
{
    uint32_t code_of_enter = begin_called_from(scope, function, frame, note, code);

    if (code_of_enter != 0)
        hit_begun(scope, code_of_enter);
}

#if PROBITY_SCOPE_NOTED
/* Returns the note: its distance is the operand of the instruction after the call. */
static const void *note_after(const uint8_t *back)
{
    int32_t distance;

    memcpy(&distance, back + 1, sizeof distance);
    return back + 1 + distance;
}

static __attribute__((noinline)) void
enter_rare_at(struct probity_scope_here *scope, struct probity_site_function **function,
              uint64_t minus, uint64_t where, const uint8_t *back)
{
    uint32_t code = begin_any(scope, function, minus, where, note_after(back));

    if (code != 0)
        hit_begun(scope, code);
}

/* Begins the scope of a function that is inlined into that of the scope below. Returns the code of
 * its enter, or 0 if this is not such a scope. */
static inline __attribute__((always_inline)) uint32_t
begin_inlined(struct probity_scope_here *scope, uint32_t place, uint64_t minus, uint64_t where)
{
    const struct probity_site_function *function = scope->function;
    struct coming here = {.minus = minus, .where = where, .place = place};

    if (is_prepared(function))
        here.code = __atomic_load_n(&function->code, __ATOMIC_RELAXED);
    if (here.code == 0 || place >= PROBITY_SCOPE_FRAMES ||
        __atomic_load_n(&probity_scope_profiles, __ATOMIC_RELAXED) ||
        !probity_scope_is_inlined(&probity_frames_pairs, place, minus, where))
        return 0;
    begin_usual(scope, &here);
    return here.code;
}

static __attribute__((noinline)) void
enter_unusual_at(struct probity_scope_here *scope, struct probity_site_function **function,
                 uint64_t minus, uint64_t where, const uint8_t *back)
{
    uint32_t place = probity_scope_depth;

    if (__builtin_expect(is_only_profiled(scope, place, minus), 1)) {
        begin_profiled(scope, place, minus, where);
        return;
    }
    uint32_t code = begin_inlined(scope, place, minus, where);
    if (__builtin_expect(code != 0, 1))
        probity_hit(code);
    else
        enter_rare_at(scope, function, minus, where, back);
}

/* Called by the hook of the same name. back: the hook's return address. */
__attribute__((noinline, used, visibility("hidden"))) void
probity_scope_enter_at(struct probity_scope_here *scope, struct probity_site_function **function,
                       uintptr_t frame, const uint8_t *back)
{
    const struct coming here = coming(scope, described(function), frame, back);

    if (!is_usual(&here)) {
        if (!count(scope))
            enter_unusual_at(scope, function, here.minus, here.where, back);
        return;
    }
    begin_usual(scope, &here);
    probity_hit(here.code);
}
#endif

PROBITY_API uint8_t *probity_event_begin(struct probity_event_room *room, uint32_t kind,
                                         uint32_t bytes)
{
    return probity_event_reserve(room, kind, bytes);
}

/* Stores a value of 1, 2, 4, 8 or 16 bytes. */
static void put_value(uint8_t *at, const void *value, uint32_t bytes)
{
    switch (bytes) {
    case 1: memcpy(at, value, 1); break;
    case 2: memcpy(at, value, 2); break;
    case 4: memcpy(at, value, 4); break;
    case 8: memcpy(at, value, 8); break;
    default: memcpy(at, value, 16);
    }
}

static __attribute__((noinline)) uint64_t format_value(const struct probity_scope_here *scope)
{
    struct probity_value value = {scope->ret, 0, scope->ret_formatter, scope->ret_how};

    if (scope->ret_describe != NULL)
        value = scope->ret_describe(scope->ret);
    return probity_values_slow(8, scope->code, 0, scope->ret_format, &value);
}

/* Records values of fixed size if there is no room yet or the format is not declared. Uses little
 * stack, since a signal handler's stack may be small. Returns the record's tick, or 0 if it is
 * dropped. */
static __attribute__((noinline)) uint64_t record_bytes(uint32_t kind, uint32_t code,
                                                       struct probity_site_format *format,
                                                       const void *values, uint32_t bytes)
{
    uint8_t payload[8 + 16 * PROBITY_SCOPE_VALUES_MAX];
    int before = errno;
    uint32_t number = probity_declare_format(format);
    uint8_t *at = probity_put_head(payload, kind, code, number, 0);

    if (number != 0) {
        memcpy(at, values, bytes);
        at += bytes;
    }
    uint64_t tick = probity_record_values(kind, payload, (size_t)(at - payload));
    errno = before;
    return tick;
}

/* Handles a thread without room, a value that is not a number, and a call that is compared. */
static __attribute__((cold, noinline)) uint64_t
leave_any_value(const struct probity_scope_here *scope)
{
    struct probity_cpu_registers kept;
    uint64_t tick;

    probity_cpu_keep(&kept);
    if (scope->ret_bytes != 0)
        tick = record_bytes(8, scope->code, scope->ret_format, scope->ret, scope->ret_bytes);
    else
        tick = format_value(scope);
    probity_cpu_restore(&kept);
    return tick;
}

/* Records the leave with the value of the variable named by FN_RETVAL. */
static __attribute__((noinline)) void leave_value(const struct probity_scope_here *scope)
{
    struct probity_event_room room;
    uint32_t number = __atomic_load_n(&scope->ret_format->number, __ATOMIC_RELAXED);
    uint8_t *at = NULL;

    if (__builtin_expect(scope->ret_bytes != 0 && number != 0, 1))
        at = probity_event_reserve(&room, 8, 8 + scope->ret_bytes);
    if (__builtin_expect(at == NULL, 0)) {
        leave_any_value(scope);
        return;
    }
    at = probity_put_head(at, 8, scope->code, number, 0);
    put_value(at, scope->ret, scope->ret_bytes);
    probity_event_publish(&room);
}

/* Always 0 for C code, which has no exceptions: the thread's count is that of its C++ code. */
static int is_left_by_exception(const struct probity_scope_here *scope)
{
    return __builtin_expect(probity_scope_raised() > scope->raised, 0) &&
           (scope->function->flags & PROBITY_FUNCTION_CXX);
}

static inline __attribute__((always_inline)) void
record_leave(const struct probity_scope_here *scope, uint32_t code)
{
    if (is_left_by_exception(scope))
        probity_scope_leave_raised(code);
    else if (__builtin_expect(scope->ret != NULL, 0))
        leave_value(scope);
    else
        probity_hit(code + 2);
}

/* Records the leave of a call whose duration is compared, and compares it. */
static __attribute__((noinline)) void leave_watched(const struct probity_scope_here *scope)
{
    struct probity_cpu_registers kept;
    uint64_t tick;

    probity_cpu_keep(&kept);
    if (is_left_by_exception(scope))
        tick = probity_scope_leave_raised(scope->code);
    else if (scope->ret != NULL)
        tick = leave_any_value(scope);
    else
        tick = probity_scope_watch_hit(scope->code + 2);
    probity_scope_watch_end(scope->function, scope->entered, tick);
    probity_cpu_restore(&kept);
}

/* Ends a scope that is in profile mode, above an abandoned scope, deeply nested, or watched by a
 * condition. */
static __attribute__((noinline)) void leave_unusual(const struct probity_scope_here *scope)
{
    uint32_t code = scope->code, place = place_of(scope);

    if (__builtin_expect(code == PROBITY_SCOPE_PROFILED && probity_scope_depth == place + 1, 1)) {
        probity_profile_leave(scope->depth);
        probity_scope_free(place);
        return;
    }
    if (code == PROBITY_SCOPE_PROFILED || probity_scope_depth != place + 1)
        probity_scope_leave_slow(code, scope->depth, place);
    probity_scope_free(place);
    if (code == PROBITY_SCOPE_PROFILED)
        return;
    if (is_watched(scope))
        leave_watched(scope);
    else
        record_leave(scope, code);
}

PROBITY_API void probity_scope_leave_open(struct probity_scope_here *scope)
{
    uint32_t code = scope->code;

    if (!scope->is_open)
        return;
    scope->is_open = 0;
    if (code == PROBITY_SCOPE_DEFERRED)
        return;
    if (__builtin_expect(code == PROBITY_SCOPE_PROFILED ||
                             probity_scope_depth != scope->place + 1 ||
                             scope->place >= PROBITY_SCOPE_FRAMES,
                         0)) {
        leave_unusual(scope);
        return;
    }
    probity_scope_free(scope->place);
    record_leave(scope, code);
}

/* ---- With values -------------------------------------------------------------------------------
 */

#if PROBITY_SCOPE_NOTED
static __attribute__((cold, noinline)) uint64_t
enter_any_values(uint32_t code, struct probity_scope_values *values, const void *block)
{
    struct probity_cpu_registers kept;

    probity_cpu_keep(&kept);
    uint64_t tick = record_bytes(7, code, &values->enter, block, values->bytes);
    probity_cpu_restore(&kept);
    return tick;
}

/* Copies words of four bytes: the program has just stored each value, and a load of two values
 * would wait until both are in the cache. Does not call memcpy(), which would change registers. */
static inline __attribute__((always_inline)) void put_block(uint8_t *at, const void *block,
                                                            uint32_t bytes)
{
    const uint32_t *from = block;
    volatile uint32_t *to = (volatile uint32_t *)at;

#pragma GCC unroll 4 /* so that branches on the usual counts are predicted wherever the code is */
    for (uint32_t i = 0; i < bytes; i += 4)
        *to++ = *from++;
}

static inline __attribute__((always_inline)) void
enter_values(uint32_t code, struct probity_scope_values *values, const void *block)
{
    struct probity_event_room room;
    uint32_t number = __atomic_load_n(&values->enter.number, __ATOMIC_RELAXED);
    uint8_t *at = NULL;

    if (__builtin_expect(number != 0, 1))
        at = probity_event_reserve(&room, 7, 8 + values->bytes);
    if (__builtin_expect(at == NULL, 0)) {
        enter_any_values(code, values, block);
        return;
    }
    put_block(probity_put_head(at, 7, code, number, 0), block, values->bytes);
    probity_event_publish(&room);
}

/* Sets the variable whose value the leave records; NULL: none. */
static inline __attribute__((always_inline)) void
set_return(struct probity_scope_here *scope, struct probity_scope_values *values, const void *ret)
{
    if (ret == NULL)
        return;
    scope->ret = ret;
    scope->ret_format = &values->leave;
    scope->ret_bytes = values->ret_bytes;
    scope->ret_describe = NULL;
    scope->ret_formatter = NULL;
    scope->ret_how = PROBITY_AT_VALUE;
}

/* Records the enter of a call whose duration is compared. */
static __attribute__((noinline)) void enter_watched(struct probity_scope_here *scope,
                                                    uint32_t code, const void *block,
                                                    const void *ret)
{
    struct probity_scope_values *values = probity_scope_values_of(scope->function);

    if (values != NULL)
        set_return(scope, values, ret);
    scope->entered = values != NULL && values->enter.count != 0
                         ? enter_any_values(code, values, block)
                         : probity_scope_watch_hit(code);
}

static __attribute__((noinline)) uint32_t
begin_unusual_at(struct probity_scope_here *scope, struct probity_site_function **function,
                 uint64_t minus, uint64_t where, const uint8_t *back)
{
    uint32_t code = begin_inlined(scope, probity_scope_depth, minus, where);

    return code != 0 ? code : begin_any(scope, function, minus, where, note_after(back));
}

/* Called by the hook of the same name. */
__attribute__((noinline, used, visibility("hidden"))) void
probity_scope_enter_values_at(struct probity_scope_here *scope,
                              struct probity_site_function **function, uintptr_t frame,
                              const uint8_t *back, const void *block, const void *ret)
{
    const struct coming here = coming(scope, described(function), frame, back);
    uint32_t code = here.code;

    if (is_usual(&here)) {
        begin_usual(scope, &here);
    } else {
        code = count(scope) ? 0 : begin_unusual_at(scope, function, here.minus, here.where, back);
        if (code == 0)
            return;
        if (is_watched(scope)) {
            enter_watched(scope, code, block, ret);
            return;
        }
    }
    struct probity_scope_values *values = probity_scope_values_of(scope->function);
    if (__builtin_expect(values == NULL, 0)) {
        probity_hit(code);
        return;
    }
    set_return(scope, values, ret);
    if (values->enter.count != 0)
        enter_values(code, values, block);
    else
        probity_hit(code);
}
#endif

/* ---- In a scope --------------------------------------------------------------------------------
 */

/* Returns (2^64 - the address of this frame) × 2^16: the deeper the frame, the greater. */
static uint64_t minus_of(uintptr_t frame)
{
    return (0 - (uint64_t)frame) << 16;
}

static void go_on(const struct probity_scope_here *scope, uintptr_t frame, const char *in)
{
    if (__builtin_expect(probity_scope_depth != scope->place + 1, 0))
        probity_scope_continues(scope, minus_of(frame), in);
}

PROBITY_API int probity_scope_is_reported(struct probity_scope_here *scope, uintptr_t frame,
                                          const char *in)
{
    if (!probity_scope_is_open(scope) || scope->code == PROBITY_SCOPE_DEFERRED)
        return 0;
    go_on(scope, frame, in);
    return scope->code != PROBITY_SCOPE_PROFILED;
}

PROBITY_API int probity_scope_is_shown(struct probity_scope_here *scope, uintptr_t frame,
                                       const char *in, int level, int flags)
{
    if (probity_scope_is_open(scope))
        return probity_scope_is_reported(scope, frame, in);
    return !(flags & PROBITY_FUNCTION_DEFERRED) &&
           level <= __atomic_load_n(&probity_scope_param_level, __ATOMIC_RELAXED);
}

PROBITY_API void probity_scope_defer_frame(struct probity_scope_here *scope,
                                           struct probity_site_function **function,
                                           uintptr_t frame, const void *note,
                                           struct probity_scope_pauses *pauses)
{
    const struct coming here =
        coming(scope, described(function), frame, __builtin_return_address(0));

    if (!prepare(scope, function, note))
        return;
    scope->pauses = pauses;
    scope->code = 0;
    probity_scope_defer_slow(scope, here.minus, here.where);
    set_code(scope, scope->code != 0 ? scope->code : PROBITY_SCOPE_DEFERRED);
}

PROBITY_API int probity_scope_is_due(struct probity_scope_here *scope, uintptr_t frame,
                                     const char *in, uint32_t *ret_code, uint64_t *ret_entered)
{
    if (!probity_scope_is_open(scope))
        return 0;
    int is_due, is_first = scope->code <= PROBITY_SCOPE_DEFERRED && scope->entered != 0;
    if (is_first) {
        *ret_entered = scope->entered;
        if (scope->code == PROBITY_SCOPE_PROFILED)
            go_on(scope, frame, in);
        is_due = probity_scope_due_slow(scope, minus_of(frame) | back_of(frame),
                                        where_of(scope, __builtin_return_address(0)));
        if (scope->code == 0)
            scope->code = PROBITY_SCOPE_DEFERRED;
    } else {
        is_due = probity_scope_is_reported(scope, frame, in);
    }
    *ret_code = scope->code;
    return is_due;
}

PROBITY_API void probity_scope_paused(struct probity_scope_here *scope, uint64_t entered)
{
    if (entered != 0 && scope->pauses->count + scope->pauses->is_paused != 0)
        probity_scope_paused_slow(scope);
}

PROBITY_API void probity_scope_pause_or_resume(struct probity_scope_here *scope, uintptr_t frame,
                                               const char *in, uint32_t kind)
{
    struct probity_event_room room;

    if (!probity_scope_is_open(scope))
        return;
    if (scope->code == PROBITY_SCOPE_DEFERRED) {
        probity_scope_keep_pause(scope, kind == 12);
        return;
    }
    go_on(scope, frame, in);
    if (scope->code == PROBITY_SCOPE_PROFILED)
        probity_scope_pause_slow(kind == 12);
    else if (probity_event_begin(&room, kind, 0) != NULL)
        probity_event_publish(&room);
    else
        probity_values_slow(kind, 0, 0, NULL, NULL);
}

PROBITY_API void probity_scope_set_return(struct probity_scope_here *scope, const void *ret,
                                          struct probity_site_format *format, uint32_t bytes,
                                          probity_describer *describe, probity_formatter *formatter,
                                          enum probity_value_how how)
{
    if (!probity_scope_is_open(scope))
        return;
    scope->ret = ret;
    scope->ret_format = format;
    scope->ret_bytes = bytes;
    scope->ret_describe = describe;
    scope->ret_formatter = formatter;
    scope->ret_how = how;
}

/* ---- Hooks -------------------------------------------------------------------------------------
 *
 * Any register may be in use at a call of these hooks. They save the registers for arguments and
 * results; of the others, the compiler saves those that it uses.
 */

#if PROBITY_SCOPE_NOTED
#define SAVE(register) "\tpushq %" register "\n\t.cfi_adjust_cfa_offset 8\n"
#define RESTORE(register) "\tpopq %" register "\n\t.cfi_adjust_cfa_offset -8\n"
#define BEGIN(name)                                                                                \
    "\t.globl " name "\n\t.type " name ", @function\n\t.p2align 4\n" name ":\n\t.cfi_startproc\n"  \
    "\t.byte 0xf3, 0x0f, 0x1e, 0xfa\n" /* endbr64 */
#define END(name) "\tret\n\t.cfi_endproc\n\t.size " name ", . - " name "\n"

/* Both are called with an aligned stack. */
__asm__("\t.text\n"
        BEGIN("probity_scope_enter_hook")
        SAVE("rcx") SAVE("rdx") SAVE("rsi") SAVE("rdi")
        "\tmovq %r10, %rdi\n\tmovq %r11, %rsi\n\tmovq %rax, %rdx\n\tmovq 32(%rsp), %rcx\n"
        "\tsubq $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n"
        "\tcall probity_scope_enter_at\n"
        "\taddq $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n"
        "\txorl %eax, %eax\n"
        RESTORE("rdi") RESTORE("rsi") RESTORE("rdx") RESTORE("rcx")
        END("probity_scope_enter_hook")
        BEGIN("probity_scope_enter_values_hook")
        SAVE("rcx") SAVE("rdx") SAVE("rsi") SAVE("rdi")
        "\tmovq %r10, %rdi\n\tmovq %r11, %rsi\n\tmovq %rax, %rdx\n\tmovq 32(%rsp), %rcx\n"
        "\tsubq $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n"
        "\tcall probity_scope_enter_values_at\n"
        "\taddq $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n"
        "\txorl %eax, %eax\n"
        RESTORE("rdi") RESTORE("rsi") RESTORE("rdx") RESTORE("rcx")
        END("probity_scope_enter_values_hook")
        BEGIN("probity_scope_leave_hook")
        SAVE("rax") SAVE("rdx")
        "\tmovq %r10, %rdi\n"
        "\tsubq $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n"
        "\tcall probity_scope_leave_at\n"
        "\taddq $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n"
        RESTORE("rdx") RESTORE("rax")
        END("probity_scope_leave_hook"));

__attribute__((noinline, used, visibility("hidden"))) void
probity_scope_leave_at(struct probity_scope_here *scope)
{
    probity_scope_leave_open(scope);
}

PROBITY_API void probity_scope_never(void)
{
    for (;;)
        continue;
}
#endif
