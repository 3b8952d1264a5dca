/* SPDX-License-Identifier: MIT
 *
 * probity_scope.h: the record path of function scopes, on which FnTrace.h stands. Not for direct
 * use but for probity_level_set() and its neighbours; FnTrace.h is the interface.
 *
 * An enter and a leave are one word each, as a hit is (probity.h). What carries values is a record
 * of several words: reserved at once, marked pending, filled, and published by its head.
 */
#ifndef PROBITY_SCOPE_H
#define PROBITY_SCOPE_H

#include <string.h>

#include "probity.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Control --------------------------------------------------------------------------------- */

/* Sets the levels in force: a scope is recorded where its own level is not above `functions`; -1
 * leaves one as it is. A parameter level below that of functions is raised to it. The change is
 * part of the trace. Holds for later recordings and forked children too. Returns 0, or
 * PROBITY_ERROR_ARGUMENT where one is not -1 to 5. Any thread; not from a signal handler. */
PROBITY_API int probity_level_set(int functions, int parameters);

/* The levels in force, or that will be when recording starts. Any thread, any time. */
PROBITY_API void probity_level_get(int *ret_functions, int *ret_parameters);

/* What a translation unit asks for (FN_FUNC_LEVEL_DEF): counts until the environment or
 * probity_level_set() says otherwise; the last one counts. Runs in constructors. */
PROBITY_API void probity_level_default(int functions, int parameters);

/* Announces the calling thread: with PROBITY_THREADS=announced, only such threads are recorded.
 * Any thread; not from a signal handler. */
PROBITY_API void probity_thread_announce(void);

/* Scopes entered while profiling is off count a call and no time. On at the start. Any thread. */
PROBITY_API void probity_profiling_set(int is_on);

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* What the compiler knows of a function. Static, one for each FN_FUNC and its like. */
struct probity_site_function {
    const char *name, *file;
    const char *signature; /* NULL where the compiler does not tell it (C) */
    const char *returns;   /* as written in the macro */
    uint32_t line;
    uint8_t level, flags; /* PROBITY_FUNCTION_CXX, _DEFERRED */
    uint16_t reserved;
    uint32_t code;   /* of the enter; the leave has two more. 0 until declared */
    uint32_t number; /* site number + 1, 0 until declared */
};

enum { PROBITY_FUNCTION_CXX = 1, PROBITY_FUNCTION_DEFERRED = 2 };

/* What one place in the source records. Static. */
struct probity_site_format {
    const uint8_t *types;     /* enum probity_value_type of doc/trace-format.md */
    const char *const *texts; /* as expanded by the preprocessor */
    const char *source;       /* all of them as written, with commas between; NULL: only texts */
    uint32_t count, line;
    uint32_t number; /* 0 until declared */
};

/* Writes a value as text, as snprintf() would: at most `bytes` bytes; returns the length that it
 * would have without a limit. Runs in the traced thread. */
typedef size_t probity_formatter(const void *value, char *text, size_t bytes);

enum probity_value_how {
    PROBITY_AT_VALUE = 0,   /* `at` is the value, of `bytes` bytes */
    PROBITY_AT_POINTER = 1, /* `at` is a pointer to text that ends with a zero and may be NULL or
                               unreadable */
    PROBITY_AT_ARRAY = 2,   /* `at` is a pointer to an array of at most `bytes` bytes */
    PROBITY_AT_DATA = 3     /* `at` are `bytes` bytes of text */
};

/* A value on its way into a record, on the slow path. */
struct probity_value {
    const void *at;
    size_t bytes;
    probity_formatter *format; /* not NULL: type is text */
    enum probity_value_how how;
};

/* A scope in progress: on the stack of its function. */
struct probity_scope_here {
    struct probity_site_function *function;
    uint64_t entered; /* FN_ENTRY: tick, 0 where it is not wanted */
    const void *ret;  /* the variable that holds the return value */
    struct probity_site_format *ret_format;
    struct probity_value (*ret_describe)(const void *ret); /* C++ */
    probity_formatter *ret_formatter;                      /* C, as ret_how */
    enum probity_value_how ret_how;
    uint32_t ret_bytes; /* where these bytes are what is recorded; else 0 */
    uint32_t code;  /* of the enter; 0: not recorded; 1: profile mode */
    uint32_t depth; /* scopes of this thread around it; in profile mode, of its set */
    uint32_t place; /* in probity_scope_frame */
    uintptr_t mark; /* address of a variable that lives as long as the scope */
};

enum { PROBITY_SCOPE_PROFILED = 1 };

/* ---- State ----------------------------------------------------------------------------------- */

/* Level of functions in force; -1 while nothing is recorded. */
extern PROBITY_API int probity_scope_level;

