/* SPDX-License-Identifier: MIT
 *
 * fentry.c: the usual calls of functions that gcc compiled with -pg -mfentry
 * -minstrument-return=call. Arguments and results are in registers here, so this file is compiled
 * to use only general-purpose registers, and each function saves those that it uses. Other
 * functions are called through probity_keep_vectors(), which saves all registers.
 *
 * A function first calls __fentry__, and finally __return__, before it returns or jumps to another
 * function; both are in fentry_x86_64.S. The stack position is the same for both.
 */
#include "base/cpu.h"
#include "base/hooked.h"

#if PROBITY_CPU_HAS_FENTRY

#include "functions/call_stack.h"
#include "functions/functions.h"
#include "functions/keep_vectors.h"

#define KEEPING_REGISTERS __attribute__((no_caller_saved_registers))

void probity_fentry_enter(void) KEEPING_REGISTERS;
void probity_fentry_leave(void) KEEPING_REGISTERS;

/* Does the same as probity_hit(), except that its slow paths are called differently. */
static inline __attribute__((always_inline)) void hit(uint32_t code)
{
    struct probity_thread *self = probity_thread_self;

    if (__builtin_expect(self == NULL, 0)) {
        if (__atomic_load_n(&probity_active, __ATOMIC_RELAXED))
            PROBITY_KEEP_LOW_VECTORS(probity_probe_slow, code, 0, 0);
        return;
    }
    uint64_t slot = probity_reserve(self, 8);
    /* Volatile, so that the load stays after the reservation. */
    uint64_t valid_bit = __atomic_load_n(PROBITY_VOLATILE(&self->valid_bit), __ATOMIC_RELAXED);
    if (__builtin_expect((slot & valid_bit) == 0, 0)) {
        PROBITY_KEEP_LOW_VECTORS(probity_probe_slow, code, 0, 0);
        return;
    }
    uint64_t tick = probity_ticks();
    if (__builtin_expect(tick - self->last_tick >= self->gap_ticks, 0)) {
        PROBITY_KEEP_LOW_VECTORS(probity_probe_gap, code, slot, tick);
        return;
    }
    self->last_tick = tick;
    __atomic_store_n(PROBITY_VOLATILE(slot), tick << 24 | code, __ATOMIC_RELEASE);
}

/* Sets the depth of a call without a frame to compare scopes with: its place is already 0. */
static inline __attribute__((always_inline)) void set_depth(uint32_t depth)
{
    __atomic_store_n(&probity_scope_depth, depth, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) int
is_declared(const struct probity_site_function *function, uint32_t *ret_code)
{
    *ret_code = __atomic_load_n(&function->code, __ATOMIC_RELAXED);
    return *ret_code != 0 && !__atomic_load_n(&probity_scope_profiles, __ATOMIC_RELAXED);
}

/* Returns whether a leave belongs to no open call. A frame at a greater distance may be on another
 * stack. */
static inline __attribute__((always_inline)) int is_of_counted(const struct probity_call *top,
                                                               uintptr_t stack)
{
    return probity_scope_counters != NULL && top->site.stack - stack - 1 < PROBITY_CALL_NEAR;
}

/* The same steps as in probity_fentry_enter_unusual(), in the same order. */
void probity_fentry_enter(void)
{
    uintptr_t from = PROBITY_NUMBER(__builtin_return_address(0));
    uintptr_t stack = PROBITY_NUMBER(PROBITY_FRAME);
    const struct probity_site_function *function = probity_function_at_once(from);
    uint32_t count = probity_calls.count, depth = probity_scope_depth, code = 0;

    if (function != NULL && probity_scope_is_on(PROBITY_FUNCTIONS_LEVEL) &&
        probity_calls_count(function))
        return; /* its leave belongs to no open call */
    int is_on = probity_scope_is_on(PROBITY_FUNCTIONS_LEVEL);
    if (function != NULL && (function->flags & PROBITY_FUNCTION_ENTRIES) &&
        (!is_on || is_declared(function, &code))) {
        if (is_on)
            hit(code);
        return;
    }
    if (function == NULL || !probity_calls_have_room() ||
        (count > 0 &&
         __builtin_expect(probity_calls.call[count - 1].site.stack <= stack ||
                              probity_calls_is_overwritten(&probity_calls.call[count - 1], stack),
                          0)) ||
        (is_on && function != &probity_function_left_out &&
         __builtin_expect(!is_declared(function, &code), 0))) {
        PROBITY_KEEP_VECTORS(probity_fentry_enter_unusual, from, stack, 0);
        return;
    }
    struct probity_call *call = &probity_calls.call[count];
    __atomic_store_n(&probity_calls.count, count + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    call->site.function = from;
    call->site.back = *(const uintptr_t *)stack;
    call->site.from = 0;
    call->place = call->depth = depth;
    call->raised = PROBITY_CALL_RAISED_NEVER;
    call->code = PROBITY_CALL_ENTERING;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&call->site.stack, stack, __ATOMIC_RELAXED);
    if (code != 0)
        set_depth(depth + 1);
    call->code = code;
    if (code != 0)
        hit(code);
}

/* The usual leave belongs to the innermost call. */
void probity_fentry_leave(void)
{
    uintptr_t stack = PROBITY_NUMBER(PROBITY_FRAME);
    uint32_t count = probity_calls.count;
    struct probity_call *call = probity_calls_top(count);

    if (call != NULL && is_of_counted(call, stack))
        return;
    if (__builtin_expect(call == NULL || call->site.stack != stack || call->site.from != 0 ||
                             call->code == PROBITY_SCOPE_PROFILED ||
                             (call->code != 0 && probity_scope_depth != call->place + 1), 0)) {
        PROBITY_KEEP_VECTORS(probity_fentry_leave_unusual, 0, stack, 0);
        return;
    }
    uint32_t code = call->code, place = call->place;
    __atomic_store_n(&call->site.stack, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&probity_calls.count, count - 1, __ATOMIC_RELAXED);
    if (code <= PROBITY_CALL_ENTERING)
        return;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    set_depth(place);
    hit(code + 2);
}

#endif
