/* SPDX-License-Identifier: MIT
 *
 * FnTrace.h: short macros for function scopes: names, parameters, return values, messages, levels,
 * checkpoints, call counts and times. Modeled on "Basic Instrumentation and Profiling Framework
 * for C++" by Paul M. Watt (The Code Project, 2008), and built on Probity's record path.
 *
 *     #define FN_INSTRUMENT          // otherwise all macros are empty
 *     #include <FnTrace.h>
 *
 *     bool set_rect(struct rect *rect, int left, int top)
 *     {
 *         bool result = false;
 *         FN_FUNC_PARAMS(bool, result, FN_1, 3, rect, left, top);
 *         ...
 *         FN_OUTPUT("area is ", area);
 *         return result;
 *     }
 *
 * If PROBITY_OUT is set, the program records; `probity log` and `probity report` show the trace.
 * Records survive the process, however it ends.
 *
 * All macros are statements. They may be used in any thread and, if the values need no formatter,
 * in signal handlers; they preserve errno and never end the program. Arguments are evaluated once,
 * and only if the level of functions or parameters allows them. In C++, and in C with -fexceptions,
 * scopes are closed on exceptions, pthread_exit and cancellation; scopes left by longjmp are closed
 * by the `probity` command. A C++ thread must not be cancelled asynchronously inside a scope, just
 * as inside any destructor. The same applies to a C thread if gcc compiled it with -fexceptions but
 * without -fnon-call-exceptions, because the tables for unwinding are then correct only at calls.
 *
 * Requires C11 or C++11, gcc or clang; or, on Windows, C++14 and MSVC or clang-cl (in C, all macros
 * are empty there, and the compiler prints a message).
 *
 * If PROBITY_PATCHABLE is defined before the include, on x86-64 Linux, a scope compiles to two
 * no-op instructions, which are replaced when a recording begins: a program that is not recording
 * runs faster, and FN_FUNC does not prevent inlining. Link such files with -lprobity-functions
 * (probity-functions(7)).
 */
#ifndef FNTRACE_H
#define FNTRACE_H

/* Levels. A scope is recorded if its level is at most the current level of functions, which is FN_5
 * by default. */
#define FN_0 0
#define FN_1 1
#define FN_2 2
#define FN_3 3
#define FN_4 4
#define FN_5 5

/* As retType: the function returns nothing. As retVar: does not record the return value. */
#define FN_VOID void

/* With an unsupported compiler, standard or platform, the include reports an #error, and all macros
 * are empty. */
#ifdef FN_INSTRUMENT
#include "probity_values.h"
#endif

#if defined(FN_INSTRUMENT) && defined(PROBITY_HAS_VALUES) && defined(PROBITY_MSVC)
#include "FnTrace_msvc.h"
#elif defined(FN_INSTRUMENT) && defined(PROBITY_HAS_VALUES)

#include <errno.h>
#include <stdio.h>

/* ---- Control ------------------------------------------------------------------------------------
 */

/* If defined before the include, these set the initial levels (if several files define them, the
 * last one counts). PROBITY_LEVEL=F[,P] in the environment takes precedence. A parameter level
 * below the function level is raised to it. */
#if defined(FN_FUNC_LEVEL_DEF) || defined(FN_PARAM_LEVEL_DEF)
#ifndef FN_FUNC_LEVEL_DEF
#define FN_FUNC_LEVEL_DEF FN_5
#endif
#ifndef FN_PARAM_LEVEL_DEF
#define FN_PARAM_LEVEL_DEF FN_FUNC_LEVEL_DEF
#endif
__attribute__((__constructor__)) static void fn_x_level_default(void)
{
    probity_level_default(FN_FUNC_LEVEL_DEF, FN_PARAM_LEVEL_DEF);
}
#endif

/* If this is defined before the include, in any file, the log is printed to standard error (like
 * std::clog) while the program runs, unless PROBITY_LOG names another destination (empty: none). No
 * environment variable is needed; without PROBITY_OUT, the trace is removed afterwards. The writer
 * thread prints the log, in whole lines and up to a second late, so a std::clog with a replaced
 * buffer does not receive it. */
#ifdef FN_OUTPUT_CLOG
#ifdef __cplusplus
extern "C" {
#endif
extern const char probity_log_default[7] __attribute__((__weak__, __visibility__("default")));
const char probity_log_default[7] = "stderr";
#ifdef __cplusplus
}
#endif
#endif

/* Sets the current levels of functions and parameters, FN_0 to FN_5, for all threads. `probity
 * level` does the same from outside the program. */
#define FN_INSTRUMENT_LEVEL(F, P) ((void)probity_level_set(F, P))

/* Call this at the beginning of a thread's function, with or without (). Optional, unless
 * PROBITY_THREADS=announced is set: then only threads that have called it are recorded. */
#define FN_INSTRUMENT_THREAD fn_x_announce()

/* 0: scopes entered from now on are only counted, not timed; 1: they are timed again (the default).
 * For all threads. */
#define FN_PROFILE(on) probity_profiling_set(on)

/* ---- Scopes -------------------------------------------------------------------------------------
 *
 * retType: the function's return type, or FN_VOID. retVar: the variable that the function returns,
 * declared before the macro and read when the scope ends; or FN_VOID. level: FN_0 to FN_5, a
 * constant. Use one of these per function, at the top of its body or of any block in it.
 */

/* Records the function: enter, leave, times. */
#define FN_FUNC(retType, level) FN_X_FUNC(retType, level)

