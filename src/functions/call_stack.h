/* SPDX-License-Identifier: MIT
 *
 * call_stack.h: the stack of open calls of the calling thread, for hooks of -finstrument-functions
 * (calls.c) and of -pg -mfentry (fentry.c), and for sleds (sled_calls.c).
 */
#ifndef PROBITY_FUNCTIONS_CALL_STACK_H
#define PROBITY_FUNCTIONS_CALL_STACK_H

#include <stddef.h>

#include "base/cpu.h"
#include "base/hooked.h"
#include "functions/calls.h"
#include "functions/functions.h"
#include "functions/sleds.h"
#include "probity_scope.h"

/* MORE: in a second table, for threads that nest deeper. */
enum { PROBITY_CALLS_MAX = 65536, PROBITY_CALLS_MORE = 1 << 20 };

/* Codes of a call: 0 if it is not recorded, 1 in profile mode, otherwise that of its enter; or: */
enum { PROBITY_CALL_ENTERING = 2 };

/* Added to `place` of a call whose result is recorded, so that hooks treat it as unusual. */
#define PROBITY_CALL_VALUED (UINT32_C(1) << 31)

/* The same for a call whose duration is compared; its depth is then the tick of its enter, divided
 * by 4,096, rounded up and without the high bits. */
#define PROBITY_CALL_WATCHED (UINT32_C(1) << 30)
enum { PROBITY_CALL_TICK_SHIFT = 12 };

/* Frames closer than this many bytes are taken to be on one stack: stacks of coroutines are rarely
 * closer. */
#define PROBITY_CALL_NEAR UINT64_C(65536)

/* Bytes above a frame within which the stack may be read. */
#define PROBITY_CALL_READABLE UINT64_C(4096)

/* The number of exceptions in flight at the enter of a call that an exception leaves without a
 * hook. */
#define PROBITY_CALL_RAISED_NEVER UINT32_MAX

struct probity_call {
    struct probity_call_site site; /* stack is 0: not complete yet */
    uint32_t code, depth, place, raised;
};

/* Entries above count have stack 0, even for a signal handler between any two instructions. Little
 * thread-local storage is used, because libraries loaded by dlopen() share a small reserve of
 * it. */
struct probity_calls {
    uint32_t count;
    int32_t valued; /* minus the number of open calls that are PROBITY_CALL_VALUED */
    struct probity_call *call; /* NULL: no call yet in this thread, or out of memory */
    struct probity_call *more; /* calls from PROBITY_CALLS_MAX on; NULL: there were none */
    uint32_t destructor_runs;
};

_Static_assert(offsetof(struct probity_calls, count) == 0 &&
                   offsetof(struct probity_calls, valued) == 4 &&
                   offsetof(struct probity_calls, call) == 8 &&
                   offsetof(struct probity_call, site.function) == 0 &&
                   offsetof(struct probity_call, site.back) == 8 &&
                   offsetof(struct probity_call, site.from) == 16 &&
                   offsetof(struct probity_call, site.stack) == 24 &&
                   offsetof(struct probity_call, code) == 32 &&
                   offsetof(struct probity_call, depth) == 36 &&
                   offsetof(struct probity_call, place) == 40 &&
                   offsetof(struct probity_call, raised) == 44 &&
                   sizeof(struct probity_call) == 48,
               "as in fentry_x86_64.S");
_Static_assert(PROBITY_CALLS_MAX == 65536 && PROBITY_CALL_ENTERING == 2 &&
                   PROBITY_SCOPE_PROFILED == 1 && PROBITY_CALL_VALUED == UINT32_C(1) << 31 &&
                   PROBITY_CALL_RAISED_NEVER == UINT32_MAX && PROBITY_CALL_NEAR == 65536 &&
                   PROBITY_CALL_READABLE == 4096 && PROBITY_FUNCTIONS_LEVEL == 5,
               "as in fentry_x86_64.S");
_Static_assert(PROBITY_FUNCTION_ENTRIES == 16 && PROBITY_ENTRIES == 1 << 18 &&
                   offsetof(struct probity_site_function, number) == 44 &&
                   offsetof(struct probity_entry, address) == 0 &&
                   offsetof(struct probity_entry, function) == 8 &&
                   sizeof(struct probity_entry) == 16,
               "as in fentry_x86_64.S");
_Static_assert(offsetof(struct probity_site_function, level) == 36 &&
                   offsetof(struct probity_site_function, flags) == 37 &&
                   offsetof(struct probity_site_function, code) == 40,
               "as in hooks_x86_64.h");
