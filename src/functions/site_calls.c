/* SPDX-License-Identifier: MIT
 *
 * site_calls.c: called by the hooks of patched sites of FN_FUNC (sites_x86_64.S) in all but the
 * most usual cases; does the same as src/runtime/scope_path.c. Any register may be in use at such a
 * site, so this is compiled without vector registers (Makefile), and calls other functions with
 * them saved.
 */
#include <stddef.h>

#include "base/cpu.h"

#if PROBITY_CPU_HAS_FENTRY

#include "functions/hits_keeping_vectors.h"

#include "base/inlined.h"
#include "functions/call_stack.h"
#include "functions/keep_vectors.h"
#include "functions/scope_sites.h"

PROBITY_API uint64_t probity_scope_epoch;

/* Returns the low bits of the return address in a frame. */
static uint64_t back_of(uintptr_t frame)
{
    return __atomic_load_n(PROBITY_VOLATILE(frame + sizeof(void *)), __ATOMIC_RELAXED) & 0xffff;
}

static __attribute__((noinline)) void enter_unusual(struct probity_scope_here *scope,
                                                    uintptr_t frame, const uint8_t *back)
{
    PROBITY_KEEP_LOW_VECTORS(probity_site_enter_unusual, (uintptr_t)scope, frame, (uintptr_t)back);
}

/* Enters a function without a description: it was never called, or only while its level was off. */
static __attribute__((noinline)) void enter_first(struct probity_scope_here *scope, uintptr_t frame,
                                                  const uint8_t *back)
{
    if (probity_scope_is_on(probity_site_note(back)[1]))
        enter_unusual(scope, frame, back);
    else
        scope->is_open = 0;
}

/* Returns whether the scope, if it is not suspect, can begin without a call. */
static inline int is_plain(const struct probity_site_function *function, uint32_t place)
{
    return __atomic_load_n(&function->code, __ATOMIC_RELAXED) != 0 &&
           !__atomic_load_n(&probity_scope_profiles, __ATOMIC_RELAXED) &&
           place < PROBITY_SCOPE_FRAMES &&
           (probity_scope_exceptions != NULL || !(function->flags & PROBITY_FUNCTION_CXX));
}

/* Counts the call if its function is only counted, and this thread has counted a call of it before.
 * The scope is open if parameters are recorded in it nonetheless. */
static inline int count(struct probity_scope_here *scope,
                        const struct probity_site_function *function)
{
    if (!probity_calls_count(function))
        return 0;
    if (function->level <= __atomic_load_n(&probity_scope_param_level, __ATOMIC_RELAXED)) {
        scope->ret = NULL;
        scope->pauses = NULL;
        scope->code = PROBITY_SCOPE_DEFERRED;
        scope->is_open = probity_scope_epoch;
    } else {
        scope->is_open = 0;
    }
    return 1;
}

static inline __attribute__((always_inline)) void
enter_plain(struct probity_scope_here *scope, const struct probity_site_function *function,
            uint32_t place, uint64_t minus, uint64_t where)
{
    uint32_t code = __atomic_load_n(&function->code, __ATOMIC_RELAXED);

    scope->ret = NULL;
    scope->raised = probity_scope_raised();
    scope->code = code;
    scope->place = place;
    scope->is_open = probity_scope_epoch;
    probity_scope_take(place, minus, where);
    probity_hit(code);
}

/* Handles unusual cases, such as a function inlined into that of an open scope. */
static __attribute__((noinline)) void enter_other(struct probity_scope_here *scope, uintptr_t frame,
                                                  const uint8_t *back)
{
    struct probity_site_function *function = scope->function;
    uint32_t place = probity_scope_depth;
    uint64_t minus = (0 - (uint64_t)frame) << 16 | back_of(frame);
    uint64_t where = (uint64_t)PROBITY_NUMBER(back) << 16 | (PROBITY_NUMBER(scope) & 0xffff);

    if (is_plain(function, place) &&
        probity_scope_is_inlined(&probity_site_pairs, place, minus, where))
        enter_plain(scope, function, place, minus, where);
    else if (!count(scope, function))
        enter_unusual(scope, frame, back);
}

