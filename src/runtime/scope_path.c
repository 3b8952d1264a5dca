/* SPDX-License-Identifier: MIT
 *
 * scope_path.c: the path of every recorded scope: begin, enter, leave; and of events with values.
 * Other functions are called only where something is unusual. Async-signal-safe.
 */
#include "base/cpu.h"
#include "probity_scope.h"
#include "runtime/budget.h"

/* The low bits of the return address in a frame. */
static uint64_t back_of(uintptr_t frame)
{
    return __atomic_load_n(PROBITY_VOLATILE(frame + sizeof(void *)), __ATOMIC_RELAXED) & 0xffff;
}

/* A scope that is about to begin. */
struct coming {
    uint64_t minus, where; /* of struct probity_scope_frame */
    uint32_t code, place;
};

/* code_address: in the function whose scope it is. */
static inline __attribute__((always_inline)) struct coming
coming(struct probity_scope_here *scope, struct probity_site_function *function, uintptr_t frame,
       void *code_address)
{
    scope->function = function;
    scope->entered = 0;
    scope->ret = NULL;
    scope->mark = PROBITY_NUMBER(scope);
    scope->pauses = NULL;
    scope->raised = probity_scope_raised();
    return (struct coming){
        .minus = (0 - (uint64_t)frame) << 16 | back_of(frame),
        .where = (uint64_t)PROBITY_NUMBER(code_address) << 16 | (scope->mark & 0xffff),
        .code = __atomic_load_n(&function->code, __ATOMIC_RELAXED),
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
    probity_scope_take(coming->place, coming->minus, coming->where);
}

/* Of the scope of a call that is only counted: one that records no parameters. */
static inline uint32_t counted_code(const struct probity_site_function *function)
{
    int parameters = __atomic_load_n(&probity_scope_param_level, __ATOMIC_RELAXED);

    return function->level <= parameters ? PROBITY_SCOPE_DEFERRED : 0;
}

/* Counts the call if its function is one whose calls are only counted, and was counted before. */
static inline __attribute__((always_inline)) int count(struct probity_scope_here *scope)
{
    const struct probity_site_function *function = scope->function;
    uint64_t **counters = probity_scope_counters;

    if (counters == NULL || __atomic_load_n(&function->code, __ATOMIC_RELAXED) != 0)
        return 0;
    uint64_t *counter =
        __atomic_load_n(&counters[__atomic_load_n(&function->number, __ATOMIC_RELAXED)],
                        __ATOMIC_RELAXED);
    if (counter == NULL)
        return 0;
    probity_cpu_add(counter, 1);
    scope->code = counted_code(function);
    return 1;
}

static int is_counted(const struct probity_site_function *function)
{
    return __atomic_load_n(&function->code, __ATOMIC_RELAXED) == 0 &&
           probity_budget_counts(function);
}

/* The first scope of its function, one in profile mode, one after a jump, or a deep one. */
static __attribute__((noinline)) uint32_t begin_unusual(struct probity_scope_here *scope,
                                                        uint64_t minus, uint64_t where)
{
    uint32_t place = probity_scope_depth;

    if (probity_scope_is_suspect(place, minus & ~UINT64_C(0xffff)))
        place = probity_scope_jumped(place, minus, where);
    scope->place = place;
    uint64_t entered = probity_scope_enter_slow(scope->function);
    scope->code = (uint32_t)entered;
    scope->depth = (uint32_t)(entered >> 32);
    if (scope->code != 0)
        probity_scope_take(place, minus, where);
    else if (is_counted(scope->function))
        scope->code = counted_code(scope->function);
    return scope->code > PROBITY_SCOPE_DEFERRED ? scope->code : 0;
}

static __attribute__((noinline)) void enter_unusual(struct probity_scope_here *scope,
                                                    uint64_t minus, uint64_t where)
{
    uint32_t code = begin_unusual(scope, minus, where);

    if (code != 0)
        probity_hit(code);
}

/* What is unusual is called last, so that no register is saved for it. Not inline, even if programs
 * are optimized together with the library: the return address is in the function of the scope. */
PROBITY_API __attribute__((noinline)) void
probity_scope_enter_frame(struct probity_scope_here *scope, struct probity_site_function *function,
                          uintptr_t frame)
{
    const struct coming here = coming(scope, function, frame, __builtin_return_address(0));

    if (!is_usual(&here)) {
        if (!count(scope))
            enter_unusual(scope, here.minus, here.where);
        return;
    }
    begin_usual(scope, &here);
    probity_hit(here.code);
}

PROBITY_API __attribute__((noinline)) uint32_t
probity_scope_begin_frame(struct probity_scope_here *scope, struct probity_site_function *function,
                          uintptr_t frame)
{
    const struct coming here = coming(scope, function, frame, __builtin_return_address(0));

    if (!is_usual(&here))
        return count(scope) ? 0 : begin_unusual(scope, here.minus, here.where);
    begin_usual(scope, &here);
    return here.code;
}

static inline __attribute__((always_inline)) uint8_t *
reserve(struct probity_event_room *room, uint32_t kind, uint32_t bytes)
{
#if PROBITY_HAS_FAST_PATH
    struct probity_thread *self = probity_thread_self;

    if (__builtin_expect(self == NULL, 0))
        return NULL;
    room->words = PROBITY_EVENT_HEAD_WORDS + (bytes + 7) / 8;
    room->slot = probity_reserve(self, 8 * (uint64_t)room->words);
    /* Volatile and after the reservation, as in probity_hit(). */
    uint64_t valid_bit = __atomic_load_n(PROBITY_VOLATILE(&self->valid_bit), __ATOMIC_RELAXED);
    uint64_t last = room->slot + 8 * (uint64_t)(room->words - 1);
    room->tick = probity_ticks();
    if (__builtin_expect((room->slot & last & valid_bit) == 0 ||
                             room->tick - self->last_tick >= self->gap_ticks,
                         0)) {
        probity_event_refused(room->slot, room->words);
        return NULL;
    }
    self->last_tick = room->tick;
    volatile uint64_t *head = PROBITY_VOLATILE(room->slot);
    /* A pending head keeps readers from parsing the other words as records. */
    __atomic_store_n(head, room->tick << 24 | room->words << 4 | 1u, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* costs nothing on x86 */
    __atomic_store_n(head + 1, room->tick, __ATOMIC_RELAXED);
    __atomic_store_n(head + 2, kind | (uint64_t)bytes << 16, __ATOMIC_RELAXED);
    return PROBITY_BYTES(room->slot + 8 * PROBITY_EVENT_HEAD_WORDS);
#else
    (void)room;
    (void)kind;
    (void)bytes;
    return NULL;
#endif
}

PROBITY_API uint8_t *probity_event_begin(struct probity_event_room *room, uint32_t kind,
                                         uint32_t bytes)
{
    return reserve(room, kind, bytes);
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

/* With the value of the variable named by FN_RETVAL. */
static __attribute__((noinline)) void leave_value(const struct probity_scope_here *scope)
{
    struct probity_event_room room;
    uint32_t number = __atomic_load_n(&scope->ret_format->number, __ATOMIC_RELAXED);
    uint8_t *at = NULL;

    if (__builtin_expect(scope->ret_bytes != 0 && number != 0, 1))
        at = reserve(&room, 8, 8 + scope->ret_bytes);
    if (__builtin_expect(at == NULL, 0)) {
        struct probity_value value = {scope->ret, 0, scope->ret_formatter, scope->ret_how};
        if (scope->ret_describe != NULL)
            value = scope->ret_describe(scope->ret);
        probity_values_slow(8, scope->code, 0, scope->ret_format, &value);
        return;
    }
    at = probity_put_head(at, 8, scope->code, number, 0);
    put_value(at, scope->ret, scope->ret_bytes);
    probity_event_publish(&room);
}

/* C code has no exceptions: what its thread counts is that of others. */
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

/* In profile mode, above an abandoned scope, or deep. */
static __attribute__((noinline)) void leave_unusual(const struct probity_scope_here *scope)
{
    uint32_t code = scope->code;

    if (code == PROBITY_SCOPE_PROFILED || probity_scope_depth != scope->place + 1)
        probity_scope_leave_slow(code, scope->depth, scope->place);
    probity_scope_free(scope->place);
    if (code != PROBITY_SCOPE_PROFILED)
        record_leave(scope, code);
}

PROBITY_API void probity_scope_leave_open(struct probity_scope_here *scope)
{
    uint32_t code = scope->code;

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
