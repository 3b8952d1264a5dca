/* SPDX-License-Identifier: MIT
 *
 * sled_calls.c: the usual enter and leave through a sled; does the same as calls.c. Vector
 * registers may hold parameters or return values, so this is compiled without them (Makefile), and
 * calls other functions with them saved.
 */
#include "base/cpu.h"

#if PROBITY_CPU_HAS_SLEDS

#include "functions/hits_keeping_vectors.h"

#include "functions/call_stack.h"
#include "functions/cpu_sleds.h"
#include "functions/functions.h"
#include "functions/keep_vectors.h"
#include "functions/sleds.h"

/* The slow paths of probity_hit(). */
void probity_sled_probe_slow(uint32_t code)
{
    PROBITY_KEEP_LOW_VECTORS(probity_probe_slow, code, 0, 0);
}

void probity_sled_probe_gap(uint32_t code, uint64_t slot, uint64_t tick)
{
    PROBITY_KEEP_LOW_VECTORS(probity_probe_gap, code, slot, tick);
}

static __attribute__((noinline)) void enter_unusual(uint32_t id, const uintptr_t *back)
{
    PROBITY_KEEP_VECTORS(probity_sled_enter_unusual, id, (uintptr_t)back, 0);
}

static __attribute__((noinline)) void leave_unusual(uint32_t id, const uintptr_t *back,
                                                    int is_tail)
{
    PROBITY_KEEP_VECTORS(probity_sled_leave_unusual, id, (uintptr_t)back, is_tail);
}

static inline struct probity_call *push(uintptr_t function_at, const uintptr_t *back,
                                        uint32_t in_flight)
{
    uint32_t count = probity_calls.count;
    struct probity_call *call = &probity_calls.call[count];

    __atomic_store_n(&probity_calls.count, count + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    call->site.function = function_at;
    call->site.back = *back;
    call->site.from = PROBITY_SLED_FROM;
    call->place = call->depth = probity_scope_depth;
    call->raised = in_flight;
    call->code = PROBITY_CALL_ENTERING;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&call->site.stack, (uintptr_t)back, __ATOMIC_RELAXED);
    return call;
}

/* Does the same as probity_call_enter(). */
void probity_sled_enter(uint32_t id, const uintptr_t *back)
{
    const struct probity_sled_function *sled = &probity_sled_functions[id];
    int is_on = probity_scope_is_on(PROBITY_FUNCTIONS_LEVEL);
    uint32_t count = probity_calls.count, depth = probity_scope_depth, in_flight;

    if (!is_on && count == 0)
        return;
    const struct probity_site_function *function =
        __atomic_load_n(&sled->function, __ATOMIC_ACQUIRE);
    uint32_t code = function != NULL ? __atomic_load_n(&function->code, __ATOMIC_RELAXED) : 0;
    if (__builtin_expect(code == 0 && function != NULL && is_on, 0) &&
        probity_calls_count(function))
        return; /* its leave belongs to no open call */
    if (__builtin_expect(!is_on || code == 0 || !probity_calls_have_room() ||
                             probity_scope_profiles || depth >= PROBITY_SCOPE_FRAMES ||
                             !probity_is_raised_known(&in_flight) ||
                             (count > 0 &&
                              (probity_calls.call[count - 1].site.stack <= (uintptr_t)back ||
                               probity_calls_is_overwritten(&probity_calls.call[count - 1],
                                                            (uintptr_t)back))), 0)) {
        enter_unusual(id, back);
        return;
    }
    struct probity_call *call = push(sled->address, back, in_flight);
    probity_scope_take(depth, 0, 0);
    call->code = code;
    probity_hit(code);
}

/* Returns whether calls of the function are only counted. */
static inline int is_counted(uint32_t id)
{
    const struct probity_site_function *function =
        __atomic_load_n(&probity_sled_functions[id].function, __ATOMIC_ACQUIRE);

    return function != NULL && probity_scope_counters != NULL &&
           __atomic_load_n(&function->code, __ATOMIC_RELAXED) == 0 &&
           __atomic_load_n(&function->number, __ATOMIC_RELAXED) != 0;
}

/* Does the same as probity_call_leave(). A sled's stack position at the leave is that at the
 * enter. */
static inline __attribute__((always_inline)) void leave(uint32_t id, const uintptr_t *back,
                                                        int is_tail)
{
    uint32_t count = probity_calls.count, in_flight;

    if (count == 0)
        return;
    struct probity_call *call = probity_calls_top(count);
    if (call != NULL && call->site.stack != (uintptr_t)back && is_counted(id))
        return;
    if (__builtin_expect(call == NULL || call->site.stack != (uintptr_t)back ||
                             call->site.function != probity_sled_functions[id].address ||
                             call->site.back != *back || call->code <= PROBITY_CALL_ENTERING ||
                             probity_scope_depth != call->place + 1 ||
                             call->place >= PROBITY_SCOPE_FRAMES ||
                             !probity_is_raised_known(&in_flight) || in_flight > call->raised, 0)) {
        leave_unusual(id, back, is_tail);
        return;
    }
    probity_calls_end(call, count);
}

void probity_sled_leave(uint32_t id, const uintptr_t *back)
{
    leave(id, back, 0);
}

void probity_sled_tail(uint32_t id, const uintptr_t *back)
{
    leave(id, back, 1);
}

#if !PROBITY_CPU_HAS_FENTRY
/* Does the same as __fentry__ in a function without a call of __return__. */
void probity_patchable_enter(uintptr_t from, const uintptr_t *back)
{
    const struct probity_site_function *function = probity_function_at_once(from);

    if (!probity_scope_is_on(PROBITY_FUNCTIONS_LEVEL) || function == &probity_function_left_out ||
        (function != NULL && probity_calls_count(function)))
        return;
    uint32_t code = function != NULL ? __atomic_load_n(&function->code, __ATOMIC_RELAXED) : 0;
    if (__builtin_expect(code == 0 || probity_scope_profiles, 0))
        PROBITY_KEEP_VECTORS(probity_fentry_enter_unusual, from, (uintptr_t)back,
                             (uintptr_t)(back - PROBITY_CPU_SLED_ENTER_WORDS));
    else
        probity_hit(code);
}
#endif

#endif