#if PROBITY_HAS_FAST_PATH
_Static_assert(offsetof(struct probity_thread, cursor) == 0 &&
                   offsetof(struct probity_thread, valid_bit) == 8 &&
                   offsetof(struct probity_thread, last_tick) == 16 &&
                   offsetof(struct probity_thread, gap_ticks) == 24,
               "as in hooks_x86_64.h");
#endif

extern __thread struct probity_calls probity_calls
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A function of the C++ library, if there is one. The second member of its result is the number of
 * exceptions that the thread has thrown and not caught yet. */
extern void *__cxa_get_globals(void) __attribute__((weak));

/* Stores the number of exceptions in flight, if it can be determined without a call. */
static inline int probity_is_raised_known(uint32_t *ret_raised)
{
    const uint32_t *globals = probity_scope_exceptions;

    *ret_raised = globals != NULL ? globals[sizeof(void *) / sizeof(uint32_t)] : 0;
    return globals != NULL || __cxa_get_globals == NULL;
}

/* Returns whether there is room in the first table for one more call. */
static inline int probity_calls_have_room(void)
{
    return __builtin_expect(probity_calls.call != NULL && probity_calls.count < PROBITY_CALLS_MAX,
                            1);
}

/* Counts the call if its function is only counted, and this thread has counted a call of it
 * before. */
static inline int probity_calls_count(const struct probity_site_function *function)
{
    uint64_t **counters = probity_scope_counters;

    if (counters == NULL || __atomic_load_n(&function->code, __ATOMIC_RELAXED) != 0)
        return 0;
    uint64_t *counter =
        __atomic_load_n(&counters[__atomic_load_n(&function->number, __ATOMIC_RELAXED)],
                        __ATOMIC_RELAXED);
    if (counter != NULL)
        probity_cpu_add(counter, 1);
    return counter != NULL;
}

/* Returns the innermost open call, of which there is at least one, if it is in the first table. */
static inline struct probity_call *probity_calls_top(uint32_t count)
{
    return probity_calls.call != NULL && count <= PROBITY_CALLS_MAX ? &probity_calls.call[count - 1]
                                                                    : NULL;
}

/* For -finstrument-functions: returns the function whose call or leave may be only counted. NULL:
 * none is counted, or the innermost open call is of the same function, so that the two leaves would
 * be indistinguishable. */
static inline const struct probity_site_function *probity_calls_countable(uintptr_t function_at)
{
    if (__builtin_expect(probity_scope_counters == NULL, 1))
        return NULL;
    const struct probity_site_function *function = probity_function_at_once(function_at);
    uint32_t count = probity_calls.count;
    const struct probity_call *top = count > 0 ? probity_calls_top(count) : NULL;
    return top == NULL || top->site.function != function_at ? function : NULL;
}

/* Counts the call. Its leave then belongs to no open call. */
static inline int probity_calls_enter_counted(uintptr_t function_at)
{
    const struct probity_site_function *function = probity_calls_countable(function_at);

    return function != NULL && probity_calls_count(function);
}

/* Returns whether the leave belongs to a call that was only counted. */
static inline int probity_calls_leave_counted(uintptr_t function_at)
{
    const struct probity_site_function *function = probity_calls_countable(function_at);

    return function != NULL && __atomic_load_n(&function->code, __ATOMIC_RELAXED) == 0 &&
           __atomic_load_n(&function->number, __ATOMIC_RELAXED) != 0;
}

/* Returns whether a call through __fentry__ or a sled has lost its return address: a function that
 * was called after a jump has overwritten it. stack: that of the call that begins. Hooks of
 * -finstrument-functions cannot determine its place. Reads it with an instruction, since a
 * sanitizer may take its place for a gap between variables. */
static inline int probity_calls_is_overwritten(const struct probity_call *call, uintptr_t stack)
{
#if PROBITY_CPU_HAS_FENTRY
    uintptr_t back;

    if (call->site.from > PROBITY_SLED_FROM ||
        call->site.stack - stack - 1 >= PROBITY_CALL_READABLE - 1)
        return 0;
    __asm__ volatile("mov (%1), %0" : "=r"(back) : "r"(call->site.stack));
    return back != call->site.back;
#else
    (void)call;
    (void)stack;
    return 0;
#endif
}

/* Ends the innermost of `count` open calls, which is recorded. */
static inline void probity_calls_end(struct probity_call *call, uint32_t count)
{
    uint32_t code = call->code, place = call->place;

    __atomic_store_n(&call->site.stack, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    probity_calls.count = count - 1;
    probity_scope_free(place);
    probity_hit(code + 2);
}

#endif