/* 1: profile mode. Scopes take the slow path. */
extern PROBITY_API int probity_scope_profiles;

/* Level of parameters; -1 while nothing is recorded, or in profile mode. */
extern PROBITY_API int probity_scope_param_level;

/* Scopes of this thread that are open and recorded. */
extern PROBITY_API __thread uint32_t probity_scope_depth __attribute__((tls_model("initial-exec")));

/* Where open scopes are on the stack, the outermost ones: so that an enter finds what longjmp left
 * behind, as frames below its own. Places at and above probity_scope_depth are 0, also for a signal
 * handler between any two instructions. */
struct probity_scope_frame {
    uint64_t minus; /* 2^64 less the frame's address; 0: not known */
    uint64_t key;   /* return address × 2^16, low bits of the scope's mark */
};
enum { PROBITY_SCOPE_FRAMES = 48 };
extern PROBITY_API __thread struct probity_scope_frame probity_scope_frame[PROBITY_SCOPE_FRAMES]
    __attribute__((tls_model("initial-exec")));

/* ---- The cold half --------------------------------------------------------------------------- */

/* Declares the function, or enters it in profile mode. Returns code | depth << 32. */
PROBITY_API uint64_t probity_scope_enter_slow(struct probity_site_function *function)
    __attribute__((__cold__));

/* The scope at place - 1 seems to have been jumped over. Says so in the record; returns the place
 * that is free. */
PROBITY_API uint32_t probity_scope_jumped(uint32_t place, uint64_t minus, uint64_t key)
    __attribute__((__cold__));

/* Leaves a profiled scope, or one above which others were left without a record. */
PROBITY_API void probity_scope_leave_slow(uint32_t code, uint32_t depth, uint32_t place)
    __attribute__((__cold__));

/* Records an event of `kind` with the values, declaring format (NULL: none) and function (code 0:
 * none) where they are not. site: code of the enter, or 0. entered: of a CHECKPOINT. */
PROBITY_API void probity_values_slow(uint32_t kind, uint32_t code, uint64_t entered,
                                     struct probity_site_format *format,
                                     const struct probity_value *values) __attribute__((__cold__));

/* Pads what the inline path reserved and cannot use. */
PROBITY_API void probity_event_refused(uint64_t slot, uint32_t words) __attribute__((__cold__));

/* In profile mode: pauses the innermost scope (1), or ends its pause (0). */
PROBITY_API void probity_scope_pause_slow(int is_pause) __attribute__((__cold__));

/* Time as records have it; for FN_ENTRY. */
PROBITY_API uint64_t probity_scope_ticks(void);

/* ---- Records with values, inline ------------------------------------------------------------- */

enum {
    PROBITY_EVENT_HEAD_WORDS = 3,
    PROBITY_EVENT_ROOM = 2016 /* bytes of payload in one event */
};

#ifdef __cplusplus
#define PROBITY_BYTES(address) reinterpret_cast<uint8_t *>(address)
#define PROBITY_NUMBER(pointer) reinterpret_cast<uintptr_t>(pointer)
#else
#define PROBITY_BYTES(address) ((uint8_t *)(address))
#define PROBITY_NUMBER(pointer) ((uintptr_t)(pointer))
#endif

/* Where the payload of an event goes to. */
struct probity_event_room {
    uint64_t slot, tick;
    uint32_t words;
};

/* Reserves an event of `kind` with `bytes` bytes of payload, a constant. Returns the place for
 * them, or NULL: then nothing is reserved, and the slow path serves. Between this and
 * probity_event_publish() nothing but plain stores may happen. */