/* After FN_FUNC: also records the return value. */
#define FN_RETVAL(retVar)                                                                          \
    do {                                                                                           \
        FN_X_FIND_OUT;                                                                             \
        FN_X_RETVAL(retVar);                                                                       \
    } while (0)

/* Combines both: FN_FUNC_RETVAL(retType, retVar, level). With a count and parameters after the
 * level, it is the same as FN_FUNC_PARAMS. */
#define FN_FUNC_RETVAL(retType, retVar, ...)                                                       \
    FN_X_CAT(FN_X_FUNC_RETVAL_, FN_X_MORE(__VA_ARGS__))(retType, retVar, __VA_ARGS__)

/* Also records n parameters, at most 32. A wrong n is a compile-time error. */
#define FN_FUNC_PARAMS(retType, retVar, level, ...)                                                \
    FN_X_CHECK_COUNT(__VA_ARGS__);                                                                 \
    FN_X_SCOPE(retType, level, 0, FN_X_ENTER_LATER);                                               \
    FN_X_WITH_VALUES(retType, retVar, FN_X_IS_VOID(FN_X_VOID_##retVar), FN_X_ENTER_LONG,       \
                     #__VA_ARGS__, __VA_ARGS__)

/* The same without the count. */
#define FN_FUNC_ARGS(retType, retVar, level, ...)                                                  \
    FN_X_CHECK_MOST(0, __VA_ARGS__);                                                               \
    FN_X_SCOPE(retType, level, 0, FN_X_ENTER_LATER);                                               \
    FN_X_WITH_VALUES(retType, retVar, FN_X_IS_VOID(FN_X_VOID_##retVar), FN_X_ENTER_LONG,       \
                     "," #__VA_ARGS__, 0, __VA_ARGS__)

/* FN_ORDERED(FN_FUNC(int, FN_1)): any of the above, or FN_ENTRY, with exact times: the scope begins
 * after all earlier instructions have finished, and ends after all instructions in it have
 * finished. Without it, the processor may read the clock up to 100 ns before preceding instructions
 * have finished, which matters only for short functions. Costs up to two more readings of the
 * clock. */
#define FN_ORDERED(...)                                                                            \
    _Pragma("GCC diagnostic push") /* nested blocks may declare another one */                     \
    _Pragma("GCC diagnostic ignored \"-Wshadow\"")                                                 \
    enum { fn_x_order = PROBITY_FUNCTION_ORDERED };                                                \
    probity_order();                                                                               \
    __VA_ARGS__;                                                                                   \
    __attribute__((__cleanup__(probity_scope_order))) char fn_x_ordered                            \
        __attribute__((__unused__)) = 0;                                                           \
    _Pragma("GCC diagnostic pop")

/* ---- In a scope ---------------------------------------------------------------------------------
 */

/* A message: a list of values of any supported type, including string literals. In C++ also a
 * stream expression, as for std::cout: FN_OUTPUT(L"The name is: " << name). A stream expression is
 * formatted immediately, by the calling thread, and only if it is recorded. */
#define FN_OUTPUT(...) FN_X_IF_REPORTED(FN_X_SAY(__VA_ARGS__))

/* A message formatted as by printf() and checked by the compiler. At most 1,023 bytes. */
#define FN_PRINTF(...)                                                                             \
    FN_X_IF_REPORTED(char fn_x_text[1024]; const int fn_x_errno = errno;                           \
                     snprintf(fn_x_text, sizeof fn_x_text, __VA_ARGS__); errno = fn_x_errno;       \
                     FN_X_RECORD(FN_X_MESSAGE, 0, 0, ",text", 0, fn_x_text))

/* The name and value of a variable. Recorded if the function's level is at most the current level
 * of parameters. */
#define FN_PARAM(param)                                                                            \
    do {                                                                                           \
        FN_X_FIND_OUT;                                                                             \
        if (probity_scope_takes_parameters(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, __func__,          \
                                           fn_x_level, fn_x_flags))                                \
            FN_X_RECORD(FN_X_PARAMETERS, 0, 0, "," #param, 0, param)                               \
    } while (0)

/* Replaces FN_FUNC: the function is recorded only if it reaches a checkpoint. */
#define FN_ENTRY(level)                                                                            \
    enum { fn_checkpoint_needs_FN_ENTRY = 1 };                                                     \
    struct probity_scope_pauses fn_x_pauses;                                                       \
    FN_X_SCOPE(, level, PROBITY_FUNCTION_DEFERRED, FN_X_ENTER_DEFERRED)

/* A labeled point in a function with FN_ENTRY, with n values. */
#define FN_CHECKPOINT(label, level, ...)                                                           \
    do {                                                                                           \
        FN_X_CHECK_COUNT(__VA_ARGS__);                                                             \
        FN_X_CHECK_LEVEL(level);                                                                   \
        uint64_t fn_x_entered = 0;                                                                 \
        uint32_t fn_x_code = 0;                                                                    \
        (void)fn_checkpoint_needs_FN_ENTRY;                                                        \
        if (probity_scope_is_on(level) && (FN_X_FIND_OUT, 1) &&                                    \
            probity_scope_is_open(&fn_scope_needs_FN_FUNC_or_FN_ENTRY) &&                          \
            probity_scope_is_due(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, probity_scope_frame_at(),    \
                                 __func__, &fn_x_code, &fn_x_entered)) {                           \
            FN_X_RECORD(FN_X_CHECKPOINT, fn_x_code, fn_x_entered, ";" #__VA_ARGS__, 0,             \
                        label FN_X_TAIL(__VA_ARGS__))                                              \
            probity_scope_paused(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, fn_x_entered);               \
        }                                                                                          \
    } while (0)

/* Excludes the time from here to FN_RESUME from this function's times, for example because the
 * function waits or does work for other functions. Each FN_RESUME ends one pause; an unmatched
 * FN_RESUME is counted and otherwise ignored. */
#define FN_PAUSE()                                                                                 \
    FN_X_FIND_OUT, probity_scope_mark(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, __func__, FN_X_PAUSE)
#define FN_RESUME()                                                                                \
    FN_X_FIND_OUT, probity_scope_mark(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, __func__, FN_X_RESUME)

#ifdef __cplusplus
/* A message as a stream expression, always formatted as text: FN_STREAM("area " << width). */
#define FN_STREAM(output)                                                                          \
    FN_X_IF_REPORTED(probity_fn::text_stream fn_x_stream; fn_x_stream << output;                   \
                     const std::string fn_x_text = fn_x_stream.text();                             \
                     FN_X_RECORD(FN_X_MESSAGE, 0, 0, ",text", 0, fn_x_text))
#endif

/* ---- Types --------------------------------------------------------------------------------------
 *
 * Supported without a formatter: integers of all sizes, bool, char, enums, float, double, long
 * double, complex, pointers, strings (char *, at most 1,000 bytes of each; invalid pointers are
 * safe), arrays of char and of unsigned char. In C++ also wide strings, std::string,
 * std::string_view, any type with an operator<< for std::ostream or std::wostream, and of such
 * types: containers, std::pair, tuple, optional, variant, atomic and reference_wrapper; smart
 * pointers; durations and time points (FnTrace(3) has a table). In C:
 *
 *   FN_WIDE(text)            a wide string (wchar_t is a plain int in C)
 *   FN_BYTES(address, n)     n bytes in hexadecimal, at most 512; in C++ too
 *   FN_USER_TYPES            defined before the include: formatters for other types, as
 *                            #define FN_USER_TYPES FN_USER_TYPE(struct rect *, format_rect)
 *                            where format_rect is a probity_formatter: it receives the address
 *                            of the value, here a struct rect *const *, runs in the calling
 *                            thread, and must accept any value, including NULL. A const type
 *                            needs a separate FN_USER_TYPE.
 */

/* ---- Not for direct use -------------------------------------------------------------------------
 */

/* FN_X_NO_JUMP: an initialization, so that a C++ compiler refuses a jump into the scope. */
#ifdef __cplusplus
#define FN_X_NO_JUMP const int fn_x_no_jump __attribute__((__unused__)) = 0;
#define FN_X_ASSERT static_assert
#define FN_X_SIGNATURE __PRETTY_FUNCTION__
#define FN_X_SIGNATURE_LISTED __PRETTY_FUNCTION__
#define FN_X_FLAGS PROBITY_FUNCTION_CXX
#else
#define FN_X_NO_JUMP
#define FN_X_ASSERT _Static_assert
#define FN_X_SIGNATURE NULL
#define FN_X_SIGNATURE_LISTED ""
#define FN_X_FLAGS 0
#endif

#define FN_X_CAT(a, b) FN_X_CAT_(a, b)
#define FN_X_CAT_(a, b) a##b
#define FN_X_TEXT(...) FN_X_TEXT_(__VA_ARGS__)
#define FN_X_TEXT_(...) #__VA_ARGS__

/* Event kinds, numbered as in doc/trace-format.md. */
#define FN_X_ENTER 7
#define FN_X_LEAVE 8
#define FN_X_MESSAGE 9
#define FN_X_PARAMETERS 10
#define FN_X_CHECKPOINT 11
#define FN_X_PAUSE 12
#define FN_X_RESUME 13

/* Default; FN_ORDERED declares another constant with this name in its block. */
enum { fn_x_order = 0 };

#define FN_X_CHECK_LEVEL(level)                                                                    \
    FN_X_ASSERT((level) >= 0 && (level) <= 5, "FnTrace: a level is FN_0 to FN_5")

/* The function's description, in an ELF note (PROBITY_NOTE_OF). */
#define FN_X_NOTED(retType)                                                                        \
    PROBITY_LISTED_FUNCTION, fn_x_level, fn_x_flags, 0, __func__, __FILE__, FN_X_SIGNATURE_LISTED, \
        FN_X_TEXT(retType)

#if PROBITY_SCOPE_NOTED
#define FN_X_FUNCTION(retType) static struct probity_site_function *fn_x_function;
#define FN_X_TAKE_NOTE(retType)                                                                    \
    const void *fn_x_note;                                                                         \
    PROBITY_SCOPE_NOTE(fn_x_note, FN_X_NOTED(retType))
#define FN_X_BEGIN_PLAIN(retType)                                                                  \
    PROBITY_SCOPE_ENTER(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, &fn_x_function, FN_X_NOTED(retType))
#else
#define FN_X_FUNCTION(retType)                                                                     \
    static struct probity_site_function fn_x_description = {__func__,          __FILE__,           \
                                                            FN_X_SIGNATURE,    FN_X_TEXT(retType), \
                                                            __LINE__,          fn_x_level,         \
                                                            fn_x_flags,        0,                  \
                                                            0,                 0};                 \
    static struct probity_site_function *fn_x_function = &fn_x_description;                        \
    PROBITY_LIST(FN_X_NOTED(retType));
#define FN_X_TAKE_NOTE(retType) const void *const fn_x_note = NULL
#define FN_X_BEGIN_PLAIN(retType)                                                                  \
    probity_scope_enter_frame(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, &fn_x_function,                 \
                              probity_scope_frame_at(), NULL)
#endif

#define FN_X_SCOPE(retType, level_, flags_, enter)                                                 \
    FN_X_SCOPE_OF(level_, flags_, FN_X_FUNCTION(retType))                                          \
    FN_X_NOT_OPEN(&fn_scope_needs_FN_FUNC_or_FN_ENTRY);                                            \
    enter(retType);                                                                                \
    _Pragma("GCC diagnostic pop")
#define FN_X_SCOPE_OF(level_, flags_, ...)                                                         \
    FN_X_CHECK_LEVEL(level_);                                                                      \
    _Pragma("GCC diagnostic push") /* a lambda or a block may have another scope */                \
    _Pragma("GCC diagnostic ignored \"-Wshadow\"")                                                 \
    enum { fn_x_level = (level_), fn_x_flags = FN_X_FLAGS | (+fn_x_order) | (flags_) };            \
    __VA_ARGS__                                                                                    \
    FN_X_NO_JUMP                                                                                   \
    FN_X_MARK                                                                                      \
    __attribute__((__cleanup__(FN_X_LEFT_BY))) struct probity_scope_here                           \
        fn_scope_needs_FN_FUNC_or_FN_ENTRY;

#if PROBITY_SCOPE_PATCHABLE
#define FN_X_LEFT_BY probity_scope_leave_site
#define FN_X_NOT_OPEN probity_scope_unknown
#define FN_X_FUNC(retType, level_)                                                                 \
    FN_X_SCOPE_OF(level_, 0, FN_X_SITE)                                                            \
    PROBITY_SCOPE_ENTER_SITE(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, FN_X_SITE_VARIABLE,              \
                             FN_X_NOTED(retType));                                                 \
    _Pragma("GCC diagnostic pop")
/* In C++, the variable of an inline function is visible from other objects, so its address is not a
 * constant. The variable of a template is the same for all copies of the function, and can be
 * hidden. */
#ifdef __cplusplus
#define FN_X_SITE struct fn_x_site {};
#define FN_X_SITE_VARIABLE probity_fn::site_of<fn_x_site>::function
namespace probity_fn {
template <typename T> struct site_of {
    __attribute__((__visibility__("hidden"))) static struct probity_site_function *function;
};
template <typename T> struct probity_site_function *site_of<T>::function;
}
#else
#define FN_X_SITE static struct probity_site_function *fn_x_function;
#define FN_X_SITE_VARIABLE fn_x_function
#endif
#define FN_X_FIND_OUT probity_scope_find_out(&fn_scope_needs_FN_FUNC_or_FN_ENTRY)
/* Statements that begin a recorded scope and use it, before is_open gets the value that sites
 * use. */
#define FN_X_IF_ON(...)                                                                            \
    if (__builtin_expect(probity_scope_is_patched(), 0)) {                                         \
        probity_scope_off(&fn_scope_needs_FN_FUNC_or_FN_ENTRY);                                    \
        if (probity_scope_is_on(fn_x_level)) {                                                     \
            __VA_ARGS__                                                                            \
        }                                                                                          \
        probity_scope_open_patched(&fn_scope_needs_FN_FUNC_or_FN_ENTRY);                           \
    }
#else
#define FN_X_LEFT_BY probity_scope_leave
#define FN_X_NOT_OPEN probity_scope_off
#define FN_X_FUNC(retType, level) FN_X_SCOPE(retType, level, 0, FN_X_ENTER_PLAIN)
#define FN_X_FIND_OUT (void)0
#define FN_X_IF_ON(...)                                                                            \
    if (probity_scope_is_on(fn_x_level)) {                                                         \
        __VA_ARGS__                                                                                \
    }
#endif

/* Declared before the scope, so that its mark comes after the leave. */
#ifdef PROBITY_USDT
#define FN_X_MARK                                                                                  \
    __attribute__((__cleanup__(probity_usdt_leave))) const char *const fn_x_mark = __func__;       \
    PROBITY_USDT_ENTER(fn_x_mark, fn_x_level);
#else
#define FN_X_MARK
#endif

#define FN_X_ENTER_PLAIN(retType)                                                                  \
    do {                                                                                           \
        FN_X_IF_ON(FN_X_BEGIN_PLAIN(retType);)                                                     \
    } while (0)
#define FN_X_ENTER_LATER(retType) (void)0
#define FN_X_ENTER_DEFERRED(retType)                                                               \
    do {                                                                                           \
        FN_X_IF_ON(FN_X_TAKE_NOTE(retType);                                                        \
                   probity_scope_defer_frame(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, &fn_x_function,  \
                                             probity_scope_frame_at(), fn_x_note, &fn_x_pauses);)  \
    } while (0)

#define FN_X_ENTER_LONG(retType, source, ...)                                                      \
    {                                                                                              \
        FN_X_TAKE_NOTE(retType);                                                                   \
        uint32_t fn_x_code =                                                                       \
            probity_scope_begin_frame(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, &fn_x_function,         \
                                      probity_scope_frame_at(), fn_x_note);                        \
        if (__builtin_expect(fn_x_code != 0, 1)) {                                                 \
            uint64_t fn_x_tick;                                                                    \
            FN_X_RECORD_AT(fn_x_tick =, FN_X_ENTER, fn_x_code, 0, source, __VA_ARGS__)             \
            probity_scope_entered(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, fn_x_tick);                 \
        }                                                                                          \
    }

#define FN_X_IF_REPORTED(...)                                                                      \
    do {                                                                                           \
        FN_X_FIND_OUT;                                                                             \
        if (probity_scope_is_open(&fn_scope_needs_FN_FUNC_or_FN_ENTRY) &&                          \
            probity_scope_is_reported(&fn_scope_needs_FN_FUNC_or_FN_ENTRY,                         \
                                      probity_scope_frame_at(), __func__)) {                       \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    } while (0)

/* Enters a scope with parameters and sets the variable that is returned: in one call if all values
 * are short, else in separate calls. enter: FN_X_ENTER_LONG, or FN_X_ENTER_BARE if there are no
 * parameters. */
#define FN_X_WITH_VALUES(retType, retVar, is_void, enter, source, ...)                             \
    FN_X_WITH_VALUES_(retType, retVar, is_void, enter, source, __VA_ARGS__)
#if PROBITY_SCOPE_NOTED
#define FN_X_WITH_VALUES_(retType, retVar, is_void, enter, source, ...)                            \
    do {                                                                                           \
        FN_X_IF_ON(                                                                                \
            FN_X_EACH(FN_X_FACTS, __VA_ARGS__)                                                     \
            FN_X_CAT(FN_X_FACTS_OF_RET_, is_void)(retVar)                                          \
            if (FN_X_ARE_SHORT(retVar, is_void, __VA_ARGS__))                                      \
                FN_X_ENTER_SHORT(retType, retVar, is_void, source, __VA_ARGS__)                    \
            else {                                                                                 \
                enter(retType, source, __VA_ARGS__)                                                \
                FN_X_CAT(FN_X_RETVAL_, is_void)(retVar);                                           \
            })                                                                                     \
    } while (0)
#else
#define FN_X_WITH_VALUES_(retType, retVar, is_void, enter, source, ...)                            \
    do {                                                                                           \
        FN_X_IF_ON(                                                                                \
            FN_X_EACH(FN_X_FACTS, __VA_ARGS__)                                                     \
            FN_X_CAT(FN_X_FACTS_OF_RET_, is_void)(retVar)                                          \
            enter(retType, source, __VA_ARGS__)                                                    \
            FN_X_CAT(FN_X_RETVAL_, is_void)(retVar);)                                              \
    } while (0)
#endif
#define FN_X_ENTER_BARE(retType, source, ...)                                                      \
    {                                                                                              \
        FN_X_BEGIN_PLAIN(retType);                                                                 \
    }

/* Short: up to 8 values, and a returned variable, whose bytes are recorded unchanged. */
#define FN_X_ARE_SHORT(retVar, is_void, ...)                                                       \
    (FN_X_CAT(FN_X_IS_SHORT_, is_void)(retVar) FN_X_EACH(FN_X_AND_SHORT, __VA_ARGS__))
#define FN_X_IS_SHORT_1(retVar) 1
#define FN_X_IS_SHORT_0(retVar)                                                                    \
    FN_X_AS_IT_IS(fn_x_ret, retVar) && FN_X_TYPE(fn_x_ret, retVar) < PROBITY_TYPE_ARRAY
#define FN_X_FACTS_OF_RET_1(retVar)
#define FN_X_FACTS_OF_RET_0(retVar) FN_X_FACTS(fn_x_ret, retVar)
#define FN_X_AND_SHORT(n, x)                                                                       \
    &&FN_X_FIXED(n, x) && FN_X_TYPE(n, x) < PROBITY_TYPE_ARRAY && FN_X_INDEX(n) < 8
#define FN_X_INDEX(n) (sizeof(#n) - sizeof("fn_x_v"))

#define FN_X_ENTER_SHORT(retType, retVar, is_void, source, ...)                                    \
    {                                                                                              \
        FN_X_EACH(FN_X_LOCAL, __VA_ARGS__)                                                         \
        FN_X_CONSTANT(fn_x_types, FN_X_NO_TYPES FN_X_EACH(FN_X_OR_TYPE, __VA_ARGS__))              \
        FN_X_CONSTANT(fn_x_type_of_ret, FN_X_CAT(FN_X_TYPE_OF_RET_, is_void)(retVar))              \
        enum { fn_x_size = 0 FN_X_EACH(FN_X_PLUS_BYTES, __VA_ARGS__) };                            \
        uint32_t fn_x_block[fn_x_size / 4 + 1];                                                    \
        uint8_t *fn_x_at = PROBITY_BYTES(fn_x_block);                                              \
        if (fn_x_size % 4 != 0)                                                                    \
            fn_x_block[fn_x_size / 4] = 0;                                                         \
        FN_X_EACH(FN_X_STORE, __VA_ARGS__)                                                         \
        (void)fn_x_at;                                                                             \
        PROBITY_SCOPE_ENTER_VALUES(                                                                \
            &fn_scope_needs_FN_FUNC_or_FN_ENTRY, &fn_x_function, fn_x_block,                       \
            FN_X_CAT(FN_X_ADDRESS_OF_RET_, is_void)(retVar),                                       \
            FN_X_CONSTANT_OF(fn_x_types, FN_X_NO_TYPES FN_X_EACH(FN_X_OR_TYPE, __VA_ARGS__)),      \
            FN_X_COUNT(__VA_ARGS__),                                                               \
            FN_X_CONSTANT_OF(fn_x_type_of_ret, FN_X_CAT(FN_X_TYPE_OF_RET_, is_void)(retVar)),      \
            source, FN_X_TEXT(__VA_ARGS__), FN_X_CAT(FN_X_TEXT_OF_RET_, is_void)(retVar),          \
            FN_X_NOTED(retType));                                                                  \
    }
#define FN_X_NO_TYPES PROBITY_CAST(uint64_t, 0)
#define FN_X_OR_TYPE(n, x)                                                                         \
    | PROBITY_CAST(uint64_t, FN_X_TYPE(n, x) % PROBITY_TYPE_ARRAY) << 8 * (FN_X_INDEX(n) % 8)
#define FN_X_TYPE_OF_RET_0(retVar) FN_X_TYPE(fn_x_ret, retVar) % PROBITY_TYPE_ARRAY
#define FN_X_TYPE_OF_RET_1(retVar) 0
#define FN_X_ADDRESS_OF_RET_0(retVar) &retVar
#define FN_X_ADDRESS_OF_RET_1(retVar) NULL
#define FN_X_TEXT_OF_RET_0(retVar) #retVar
#define FN_X_TEXT_OF_RET_1(retVar) ""
/* An asm operand must be a constant even without optimization: in C++, a constexpr variable is one,
 * but a call is not; in C, no variable is. */
#ifdef __cplusplus
#define FN_X_CONSTANT(name, ...) constexpr uint64_t name = __VA_ARGS__;
#define FN_X_CONSTANT_OF(name, ...) name
#else
#define FN_X_CONSTANT(name, ...)
#define FN_X_CONSTANT_OF(name, ...) (__VA_ARGS__)
#endif

#define FN_X_FUNC_RETVAL_0(retType, retVar, level)                                                 \
    FN_X_SCOPE(retType, level, 0, FN_X_ENTER_LATER);                                               \
    FN_X_WITH_VALUES(retType, retVar, FN_X_IS_VOID(FN_X_VOID_##retVar), FN_X_ENTER_BARE, "0", 0)
#define FN_X_FUNC_RETVAL_1(retType, retVar, level, ...)                                            \
    FN_FUNC_PARAMS(retType, retVar, level, __VA_ARGS__)

/* Makes both FN_INSTRUMENT_THREAD and FN_INSTRUMENT_THREAD() statements: a call whose result can be
 * called. */
static inline __attribute__((__no_instrument_function__)) void fn_x_announced(void)
{
}
static inline __attribute__((__no_instrument_function__)) void (*fn_x_announce(void))(void)
{
    probity_thread_announce();
    return fn_x_announced;
}

/* Whether retVar is the word FN_VOID. */
#define FN_X_VOID_FN_VOID ~, 1
#define FN_X_VOID_void ~, 1
#define FN_X_IS_VOID(...) FN_X_SECOND(__VA_ARGS__, 0, ~)
#define FN_X_SECOND(a, b, ...) b
#define FN_X_RETVAL_1(retVar) (void)0
#define FN_X_RETVAL_0(retVar) FN_X_RETVAL_IN(retVar)

#ifdef __cplusplus
#define FN_X_RETVAL_DESCRIBE(x) probity_fn::describe_at<probity_fn::plain<decltype((x))>>
#define FN_X_RETVAL_HOW(x) nullptr, PROBITY_AT_VALUE
#define FN_X_RETVAL_SIZE(x) FN_X_SIZE(, x)
#else
#define FN_X_RETVAL_DESCRIBE(x) NULL
#define FN_X_RETVAL_HOW(x) FN_X_FORMATTER_OF(x), FN_X_HOW(fn_x_ret, x)
#define FN_X_RETVAL_SIZE(x)                                                                        \
    (FN_X_IS_LITERAL(fn_x_ret, x) ? 0 : (uint32_t)sizeof(FN_X_TYPEOF(x)))
#endif

#define FN_X_RETVAL(retVar)                                                                        \
    do {                                                                                           \
        FN_X_FACTS(fn_x_ret, retVar)                                                               \
        FN_X_RETVAL_IN(retVar);                                                                    \
    } while (0)
/* Within a block with the facts. */
#define FN_X_RETVAL_IN(retVar)                                                                     \
    do {                                                                                           \
        FN_X_CHECK_TYPE(retVar)                                                                    \
        static const uint8_t fn_x_types[] = {FN_X_TYPE(fn_x_ret, retVar)};                         \
        static const char *const fn_x_texts[] = {#retVar};                                         \
        static struct probity_site_format fn_x_format = {fn_x_types, fn_x_texts, NULL,             \
                                                         1,          __LINE__,   0};               \
        probity_scope_returns(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, &retVar, &fn_x_format,          \
                              FN_X_AS_IT_IS(fn_x_ret, retVar), FN_X_RETVAL_SIZE(retVar),           \
                              FN_X_RETVAL_DESCRIBE(retVar), FN_X_RETVAL_HOW(retVar));              \
    } while (0)

/* Writes one record: a block that evaluates each value once and stores it. The first variable
 * argument, n, is ignored. */
#define FN_X_RECORD(kind_, code_, entered_, source, ...)                                           \
    {                                                                                              \
        FN_X_EACH(FN_X_FACTS, __VA_ARGS__)                                                         \
        FN_X_RECORD_AT((void), kind_, code_, entered_, source, __VA_ARGS__)                        \
    }
/* The same in a block with the facts; sets a variable to the record's tick. takes: "variable =". */
#define FN_X_RECORD_AT(takes, kind_, code_, entered_, source, ...)                                 \
    {                                                                                              \
        FN_X_ASSERT(33 >= FN_X_COUNT(__VA_ARGS__), "FnTrace: more than 32 values");                \
        FN_X_EACH(FN_X_LOCAL, __VA_ARGS__)                                                         \
        static const uint8_t fn_x_types[] = {0 FN_X_EACH(FN_X_TYPE_OF, __VA_ARGS__)};              \
        static const char *const fn_x_texts[] = {"" FN_X_EACH(FN_X_TEXT_OF, __VA_ARGS__)};         \
        static struct probity_site_format fn_x_format = {                                          \
            fn_x_types + 1, fn_x_texts + 1, source, sizeof fn_x_types - 1, __LINE__, 0};           \
        struct probity_event_room fn_x_room;                                                       \
        uint32_t fn_x_number = probity_site_format_number(&fn_x_format);                           \
        uint8_t *fn_x_at = NULL;                                                                   \
        if ((1 FN_X_EACH(FN_X_AND_FIXED, __VA_ARGS__)) && __builtin_expect(fn_x_number != 0, 1))   \
            fn_x_at = probity_event_begin(&fn_x_room, (kind_),                                     \
                                          probity_head_bytes(kind_)                                \
                                              FN_X_EACH(FN_X_PLUS_SIZE, __VA_ARGS__));             \
        if (__builtin_expect(fn_x_at != NULL, 1)) {                                                \
            fn_x_at = probity_put_head(fn_x_at, (kind_), (code_), fn_x_number, (entered_));        \
            FN_X_EACH(FN_X_STORE, __VA_ARGS__)                                                     \
            (void)fn_x_at;                                                                         \
            takes probity_event_publish(&fn_x_room);                                               \
        } else {                                                                                   \
            const struct probity_value fn_x_values[] = {                                           \
                FN_X_EACH(FN_X_VALUE, __VA_ARGS__){NULL, 0, NULL, PROBITY_AT_VALUE}};              \
            takes probity_values_slow((kind_), (code_), (entered_), &fn_x_format, fn_x_values);    \
        }                                                                                          \
    }

/* A message. In C++, a single argument may be a stream expression, as determined by the type of its
 * result. */
#define FN_X_SAY_LIST(...)                                                                         \
    FN_X_CHECK_MOST(0, __VA_ARGS__);                                                               \
    FN_X_RECORD(FN_X_MESSAGE, 0, 0, "," #__VA_ARGS__, 0, __VA_ARGS__)
#ifdef __cplusplus
#define FN_X_SAY(...)                                                                              \
    FN_X_CAT(FN_X_SAY_at_most_32_parameters_, FN_X_MORE(__VA_ARGS__))(__VA_ARGS__)
#define FN_X_SAY_at_most_32_parameters_1(...) FN_X_SAY_LIST(__VA_ARGS__)
#define FN_X_SAY_at_most_32_parameters_0(x)                                                        \
    _Pragma("GCC diagnostic push") /* in a == b, << binds first, as for std::cout */               \
    _Pragma("GCC diagnostic ignored \"-Wparentheses\"")                                            \
    using fn_x_type = probity_fn::message_of<decltype(probity_fn::start() << x)>;                  \
    static_assert(probity_fn::message_type_of<fn_x_type>() != 0,                                   \
                  "FnTrace: no operator<<(std::ostream &, ...) or (std::wostream &, ...) for the " \
                  "type of '" #x "'");                                                             \
    static const uint8_t fn_x_types[] = {probity_fn::message_type_of<fn_x_type>()};                \
    static const char *const fn_x_texts[] = {#x};                                                  \
    static struct probity_site_format fn_x_format = {fn_x_types, fn_x_texts, "," #x, 1, __LINE__,  \
                                                     0};                                           \
    probity_fn::record_value<probity_fn::is_an_array<fn_x_type>() && FN_X_LOOKS_LITERAL(x)>(      \
        &fn_x_format, probity_fn::unwrap(probity_fn::start() << x));                               \
    _Pragma("GCC diagnostic pop")
#else
#define FN_X_SAY(...) FN_X_SAY_LIST(__VA_ARGS__)
#endif

#define FN_X_TYPE_OF(n, x) , FN_X_TYPE(n, x)
#define FN_X_TEXT_OF(n, x) , #x
#define FN_X_AND_FIXED(n, x) &&FN_X_FIXED(n, x)
#define FN_X_PLUS_SIZE(n, x) +FN_X_SIZE(n, x)

#define FN_X_CHECK_COUNT(...)                                                                      \
    FN_X_ASSERT((FN_X_FIRST(__VA_ARGS__, ~)) == FN_X_COUNT(__VA_ARGS__),                           \
                "FnTrace: n is not the number of parameters that follow it");                      \
    FN_X_CHECK_MOST(__VA_ARGS__)
#define FN_X_CHECK_MOST(...)                                                                       \
    FN_X_ASSERT(32 >= FN_X_COUNT(__VA_ARGS__), "FnTrace: more than 32 parameters")
#define FN_X_FIRST(a, ...) a

/* FN_X_EACH(m, n, x1, x2, ...): m(fn_x_v, x1) m(fn_x_v_, x2) ...: each name is one underscore
 * longer than the previous one, so that each value has its own variable. There is one macro for
 * each count: the expansion of m is then scanned once, whereas a macro that is rescanned at each
 * step would scan it dozens of times. A checkpoint has up to 33 arguments, with its label. From 34
 * to 63 arguments, a clear error is reported elsewhere; with more, only the macro's name states the
 * limit. */
#define FN_X_EACH(m, ...)                                                                          \
    FN_X_CAT(FN_X_at_most_32_parameters_, FN_X_COUNT(__VA_ARGS__))(m, fn_x_v, __VA_ARGS__)
#define FN_X_at_most_32_parameters_0(m, name, n)
#define FN_X_at_most_32_parameters_1(m, name, n, x) m(name, x)
#define FN_X_at_most_32_parameters_2(m, name, n, x, ...)                                           \
    m(name, x) FN_X_at_most_32_parameters_1(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_3(m, name, n, x, ...)                                           \
    m(name, x) FN_X_at_most_32_parameters_2(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_4(m, name, n, x, ...)                                           \
    m(name, x) FN_X_at_most_32_parameters_3(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_5(m, name, n, x, ...)                                           \
    m(name, x) FN_X_at_most_32_parameters_4(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_6(m, name, n, x, ...)                                           \
    m(name, x) FN_X_at_most_32_parameters_5(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_7(m, name, n, x, ...)                                           \
    m(name, x) FN_X_at_most_32_parameters_6(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_8(m, name, n, x, ...)                                           \
    m(name, x) FN_X_at_most_32_parameters_7(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_9(m, name, n, x, ...)                                           \
    m(name, x) FN_X_at_most_32_parameters_8(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_10(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_9(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_11(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_10(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_12(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_11(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_13(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_12(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_14(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_13(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_15(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_14(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_16(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_15(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_17(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_16(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_18(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_17(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_19(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_18(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_20(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_19(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_21(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_20(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_22(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_21(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_23(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_22(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_24(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_23(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_25(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_24(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_26(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_25(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_27(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_26(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_28(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_27(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_29(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_28(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_30(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_29(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_31(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_30(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_32(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_31(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_33(m, name, n, x, ...)                                          \
    m(name, x) FN_X_at_most_32_parameters_32(m, name##_, n, __VA_ARGS__)
#define FN_X_at_most_32_parameters_34(...)

/* The number of arguments after the first; 34 for 34 to 63. */
#define FN_X_COUNT(...)                                                                            \
    FN_X_65TH(__VA_ARGS__, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34,     \
              34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 33, 32, 31, 30, 29, 28, 27, 26,  \
              25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4,    \
              3, 2, 1, 0, 0)

/* 1 if there are two or more arguments (up to 64), else 0. */
#define FN_X_MORE(...)                                                                             \
    FN_X_65TH(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
              1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  \
              1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0)
#define FN_X_65TH(a1, a2, a3, a4, a5, a6, a7, a8, a9, b1, b2, b3, b4, b5, b6, b7, b8, b9, c1, c2,  \
                  c3, c4, c5, c6, c7, c8, c9, d1, d2, d3, d4, d5, d6, d7, d8, d9, e1, e2, e3, e4,  \
                  e5, e6, e7, e8, e9, f1, f2, f3, f4, f5, f6, f7, f8, f9, g1, g2, g3, g4, g5, g6,  \
                  g7, g8, g9, h1, r, ...)                                                          \
    r

/* For (n): nothing. For (n, x, ...): a comma and the rest. */
#define FN_X_TAIL(...) FN_X_CAT(FN_X_TAIL_, FN_X_MORE(__VA_ARGS__))(__VA_ARGS__)
#define FN_X_TAIL_0(...)
#define FN_X_TAIL_1(n, ...) , __VA_ARGS__

#else /* ---- Nothing compiled in ------------------------------------------------------------- */

#if defined(FN_INSTRUMENT) && defined(PROBITY_MSVC)
#pragma message("FnTrace.h records nothing in C with this compiler: compile the file as C++")
#endif

#define FN_X_GONE                                                                                  \
    do {                                                                                           \
    } while (0)
#define FN_INSTRUMENT_LEVEL(F, P) FN_X_GONE
#define FN_INSTRUMENT_THREAD fn_x_gone()
#define FN_PROFILE(on) FN_X_GONE
#define FN_ORDERED(...) __VA_ARGS__
#define FN_FUNC(retType, level) FN_X_GONE
#define FN_RETVAL(retVar) FN_X_GONE
#define FN_FUNC_RETVAL(retType, retVar, ...) FN_X_GONE
#define FN_FUNC_PARAMS(retType, retVar, level, ...) FN_X_GONE
#define FN_FUNC_ARGS(retType, retVar, level, ...) FN_X_GONE
#define FN_OUTPUT(...) FN_X_GONE
#define FN_PRINTF(...) FN_X_GONE
#define FN_STREAM(output) FN_X_GONE
#define FN_PARAM(param) FN_X_GONE
#define FN_ENTRY(level) FN_X_GONE
#define FN_CHECKPOINT(label, level, ...) FN_X_GONE
#define FN_PAUSE() FN_X_GONE
#define FN_RESUME() FN_X_GONE

#ifdef __GNUC__ /* -std=c90 has no inline */
#define FN_X_INLINE __inline__
#else
#define FN_X_INLINE inline
#endif

/* FN_INSTRUMENT_THREAD, with or without (). */
static FN_X_INLINE void fn_x_gone_too(void)
{
}
static FN_X_INLINE void (*fn_x_gone(void))(void)
{
    return fn_x_gone_too;
}

#endif

#endif