/* Other functions are called last, so that no registers are saved for them. */
void probity_site_enter(struct probity_scope_here *scope, struct probity_site_function *function,
                        uintptr_t frame, const uint8_t *back)
{
    uint32_t place = probity_scope_depth;
    uint64_t minus = (0 - (uint64_t)frame) << 16;
    uint64_t where = (uint64_t)PROBITY_NUMBER(back) << 16 | (PROBITY_NUMBER(scope) & 0xffff);

    if (__builtin_expect(function == NULL, 0)) {
        enter_first(scope, frame, back);
        return;
    }
    if (__builtin_expect(!probity_scope_is_on(function->level), 0)) {
        scope->is_open = 0;
        return;
    }
    scope->function = function;
    if (__builtin_expect(is_plain(function, place) && !probity_scope_is_suspect(place, minus), 1))
        enter_plain(scope, function, place, minus | back_of(frame), where);
    else
        enter_other(scope, frame, back);
}

static __attribute__((noinline)) void leave_unusual(struct probity_scope_here *scope)
{
    PROBITY_KEEP_LOW_VECTORS(probity_scope_leave_open, (uintptr_t)scope, 0, 0);
}

/* Replaces the function of libprobity, which uses all registers. */
__attribute__((noinline)) void probity_site_event_refused(uint64_t slot, uint32_t words)
{
    PROBITY_KEEP_LOW_VECTORS(probity_event_refused, slot, words, 0);
}

/* After a gap, takes the slow path, which saves the vector registers. */
__attribute__((noinline)) int probity_site_event_gap(uint32_t kind, uint64_t tick)
{
    (void)kind;
    (void)tick;
    return 0;
}

/* Stores a value of 1, 2, 4, 8 or 16 bytes. */
static inline void put_value(uint8_t *at, const void *value, uint32_t bytes)
{
    switch (bytes) {
    case 1: memcpy(at, value, 1); break;
    case 2: memcpy(at, value, 2); break;
    case 4: memcpy(at, value, 4); break;
    case 8: memcpy(at, value, 8); break;
    default: memcpy(at, value, 16);
    }
}

static __attribute__((noinline)) void leave_value(const struct probity_scope_here *scope)
{
    struct probity_event_room room;
    uint32_t number = __atomic_load_n(&scope->ret_format->number, __ATOMIC_RELAXED);
    uint8_t *at = NULL;

    if (__builtin_expect(scope->ret_bytes != 0 && number != 0, 1))
        at = probity_event_reserve(&room, 8, 8 + scope->ret_bytes);
    if (__builtin_expect(at == NULL, 0)) {
        PROBITY_KEEP_VECTORS(probity_site_leave_value, (uintptr_t)scope, 0, 0);
        return;
    }
    at = probity_put_head(at, 8, scope->code, number, 0);
    put_value(at, scope->ret, scope->ret_bytes);
    probity_event_publish(&room);
}

void probity_site_leave(struct probity_scope_here *scope)
{
    uint32_t code = scope->code, place = scope->place;

    if (scope->is_open != probity_scope_epoch)
        return;
    if (__builtin_expect(code == PROBITY_SCOPE_DEFERRED, 0)) {
        scope->is_open = 0;
        return;
    }
    if (__builtin_expect(code == PROBITY_SCOPE_PROFILED || place >= PROBITY_SCOPE_FRAMES ||
                             probity_scope_depth != place + 1 ||
                             probity_scope_raised() > scope->raised, 0)) {
        leave_unusual(scope);
        return;
    }
    scope->is_open = 0;
    probity_scope_free(place);
    if (__builtin_expect(scope->ret != NULL, 0))
        leave_value(scope);
    else
        probity_hit(code + 2);
}

_Static_assert(offsetof(struct probity_scope_here, function) == 0 &&
                   offsetof(struct probity_scope_here, ret) == 16 &&
                   offsetof(struct probity_scope_here, code) == 56 &&
                   offsetof(struct probity_scope_here, place) == 64 &&
                   offsetof(struct probity_scope_here, raised) == 68 &&
                   offsetof(struct probity_scope_here, is_open) == 72 &&
                   sizeof(struct probity_scope_place) == 16 &&
                   offsetof(struct probity_scope_place, minus) == 0 &&
                   offsetof(struct probity_scope_place, where) == 8 &&
                   PROBITY_FUNCTION_CXX == 1 && PROBITY_SCOPE_PROFILED == 1 &&
                   PROBITY_SCOPE_DEFERRED == 2 &&
                   PROBITY_SCOPE_FRAMES == 48 && PROBITY_SCOPE_NEAR == 4096,
               "as in sites_x86_64.S");

#endif