static inline __attribute__((__always_inline__)) uint8_t *
probity_event_begin(struct probity_event_room *room, uint32_t kind, uint32_t bytes)
{
#if PROBITY_HAS_FAST_PATH
    struct probity_thread *self = probity_thread_self;

    if (__builtin_expect(self == NULL, 0))
        return NULL;
    room->words = PROBITY_EVENT_HEAD_WORDS + (bytes + 7) / 8;
    room->slot = probity_reserve(self, 8 * (uint64_t)room->words);
    /* Volatile and behind the reservation, as in probity_hit(). */
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
    /* A pending head keeps a reader from taking the other words for records of their own. */
    __atomic_store_n(head, room->tick << 24 | room->words << 4 | 1u, __ATOMIC_RELAXED);
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
    __atomic_thread_fence(__ATOMIC_RELEASE); /* costs nothing on x86 */
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic pop
#endif
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

/* Release: the payload comes before the head. Pairs with load_word in src/spool/drain.c. */
static inline __attribute__((__always_inline__)) void
probity_event_publish(const struct probity_event_room *room)
{
    __atomic_store_n(PROBITY_VOLATILE(room->slot), room->tick << 24 | room->words << 4 | 5u,
                     __ATOMIC_RELEASE);
}

/* ---- Scopes, inline -------------------------------------------------------------------------- */

/* Whether a scope of this level is to be recorded: a load and a predicted branch. */
static inline __attribute__((__always_inline__)) int probity_scope_is_on(int level)
{
    return level <= __atomic_load_n(&probity_scope_level, __ATOMIC_RELAXED);
}

/* The macros expand to no plain words, which a program may have made macros of. */
static inline __attribute__((__always_inline__)) uint32_t
probity_scope_code(const struct probity_scope_here *scope)
{
    return scope->code;
}

static inline __attribute__((__always_inline__)) int
probity_scope_is_reported(const struct probity_scope_here *scope)
{
    return scope->code > PROBITY_SCOPE_PROFILED;
}

static inline __attribute__((__always_inline__)) uint32_t
probity_site_format_number(const struct probity_site_format *format)
{
    return __atomic_load_n(&format->number, __ATOMIC_RELAXED);
}

/* FN_ENTRY. */
static inline __attribute__((__always_inline__)) void
probity_scope_defer(struct probity_scope_here *scope)
{
    scope->entered = probity_scope_ticks();
}

/* Whether an open scope's frame is gone when one with `minus` and `key` begins: it lies below; or
 * it is the same, but of another call, or of the very same scope. What is inlined into one function
 * has one frame, one return address and marks of its own. */
static inline __attribute__((__always_inline__)) int
probity_scope_is_over(const struct probity_scope_frame *frame, uint64_t minus, uint64_t key)
{
    return frame->minus > minus ||
           (frame->minus == minus &&
            (frame->key == key || (frame->key ^ key) >> 16 != 0));
}

/* The scope takes its place: the depth first, so that a signal handler in between keeps off it. */
static inline __attribute__((__always_inline__)) void probity_scope_take(uint32_t place,
                                                                        uint64_t minus,
                                                                        uint64_t key)
{
    __atomic_store_n(&probity_scope_depth, place + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(place < PROBITY_SCOPE_FRAMES, 1)) {
        probity_scope_frame[place].key = key;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        __atomic_store_n(&probity_scope_frame[place].minus, minus, __ATOMIC_RELAXED);
    }
}

static inline __attribute__((__always_inline__)) void probity_scope_free(uint32_t place)
{
    if (__builtin_expect(place < PROBITY_SCOPE_FRAMES, 1))
        __atomic_store_n(&probity_scope_frame[place].minus, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&probity_scope_depth, place, __ATOMIC_RELAXED);
}

/* Readies a scope without recording it: its code, 0 where the slow path has entered or refused
 * it. */
static inline __attribute__((__always_inline__)) uint32_t
probity_scope_begin(struct probity_scope_here *scope)
{
    uint32_t code = __atomic_load_n(&scope->function->code, __ATOMIC_RELAXED);
    int profiles = __atomic_load_n(&probity_scope_profiles, __ATOMIC_RELAXED);
    uint64_t minus = 0 - (uint64_t)PROBITY_NUMBER(__builtin_frame_address(0));
    uint64_t key = (uint64_t)PROBITY_NUMBER(__builtin_return_address(0)) << 16 |
                   (scope->mark & 0xffff);
    uint32_t place = probity_scope_depth;

    if (place - 1 < PROBITY_SCOPE_FRAMES &&
        __builtin_expect(probity_scope_is_over(&probity_scope_frame[place - 1], minus, key), 0))
        place = probity_scope_jumped(place, minus, key);
    scope->code = code;
    scope->depth = scope->place = place;
    if (__builtin_expect(code == 0 || profiles, 0)) {
        uint64_t entered = probity_scope_enter_slow(scope->function);
        scope->code = (uint32_t)entered;
        scope->depth = (uint32_t)(entered >> 32);
        if (scope->code != 0)
            probity_scope_take(place, minus, key);
        return scope->code > PROBITY_SCOPE_PROFILED ? scope->code : 0;
    }
    probity_scope_take(place, minus, key);
    return code;
}

/* FN_FUNC: enters. About 25 instructions, hidden behind the clock's own. */
static inline __attribute__((__always_inline__)) void
probity_scope_enter(struct probity_scope_here *scope)
{
    uint32_t code = probity_scope_begin(scope);

    if (__builtin_expect(code != 0, 1))
        probity_hit(code);
}

/* Copies a value of 1, 2, 4, 8 or 16 bytes; the size is a constant. */
static inline __attribute__((__always_inline__)) uint8_t *probity_put_bytes(uint8_t *at,
                                                                       const void *value,
                                                                       size_t bytes)
{
    memcpy(at, value, bytes);
    return at + bytes;
}

/* What stands before the values in the payload of an event of `kind`: the function (7, 8, 11), the
 * format, and the tick of the enter (11). */
static inline __attribute__((__always_inline__)) uint32_t probity_head_bytes(uint32_t kind)
{
    return kind == 11 ? 16 : kind == 7 || kind == 8 ? 8 : 4;
}

static inline __attribute__((__always_inline__)) uint8_t *
probity_put_head(uint8_t *at, uint32_t kind, uint32_t code, uint32_t format, uint64_t entered)
{
    uint32_t number = (code - PROBITY_CODE_FIRST) / 2;

    if (kind == 7 || kind == 8 || kind == 11)
        at = probity_put_bytes(at, &number, 4);
    at = probity_put_bytes(at, &format, 4);
    if (kind == 11)
        at = probity_put_bytes(at, &entered, 8);
    return at;
}

/* The leave with the value of the variable that FN_RETVAL named. */
static inline __attribute__((__always_inline__)) void
probity_scope_leave_value(struct probity_scope_here *scope)
{
    struct probity_event_room room;
    uint32_t number = __atomic_load_n(&scope->ret_format->number, __ATOMIC_RELAXED);
    uint8_t *at = NULL;

    if (__builtin_expect(scope->ret_bytes != 0 && number != 0, 1))
        at = probity_event_begin(&room, 8, 8 + scope->ret_bytes);
    if (__builtin_expect(at == NULL, 0)) {
        struct probity_value value = {scope->ret, 0, scope->ret_formatter, scope->ret_how};
        if (scope->ret_describe != NULL)
            value = scope->ret_describe(scope->ret);
        probity_values_slow(8, scope->code, 0, scope->ret_format, &value);
        return;
    }
    at = probity_put_head(at, 8, scope->code, number, 0);
    probity_put_bytes(at, scope->ret, scope->ret_bytes);
    probity_event_publish(&room);
}

/* Runs when the scope's variable goes out of scope, however that happens. */
static inline __attribute__((__always_inline__)) void
probity_scope_leave(struct probity_scope_here *scope)
{
    if (scope->code == 0)
        return;
    if (__builtin_expect(scope->code == PROBITY_SCOPE_PROFILED ||
                             probity_scope_depth != scope->place + 1,
                         0))
        probity_scope_leave_slow(scope->code, scope->depth, scope->place);
    probity_scope_free(scope->place);
    if (scope->code == PROBITY_SCOPE_PROFILED)
        return;
    if (scope->ret != NULL)
        probity_scope_leave_value(scope);
    else
        probity_hit(scope->code + 2);
}

/* FN_RETVAL. */
static inline __attribute__((__always_inline__)) void
probity_scope_returns(struct probity_scope_here *scope, const void *ret,
                      struct probity_site_format *format, int is_fixed, uint32_t bytes,
                      struct probity_value (*describe)(const void *ret),
                      probity_formatter *formatter, enum probity_value_how how)
{
    scope->ret = ret;
    scope->ret_format = format;
    scope->ret_bytes = is_fixed ? bytes : 0;
    scope->ret_describe = describe;
    scope->ret_formatter = formatter;
    scope->ret_how = how;
}

/* FN_PARAM: in a function that is reported, and in one that only the level of parameters takes. */
static inline __attribute__((__always_inline__)) int
probity_scope_takes_parameters(const struct probity_scope_here *scope)
{
    return scope->code > PROBITY_SCOPE_PROFILED ||
           (scope->code == 0 && !(scope->function->flags & PROBITY_FUNCTION_DEFERRED) &&
            scope->function->level <=
                __atomic_load_n(&probity_scope_param_level, __ATOMIC_RELAXED));
}

/* FN_CHECKPOINT: whether it is to be recorded; at the first one, *ret_entered is when the function
 * was entered. */
static inline __attribute__((__always_inline__)) int
probity_scope_is_due(struct probity_scope_here *scope, uint64_t *ret_entered)
{
    if (scope->code != 0 || scope->entered == 0)
        return scope->code > PROBITY_SCOPE_PROFILED;
    *ret_entered = scope->entered;
    return probity_scope_begin(scope) != 0;
}

/* FN_PAUSE (kind 12), FN_RESUME (13). */
static inline __attribute__((__always_inline__)) void
probity_scope_mark(const struct probity_scope_here *scope, uint32_t kind)
{
    struct probity_event_room room;

    if (scope->code == 0)
        return;
    if (scope->code == PROBITY_SCOPE_PROFILED)
        probity_scope_pause_slow(kind == 12);
    else if (probity_event_begin(&room, kind, 0) != NULL)
        probity_event_publish(&room);
    else
        probity_values_slow(kind, 0, 0, NULL, NULL);
}

#ifdef __cplusplus
}
#endif

#endif
