/* SPDX-License-Identifier: MIT
 *
 * probity_scope.h: the record path of function scopes, on which FnTrace.h is built. Only the
 * functions under "Control" are for direct use; the public interface is FnTrace.h.
 *
 * An enter and a leave take one word each, like a hit (probity.h). An event with values is a record
 * of several words: reserved in one step, marked pending, filled, and published by storing its
 * head.
 */
#ifndef PROBITY_SCOPE_H
#define PROBITY_SCOPE_H

#include "probity.h"

#ifndef PROBITY_REFUSED

#include <string.h>

#define PROBITY_MEMORY_SANITIZER 0
#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#undef PROBITY_MEMORY_SANITIZER
#define PROBITY_MEMORY_SANITIZER 1
#endif
#endif

#ifdef __cplusplus
#if defined(__cpp_exceptions) && !defined(PROBITY_MSVC)
#include <cxxabi.h>
#endif
#define PROBITY_ASSERT static_assert
extern "C" {
#else
#define PROBITY_ASSERT _Static_assert
#endif

/* ---- Control --------------------------------------------------------------------------------- */

/* Sets the current levels: a scope is recorded if its level is at most `functions`. -1 leaves a
 * level unchanged. A parameter level below the function level is raised to it. The change is
 * recorded in the trace. It also applies to later recordings and forked children. Returns 0, or
 * PROBITY_ERROR_ARGUMENT if a level is not -1 to 5. Any thread; not from a signal handler. */
PROBITY_API int probity_level_set(int functions, int parameters);

/* Returns the current levels, or those with which recording will start. Any thread, any time. */
PROBITY_API void probity_level_get(int *ret_functions, int *ret_parameters);

/* Sets the initial levels requested by a translation unit (FN_FUNC_LEVEL_DEF). The environment and
 * probity_level_set() take precedence; the last call counts. Runs in constructors. */
PROBITY_API void probity_level_default(int functions, int parameters);

/* Announces the calling thread: with PROBITY_THREADS=announced, only such threads are recorded.
 * Any thread; not from a signal handler. */
PROBITY_API void probity_thread_announce(void);

/* 0: scopes entered from now on are only counted, not timed; 1 (the default): they are timed. Any
 * thread. */
PROBITY_API void probity_profiling_set(int is_on);

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* Static description of a function, one for each FN_FUNC or similar macro. */
struct probity_site_function {
    const char *name, *file;
    const char *signature; /* NULL if the compiler does not supply one (C) */
    const char *returns;   /* as written in the macro */
    uint32_t line;
    uint8_t level, flags; /* PROBITY_FUNCTION_CXX, _DEFERRED, _ORDERED, _ADDRESSED */
    uint16_t reserved;
    uint32_t code;   /* code of the enter; that of the leave is 2 more. 0 until declared */
    uint32_t number; /* site number + 1, 0 until declared */
};

enum {
    PROBITY_FUNCTION_CXX = 1,
    PROBITY_FUNCTION_DEFERRED = 2,
    PROBITY_FUNCTION_ORDERED = 4, /* FN_ORDERED: earlier instructions finish before the clock is
                                   * read */
    PROBITY_FUNCTION_ADDRESSED = 8 /* part of a struct probity_addressed_function */
};

/* A function known by its address, without a descriptor made by the compiler. */
struct probity_addressed_function {
    struct probity_site_function function;
    const char *object; /* path of its shared library; "": the executable */
    uint64_t address;   /* in that file, as linked */
};

/* Static description of the values recorded at one place in the source. */
struct probity_site_format {
    const uint8_t *types;     /* enum probity_value_type of doc/trace-format.md */
    const char *const *texts; /* as expanded by the preprocessor */
    const char *source;       /* "n, a, b" as written, ";n, a" after a label; NULL: texts only */
    uint32_t count, line;
    uint32_t number; /* 0 until declared */
};

/* Writes a value as text, like snprintf(): at most `bytes` bytes; returns the length without that
 * limit. Runs in the traced thread. */
typedef size_t probity_formatter(const void *value, char *text, size_t bytes);

enum probity_value_how {
    PROBITY_AT_VALUE = 0,   /* `at` is the value, of `bytes` bytes */
    PROBITY_AT_POINTER = 1, /* `at` is a pointer to zero-terminated text, which may be NULL or
                               unreadable */
    PROBITY_AT_ARRAY = 2,   /* `at` is a pointer to an array of at most `bytes` bytes */
    PROBITY_AT_DATA = 3     /* `at` are `bytes` bytes of text */
};

/* A value to be recorded, on the slow path. */
struct probity_value {
    const void *at;
    size_t bytes;
    probity_formatter *format; /* not NULL: formats the value as text or, if its type in the format
                                  is of fixed size, writes the bytes to be recorded */
    enum probity_value_how how;
};

/* Describes the value of a variable. */
typedef struct probity_value probity_describer(const void *at);

/* A scope, on the stack of its function. While it is not recorded, only is_open is stored. */
struct probity_scope_here {
    struct probity_site_function *function;
    uint64_t entered; /* FN_ENTRY: tick of the enter, 0 if not wanted */
    const void *ret;  /* the variable with the return value */
    struct probity_site_format *ret_format;
    probity_describer *ret_describe;  /* C++ */
    probity_formatter *ret_formatter; /* C, with ret_how */
    enum probity_value_how ret_how;
    uint32_t ret_bytes; /* size of the value if its bytes are recorded unchanged; else 0 */
    uint32_t code;  /* code of the enter; 0: not recorded; or an enum probity_scope_code */
    uint32_t depth; /* in profile mode: number of open scopes around it, in its set */
    uint32_t place; /* index in probity_scope_frame */
    uint32_t raised; /* C++: exceptions in flight at the enter */
    uint64_t is_open;
    struct probity_scope_pauses *pauses; /* FN_ENTRY, before its first checkpoint; else NULL */
};

/* Pauses of a scope that has not yet reached a checkpoint: for each, the ticks of its beginning and
 * end, and the CPU time in ns that the thread used in it. When the array is full, further pauses
 * are added to the last one. */
struct probity_scope_pauses {
    uint32_t count, is_paused;
    struct {
        uint64_t from, to, cpu_ns;
    } pause[4];
};

enum probity_scope_code {
    PROBITY_SCOPE_PROFILED = 1, /* in profile mode */
    PROBITY_SCOPE_DEFERRED = 2  /* FN_ENTRY, before its first checkpoint */
};

/* ---- State ----------------------------------------------------------------------------------- */

/* Current level of functions; -1 while not recording. */
extern PROBITY_API int probity_scope_level;

/* If not 0, scopes take the slow path. Bit 0: profile mode; bit 1: temporarily, after a change in
 * how functions are recorded. */
extern PROBITY_API int probity_scope_profiles;

/* Current level of parameters; -1 while not recording or in profile mode. */
extern PROBITY_API int probity_scope_param_level;

/* Stack positions of the outermost open scopes. With them, an enter detects scopes that longjmp has
 * skipped: their frames are below its own. The scope at place n is [n + 1]; [0] is always 0.
 * Entries above probity_scope_depth are 0, even for a signal handler between any two
 * instructions. */
struct probity_scope_place {
    uint64_t minus; /* (2^64 - the frame's address) × 2^16, plus the low bits of the return address;
                       0: unknown */
    uint64_t where; /* address of the code × 2^16, plus the low bits of the scope's address */
};
enum { PROBITY_SCOPE_FRAMES = 48, PROBITY_SCOPE_NEAR = 4096, PROBITY_SCOPE_LINKED = 65536 };

#if defined(PROBITY_MSVC)
/* Only the library uses the variables below. */
#elif defined(PROBITY_THREADS_HAVE_BLOCKS)
/* The variables below, of the calling thread. */
struct probity_scope_thread {
    uint64_t **counters;
    void *exceptions;
    uint32_t depth, inside;
    struct probity_scope_place frame[PROBITY_SCOPE_FRAMES + 1];
};
/* Same as probity_thread_offset. */
extern PROBITY_API uint64_t probity_scope_offset;

/* Creates them for the calling thread. Never returns NULL. */
PROBITY_API struct probity_scope_thread *probity_scope_thread_make(void)
    __attribute__((__cold__, __const__));

PROBITY_INLINE struct probity_scope_thread *probity_scope_thread(void)
{
    struct probity_scope_thread *thread;
    __asm__("mov{q %%gs:(%1), %0| %0, gs:[%1]}" : "=r"(thread) : "r"(probity_scope_offset));
    return __builtin_expect(thread != NULL, 1) ? thread : probity_scope_thread_make();
}
#define probity_scope_counters (probity_scope_thread()->counters)
#define probity_scope_depth (probity_scope_thread()->depth)
#define probity_thread_inside (probity_scope_thread()->inside)
#define probity_scope_frame (probity_scope_thread()->frame)
#define probity_scope_exceptions (probity_scope_thread()->exceptions)
#define PROBITY_OR_NULL /* weak names are not found in a DLL */
#else
#define PROBITY_OR_NULL __attribute__((__weak__))
/* This thread's counters of the functions whose calls are only counted (PROBITY_BUDGET), indexed by
 * function number; an entry that is NULL takes the slow path. NULL: no counters yet. */
extern PROBITY_API __thread uint64_t **probity_scope_counters
    __attribute__((tls_model("initial-exec")));

/* Number of open recorded scopes of this thread. */
extern PROBITY_API __thread uint32_t probity_scope_depth __attribute__((tls_model("initial-exec")));

/* If not 0, this thread is inside the library. For functions that replace libc's
 * (libprobity-calls), which then record nothing. */
extern PROBITY_API __thread uint32_t probity_thread_inside
    __attribute__((tls_model("initial-exec")));

/* The frames of this thread's outermost open scopes. */
extern PROBITY_API __thread struct probity_scope_place
    probity_scope_frame[PROBITY_SCOPE_FRAMES + 1] __attribute__((tls_model("initial-exec")));

/* Result of __cxa_get_globals() in this thread; NULL: not called yet. C++ only. */
extern PROBITY_API __thread void *probity_scope_exceptions
    __attribute__((tls_model("initial-exec")));
#endif

/* Sets the function that returns the address at which the C++ library counts the exceptions of the
 * calling thread. Runs in constructors. */
PROBITY_API void probity_scope_exceptions_by(void *(*find)(void));

/* ---- Hooks -------------------------------------------------------------------------------------
 *
 * Not inline: a program has thousands of scopes, and even those that are off would fill its caches.
 * function: a variable with the address of the function's description. With notes
 * (PROBITY_SCOPE_NOTED), it is NULL until the first call, which makes the description from the
 * note.
 */

/* FN_FUNC with its level on: begins the scope and records its enter. frame: the function's, from
 * probity_scope_frame_at(). */
PROBITY_API void probity_scope_enter_frame(struct probity_scope_here *scope,
                                           struct probity_site_function **function,
                                           uintptr_t frame, const void *note);

/* The same without the record: returns the record's code, or 0 if none is to be written. */
PROBITY_API uint32_t probity_scope_begin_frame(struct probity_scope_here *scope,
                                               struct probity_site_function **function,
                                               uintptr_t frame, const void *note);

/* FN_ENTRY. */
PROBITY_API void probity_scope_defer_frame(struct probity_scope_here *scope,
                                           struct probity_site_function **function,
                                           uintptr_t frame, const void *note,
                                           struct probity_scope_pauses *pauses);

/* Records the leave of a scope, if it is open. */
PROBITY_API void probity_scope_leave_open(struct probity_scope_here *scope);

/* Whether an event in a scope is to be recorded. If the scope is open, first ends the scopes that
 * were jumped over, because an event belongs to the innermost scope. In profile mode, which has no
 * events, time belongs to the innermost scope in the same way. in: __func__. */
PROBITY_API int probity_scope_is_reported(struct probity_scope_here *scope, uintptr_t frame,
                                          const char *in);

/* FN_PARAM. level, flags: those of the function. */
PROBITY_API int probity_scope_is_shown(struct probity_scope_here *scope, uintptr_t frame,
                                       const char *in, int level, int flags);

/* FN_CHECKPOINT. Sets *ret_code; at the first checkpoint also *ret_entered, to the tick of the
 * enter. */
PROBITY_API int probity_scope_is_due(struct probity_scope_here *scope, uintptr_t frame,
                                     const char *in, uint32_t *ret_code, uint64_t *ret_entered);

/* Call after a checkpoint is recorded. entered: not 0 at the first one. */
PROBITY_API void probity_scope_paused(struct probity_scope_here *scope, uint64_t entered);

/* FN_PAUSE (kind 12), FN_RESUME (13). */
PROBITY_API void probity_scope_pause_or_resume(struct probity_scope_here *scope, uintptr_t frame,
                                               const char *in, uint32_t kind);

/* FN_RETVAL. */
PROBITY_API void probity_scope_set_return(struct probity_scope_here *scope, const void *ret,
                                          struct probity_site_format *format, uint32_t bytes,
                                          probity_describer *describe, probity_formatter *formatter,
                                          enum probity_value_how how);

#if PROBITY_HAS_HOOKS && !defined(PROBITY_UNNOTED)
#define PROBITY_SCOPE_NOTED 1

/* probity_scope_enter_frame() and probity_scope_leave_open(), called from assembly, which declares
 * what they may change: arguments and results stay in their registers. The first takes its
 * arguments in r10, r11 and rax and returns 0 in rax; after the call there is a no-op instruction
 * whose operand is the distance to the note. The last takes the scope in r10. */
PROBITY_API void probity_scope_enter_hook(void);
/* The same with values, which the note describes: r8 holds the address of their bytes, packed and
 * padded to a multiple of four; r9 holds the address of the variable that is returned, or NULL. */
PROBITY_API void probity_scope_enter_values_hook(void);
PROBITY_API void probity_scope_leave_hook(void);

/* Never called: a function with a call in it has no red zone, which the hooks would overwrite. */
PROBITY_API void probity_scope_never(void) __attribute__((__noreturn__));
#else
#define PROBITY_SCOPE_NOTED 0
#endif

/* Scopes as no-op instructions, which libprobity-functions replaces. */
#if defined(PROBITY_PATCHABLE) && PROBITY_SCOPE_NOTED && !PROBITY_MEMORY_SANITIZER
#define PROBITY_SCOPE_PATCHABLE 1
#else
#define PROBITY_SCOPE_PATCHABLE 0
#endif

/* Enters a patchable scope, for libprobity-functions. Same as probity_scope_enter_frame(); code: an
 * address in the function. */
PROBITY_API void probity_scope_enter_site(struct probity_scope_here *scope,
                                          struct probity_site_function **function, uintptr_t frame,
                                          const void *note, const void *code);

/* ---- Slow paths ------------------------------------------------------------------------------ */

/* Declares the function or, in profile mode, enters it. Returns code | depth << 32. */
PROBITY_API uint64_t probity_scope_enter_slow(struct probity_site_function *function) PROBITY_COLD;

/* Set in its result if the duration of the call is compared with limits of `probity record --when`.
 * The ticks of the call's two records are compared: another reading of the clock might be much
 * earlier or later if the thread loses its CPU in between. Any thread, async-signal-safe. */
#define PROBITY_SCOPE_ENTERED_WATCHED (UINT64_C(1) << 63)

/* Bit of struct probity_scope_here.place of such a call: makes the place differ from the thread's
 * depth, with which every leave compares it. The bit is not part of the index of the place. */
#define PROBITY_SCOPE_WATCHED (UINT32_C(1) << 31)

/* Records an enter or leave of such a call that has no values. Returns the tick of the record, or 0
 * if it is dropped. */
PROBITY_API uint64_t probity_scope_watch_hit(uint32_t code) PROBITY_COLD;

/* Compares a call with the limits, by the ticks of its two records. Call after its leave was
 * recorded. Does nothing if a tick is 0. */
PROBITY_API void probity_scope_watch_end(const struct probity_site_function *function,
                                         uint64_t entered, uint64_t left) PROBITY_COLD;

/* Returns the current tick, or 0 if nothing is recorded. */
PROBITY_API uint64_t probity_scope_watch_begin(void) PROBITY_COLD;

/* Called if the scope at place - 1 may be over (probity_scope_is_suspect()): it was jumped over, or
 * is in the same frame because the compiler has inlined one function into the other, or is beyond
 * the array. Records the scopes that were jumped over, and returns the free place. */
PROBITY_API uint32_t probity_scope_jumped(uint32_t place, uint64_t minus, uint64_t where)
    PROBITY_COLD;

/* These take or free a place at PROBITY_SCOPE_FRAMES or above. Taking also sets the depth; freeing
 * does not change it. */
PROBITY_API void probity_scope_take_deep(uint32_t place, uint64_t minus, uint64_t where)
    PROBITY_COLD;
PROBITY_API void probity_scope_free_deep(uint32_t place) PROBITY_COLD;

/* Leaves a profiled scope, or one above which other scopes ended without a record. */
PROBITY_API void probity_scope_leave_slow(uint32_t code, uint32_t depth, uint32_t place)
    PROBITY_COLD;

/* Records that an exception left the scope. Returns the tick of the record, or 0 if it was
 * dropped. */
PROBITY_API uint64_t probity_scope_leave_raised(uint32_t code) PROBITY_COLD;

/* Records an event of `kind` with its values. Declares the format (NULL: none) and the function
 * (code 0: none) if necessary. code: that of the enter, or 0. entered: for a CHECKPOINT. Returns
 * the tick of the record, or 0 if it was dropped. */
PROBITY_API uint64_t probity_values_slow(uint32_t kind, uint32_t code, uint64_t entered,
                                         struct probity_site_format *format,
                                         const struct probity_value *values) PROBITY_COLD;

/* Records an event of any kind for the calling thread, at most PROBITY_EVENT_ROOM bytes. Any
 * thread, async-signal-safe. Returns 0, or a negative error if the event was dropped or nothing is
 * recorded. */
PROBITY_API int probity_event_slow(uint32_t kind, const void *payload, size_t bytes) PROBITY_COLD;

/* Returns the length of a zero-terminated text at a pointer that may be invalid, in elements of
 * `unit` bytes (1 or 4), at most `most`. *ret_is_whole: whether the terminating zero was found; if
 * not and the length is 0, the text is unreadable. Any thread. */
PROBITY_API size_t probity_text_length(const void *text, size_t unit, size_t most,
                                       int *ret_is_whole) PROBITY_COLD;

/* Pads a reservation that the inline path cannot use. */
PROBITY_API void probity_event_refused(uint64_t slot, uint32_t words) PROBITY_COLD;

/* Whether an event of `kind` at this tick, after a gap, may be stored in the words that are
 * reserved for it, since the CPU clock is not to be read. */
PROBITY_API int probity_event_gap(uint32_t kind, uint64_t tick);

/* ---- Records with values --------------------------------------------------------------------- */

enum {
    PROBITY_EVENT_HEAD_WORDS = 3,
    PROBITY_EVENT_ROOM = 2016 /* maximum payload of an event in bytes */
};

#ifdef __cplusplus
#define PROBITY_BYTES(address) reinterpret_cast<uint8_t *>(address)
#define PROBITY_UINT32S(pointer) static_cast<const uint32_t *>(pointer)
#define PROBITY_NUMBER(pointer) reinterpret_cast<uintptr_t>(pointer)
#else
#define PROBITY_BYTES(address) ((uint8_t *)(address))
#define PROBITY_UINT32S(pointer) ((const uint32_t *)(pointer))
#define PROBITY_NUMBER(pointer) ((uintptr_t)(pointer))
#endif

/* Destination of the payload of an event. */
struct probity_event_room {
    uint64_t slot, tick;
    uint32_t words;
};

/* Reserves an event of `kind` with `bytes` bytes of payload. Returns the address of the payload, or
 * NULL if nothing was reserved and the slow path is needed. Until probity_event_publish(), only
 * plain stores are allowed. */
PROBITY_API uint8_t *probity_event_begin(struct probity_event_room *room, uint32_t kind,
                                         uint32_t bytes);

#ifndef PROBITY_MSVC
/* The same, inline. */
PROBITY_INLINE uint8_t *
probity_event_reserve(struct probity_event_room *room, uint32_t kind, uint32_t bytes)
{
#if PROBITY_HAS_FAST_PATH
    struct probity_thread *self = probity_thread_own();

    if (__builtin_expect(self == NULL, 0))
        return NULL;
    room->words = PROBITY_EVENT_HEAD_WORDS + (bytes + 7) / 8;
    room->slot = probity_reserve(self, 8 * (uint64_t)room->words);
    /* Volatile and after the reservation, as in probity_hit(). */
    uint64_t valid_bit = __atomic_load_n(PROBITY_VOLATILE(&self->valid_bit), __ATOMIC_RELAXED);
    uint64_t last = room->slot + 8 * (uint64_t)(room->words - 1);
    room->tick = probity_ticks();
    if (__builtin_expect((room->slot & last & valid_bit) == 0 ||
                             (room->tick - self->last_tick >= self->gap_ticks &&
                              !probity_event_gap(kind, room->tick)), 0)) {
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
#endif

/* Returns the record's tick. Release: the payload is stored before the head. Pairs with load_word
 * in src/spool/drain.c. */
PROBITY_INLINE uint64_t
probity_event_publish(const struct probity_event_room *room)
{
#if PROBITY_MEMORY_SANITIZER
    __msan_unpoison(room, sizeof *room);
#endif
    PROBITY_PUBLISH(PROBITY_VOLATILE(room->slot), room->tick << 24 | room->words << 4 | 5u);
    return room->tick;
}

/* ---- Scopes, inline -------------------------------------------------------------------------- */

/* Whether a scope of this level is recorded: a load and a branch. The code for recording is moved
 * out of the way, since most programs usually run without it. */
PROBITY_INLINE int probity_scope_is_on(int level)
{
    int is_on = level <= PROBITY_LOAD(int, &probity_scope_level);

    return PROBITY_EXPECT(is_on, 0) != 0;
}

/* The enter of the scope was recorded at this tick: the beginning of a call that will be
 * compared. */
PROBITY_INLINE void probity_scope_entered(struct probity_scope_here *scope, uint64_t tick)
{
    if (PROBITY_EXPECT((scope->place & PROBITY_SCOPE_WATCHED) != 0, 0))
        scope->entered = tick;
}

/* The scope of a call that is not recorded. */
PROBITY_INLINE void
probity_scope_off(struct probity_scope_here *scope)
{
#if PROBITY_MEMORY_SANITIZER
    memset(scope, 0, sizeof *scope); /* MSan does not see the library's stores */
#endif
    scope->is_open = 0;
}

PROBITY_INLINE int
probity_scope_is_open(const struct probity_scope_here *scope)
{
    int is_open = scope->is_open != 0;

    return PROBITY_EXPECT(is_open, 0) != 0;
}

#ifndef PROBITY_MSVC
/* Where this function's frame holds, or would hold, its caller's frame pointer: the return address
 * is in the next word. */
PROBITY_INLINE uintptr_t probity_scope_frame_at(void)
{
    return PROBITY_NUMBER(PROBITY_FRAME) - PROBITY_FRAME_ABOVE;
}

/* (2^64 - the address of this frame) × 2^16: the deeper the frame, the greater the value. */
PROBITY_INLINE uint64_t probity_scope_minus(void)
{
    return (0 - (uint64_t)probity_scope_frame_at()) << 16;
}
#endif

PROBITY_INLINE uint32_t
probity_site_format_number(const struct probity_site_format *format)
{
    return PROBITY_LOAD(uint32_t, &format->number);
}

#ifndef PROBITY_MSVC
/* The frame of an open scope. */
PROBITY_INLINE uint64_t probity_scope_frame_of(uint64_t minus)
{
    return (0 - minus / 65536) & (UINT64_MAX / 65536);
}

/* With linked frames: whether the links lead from this frame past that of the open scope, or to
 * another call in its place: the open scope's frame then does not belong to a caller. Reads only
 * memory close above this frame. If code uses the frame pointer for something else, the links are
 * broken, and the return address decides. */
PROBITY_INLINE int probity_scope_is_passed(uint64_t open, uint64_t minus)
{
    uint64_t first = probity_scope_frame_of(minus), wanted = probity_scope_frame_of(open);
    uint64_t frame = first, next;

    do {
        next = probity_frame_next(frame);
        if (next >= wanted)
            return next != wanted || probity_frame_is_overwritten(open);
        if (next <= frame || (next & 7) != 0)
            return wanted - first < PROBITY_SCOPE_NEAR && probity_frame_is_overwritten(open);
        frame = next;
    } while (next - first < PROBITY_SCOPE_LINKED);
    return 0;
}

/* Whether the open scope with this frame may have been skipped by a jump before this one begins.
 * Its frame is usually close enough above this one to be readable: any function called since the
 * jump has stored another return address there. A frame farther away may be unmapped: it may have
 * been on the stack of a coroutine. */
PROBITY_INLINE int probity_scope_may_be_over(uint64_t open, uint64_t minus)
{
    if (PROBITY_FRAMES_ARE_LINKED && __builtin_expect(open - 1 < minus - 1, 1))
        return probity_scope_is_passed(open, minus);
    if (__builtin_expect(minus - open < (uint64_t)PROBITY_SCOPE_NEAR << 16, 1))
        return probity_frame_is_overwritten(open);
    return open >= minus;
}

/* The same for the innermost open scope, at place - 1. */
PROBITY_INLINE int probity_scope_is_suspect(uint32_t place, uint64_t minus)
{
    if (__builtin_expect(place > PROBITY_SCOPE_FRAMES, 0))
        return 1;
    return probity_scope_may_be_over(probity_scope_frame[place].minus, minus);
}

/* Takes a place. Sets the depth first, so that a signal handler in between takes another place. */
PROBITY_INLINE void probity_scope_take(uint32_t place, uint64_t minus, uint64_t where)
{
    if (__builtin_expect(place >= PROBITY_SCOPE_FRAMES, 0)) {
        probity_scope_take_deep(place, minus, where);
        return;
    }
    __atomic_store_n(&probity_scope_depth, place + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    probity_scope_frame[place + 1].where = where;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&probity_scope_frame[place + 1].minus, minus, __ATOMIC_RELAXED);
}

PROBITY_INLINE void probity_scope_free(uint32_t place)
{
    if (__builtin_expect(place < PROBITY_SCOPE_FRAMES, 1))
        __atomic_store_n(&probity_scope_frame[place + 1].minus, 0, __ATOMIC_RELAXED);
    else
        probity_scope_free_deep(place);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&probity_scope_depth, place, __ATOMIC_RELAXED);
}

/* Number of exceptions of this thread that are thrown and not caught yet: in the C++ ABI, the
 * second member of the struct that __cxa_get_globals() returns. */
PROBITY_INLINE uint32_t probity_scope_raised(void)
{
    const uint32_t *globals = PROBITY_UINT32S(probity_scope_exceptions);

    return globals != NULL ? globals[sizeof(void *) / sizeof(uint32_t)] : 0;
}
#endif

/* Copies a value of 1, 2, 4, 8 or 16 bytes; the size is a constant. */
PROBITY_INLINE uint8_t *probity_put_bytes(uint8_t *at, const void *value, size_t bytes)
{
    memcpy(at, value, bytes);
    return at + bytes;
}

/* Size of the fields before the values in the payload of an event of `kind`: function (7, 8, 11),
 * format, and tick of the enter (11). */
PROBITY_INLINE uint32_t probity_head_bytes(uint32_t kind)
{
    return kind == 11 ? 16 : kind == 7 || kind == 8 ? 8 : 4;
}

PROBITY_INLINE uint8_t *
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

#if PROBITY_SCOPE_NOTED
/* A variable in the register in which a hook expects it. gcc keeps all variables of a coroutine,
 * even register variables, in memory: the assembly loads them. */
#if defined(__cpp_impl_coroutine) && !defined(__clang__)
#define PROBITY_SCOPE_IN(register_, ...) __VA_ARGS__
#define PROBITY_SCOPE_OPERAND "+m"
#define PROBITY_SCOPE_LOAD(operand, register_)                                                     \
    "\n\tmov{q %" #operand ", %%" register_ "| " register_ ", %" #operand "}"
#define PROBITY_SCOPE_LOADED(...) __VA_ARGS__,
#else
#define PROBITY_SCOPE_IN(register_, ...) register __VA_ARGS__ __asm__(register_)
#define PROBITY_SCOPE_OPERAND "+r"
#define PROBITY_SCOPE_LOAD(operand, register_)
#define PROBITY_SCOPE_LOADED(...)
#endif

/* Begins a scope whose level is on, and records its enter. */
#define PROBITY_SCOPE_ENTER(scope, function, ...)                                                  \
    do {                                                                                           \
        PROBITY_SCOPE_IN("r10", struct probity_scope_here *fn_x_r10) = (scope);                    \
        PROBITY_SCOPE_IN("r11", struct probity_site_function **fn_x_r11) = (function);             \
        PROBITY_SCOPE_IN("rax", uintptr_t fn_x_rax) = probity_scope_frame_at();                    \
        __asm__ __inline__ volatile(PROBITY_NOTE(4, 5, 6, 7, 8, 9, 10, 11, 12)                     \
                                    PROBITY_SCOPE_LOAD(1, "r10") PROBITY_SCOPE_LOAD(2, "r11")      \
                                    "\n\t" PROBITY_HOOK_CALL("probity_scope_enter_hook")          \
                                    "\t.byte 0xa9\n\t.long .Lprobity_note%= - .\n"                \
                                    : "+a"(fn_x_rax), PROBITY_SCOPE_OPERAND(fn_x_r10),             \
                                      PROBITY_SCOPE_OPERAND(fn_x_r11), "+m"(*(scope))              \
                                    : PROBITY_NOTE_OF(__VA_ARGS__)                                 \
                                    : PROBITY_SCOPE_LOADED("r10", "r11") "cc", "r8", "r9",         \
                                      PROBITY_HOOK_VECTORS);                                       \
        if (__builtin_expect(fn_x_rax != 0, 0))                                                    \
            probity_scope_never();                                                                 \
    } while (0)

/* The same with values. block: their bytes; ret: the address of the variable that is returned, or
 * NULL, type_of_ret: its type, or 0, text_of_ret: its name; types: of up to 8 values, one byte
 * each, the first in the lowest byte; source, expanded: "n, a, b" as written and with macros
 * expanded. */
#define PROBITY_SCOPE_ENTER_VALUES(scope, function, block, ret, types, count, type_of_ret, source, \
                                   expanded, text_of_ret, ...)                                     \
    do {                                                                                           \
        /* May need a call (for a thread-local variable), which would change the registers. */     \
        const volatile void *fn_x_ret = (ret);                                                     \
        __asm__("" : "+r"(fn_x_ret));                                                              \
        PROBITY_SCOPE_IN("r10", struct probity_scope_here *fn_x_r10) = (scope);                    \
        PROBITY_SCOPE_IN("r11", struct probity_site_function **fn_x_r11) = (function);             \
        PROBITY_SCOPE_IN("r8", const void *fn_x_r8) = (block);                                     \
        PROBITY_SCOPE_IN("r9", const volatile void *fn_x_r9) = fn_x_ret;                           \
        PROBITY_SCOPE_IN("rax", uintptr_t fn_x_rax) = probity_scope_frame_at();                    \
        __asm__ __inline__ volatile(                                                               \
            PROBITY_NOTE_WITH("52", "1", PROBITY_NOTE_VALUES, 5, 6, 7, 8, 9, 10, 11, 12, 13)       \
            PROBITY_SCOPE_LOAD(1, "r10") PROBITY_SCOPE_LOAD(2, "r11")                              \
            PROBITY_SCOPE_LOAD(3, "r8") PROBITY_SCOPE_LOAD(4, "r9")                                \
            "\n\t" PROBITY_HOOK_CALL("probity_scope_enter_values_hook")                           \
            "\t.byte 0xa9\n\t.long .Lprobity_note%= - .\n"                                        \
            : "+a"(fn_x_rax), PROBITY_SCOPE_OPERAND(fn_x_r10), PROBITY_SCOPE_OPERAND(fn_x_r11),    \
              PROBITY_SCOPE_OPERAND(fn_x_r8), PROBITY_SCOPE_OPERAND(fn_x_r9)                       \
            : PROBITY_NOTE_OF(__VA_ARGS__), "i"(count), "i"(type_of_ret),                          \
              "i"((types) & 0xffffffff), "i"((types) >> 32),                                       \
              PROBITY_NOTE_TEXT(source), PROBITY_NOTE_TEXT(expanded),                              \
              PROBITY_NOTE_TEXT(text_of_ret)                                                       \
            : PROBITY_SCOPE_LOADED("r8", "r9", "r10", "r11") "memory", "cc",                       \
              PROBITY_HOOK_VECTORS);                                                               \
        if (__builtin_expect(fn_x_rax != 0, 0))                                                    \
            probity_scope_never();                                                                 \
    } while (0)
#define PROBITY_NOTE_VALUES                                                                        \
    "\t.byte %c14, %c15, 0, 0\n\t.long %c16, %c17\n\t.long %c18 - ., %c19 - ., %c20 - .\n"

/* Makes a note and sets a variable to its address. */
#define PROBITY_SCOPE_NOTE(variable, ...)                                                          \
    __asm__ __inline__(PROBITY_NOTE(1, 2, 3, 4, 5, 6, 7, 8, 9)                                     \
                       "\n\tlea{q .Lprobity_note%=(%%rip), %0| %0, [rip+.Lprobity_note%=]}"        \
                       : "=r"(variable)                                                            \
                       : PROBITY_NOTE_OF(__VA_ARGS__))
#endif

/* Runs when the scope's variable goes out of scope, for any reason. */
PROBITY_INLINE void
probity_scope_leave(struct probity_scope_here *scope)
{
    if (!probity_scope_is_open(scope))
        return;
#if PROBITY_SCOPE_NOTED
    register struct probity_scope_here *left __asm__("r10") = scope;
    /* "memory": the hook reads the variable of FN_RETVAL. */
    __asm__ __inline__ volatile(PROBITY_HOOK_CALL("probity_scope_leave_hook")
                                : "+r"(left), "+m"(*scope)
                                :
                                : "memory", "cc", "rcx", "rsi", "rdi", "r8", "r9", "r11",
                                  PROBITY_HOOK_VECTORS);
#else
    probity_scope_leave_open(scope);
#endif
}

/* FN_ORDERED: cleanup of a variable declared after the scope, so that it runs before the leave. */
PROBITY_INLINE void probity_scope_order(const char *unused)
{
    (void)unused;
    probity_order();
}

/* FN_RETVAL. */
PROBITY_INLINE void
probity_scope_returns(struct probity_scope_here *scope, const volatile void *ret,
                      struct probity_site_format *format, int is_fixed, uint32_t bytes,
                      probity_describer *describe, probity_formatter *formatter,
                      enum probity_value_how how)
{
    if (probity_scope_is_open(scope))
        probity_scope_set_return(scope, PROBITY_BYTES(PROBITY_NUMBER(ret)), format,
                                 is_fixed ? bytes : 0, describe, formatter, how);
}

#ifndef PROBITY_MSVC
/* FN_PARAM: whether to record it, that is, whether the function is recorded or its level is at most
 * the current level of parameters. */
PROBITY_INLINE int
probity_scope_takes_parameters(struct probity_scope_here *scope, const char *in, int level,
                               int flags)
{
    if (!probity_scope_is_open(scope) &&
        level > __atomic_load_n(&probity_scope_param_level, __ATOMIC_RELAXED))
        return 0;
    return probity_scope_is_shown(scope, probity_scope_frame_at(), in, level, flags);
}

PROBITY_INLINE void
probity_scope_mark(struct probity_scope_here *scope, const char *in, uint32_t kind)
{
    if (probity_scope_is_open(scope))
        probity_scope_pause_or_resume(scope, probity_scope_frame_at(), in, kind);
}
#endif

#ifdef __cplusplus
}
#if defined(__cpp_exceptions) && !defined(PROBITY_MSVC)
/* A file that includes this header without using it needs no library. */
extern "C" PROBITY_API void probity_scope_exceptions_by(void *(*find)(void)) PROBITY_OR_NULL;
__attribute__((__constructor__(101))) static void probity_scope_uses_exceptions(void)
{
    void (*by)(void *(*)(void)) = probity_scope_exceptions_by;

    if (by != NULL)
        by(reinterpret_cast<void *(*)(void)>(abi::__cxa_get_globals));
}
#endif
#endif

#if PROBITY_SCOPE_PATCHABLE
#include "probity_patchable.h"
#endif

#endif /* PROBITY_REFUSED */

#endif
