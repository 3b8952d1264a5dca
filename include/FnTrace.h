/* SPDX-License-Identifier: MIT
 *
 * FnTrace.h: function scopes by brief macros: names, parameters, return values, messages, levels,
 * checkpoints, call counts and times. In the manner of "Basic Instrumentation and Profiling
 * Framework for C++" by Paul M. Watt (The Code Project, 2008), on Probity's record path.
 *
 *     #define FN_INSTRUMENT          // without it nothing is compiled in
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
 * With PROBITY_OUT set, the program records; `probity log` and `probity report` show it. What is
 * recorded survives the process however it ends.
 *
 * All macros are statements. They may be used by any thread and in signal handlers (where values
 * need no formatter), leave errno alone and never end the program. Arguments are evaluated once,
 * and only where they are recorded. C++, and C with -fexceptions, closes scopes on exceptions,
 * pthread_exit and cancellation; those that longjmp leaves are closed by the tool. A C++ thread
 * must not be cancelled asynchronously inside a scope, as inside any destructor. C11 and C++17, gcc
 * and clang.
 */
#ifndef FNTRACE_H
#define FNTRACE_H

/* Levels: of a scope, and in force. A scope is recorded where its level is not above the level of
 * functions in force, which is FN_5 unless something else is said. */
#define FN_0 0
#define FN_1 1
#define FN_2 2
#define FN_3 3
#define FN_4 4
#define FN_5 5

/* The return type of a function that returns nothing; as a variable: there is none. */
#define FN_VOID void

#ifdef FN_INSTRUMENT

#if defined(__cplusplus) && __cplusplus < 201703L
#error "FnTrace.h needs C++17 or newer (-std=c++17)"
#endif

#include <errno.h>
#include <stdio.h>

#include "probity_values.h"

/* ---- Control ------------------------------------------------------------------------------------
 */

/* Defined before the include, these set the levels that the program starts with (of several files,
 * the last one counts). PROBITY_LEVEL=F[,P] in the environment goes before them. A level of
 * parameters below that of functions is raised to it. */
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

/* Changes the levels of functions and of parameters in force, FN_0 to FN_5, for all threads.
 * `probity level` does it from outside. */
#define FN_INSTRUMENT_LEVEL(F, P) ((void)probity_level_set(F, P))

/* At the beginning of a thread's function. Optional, unless PROBITY_THREADS=announced: then only
 * threads that did this are recorded. */
#define FN_INSTRUMENT_THREAD() probity_thread_announce()

/* 0: scopes entered from now on count as calls, without times; 1: with times again (as at the
 * start). For all threads. */
#define FN_PROFILE(on) probity_profiling_set(on)

/* ---- Scopes -------------------------------------------------------------------------------------
 *
 * retType: the function's return type, or FN_VOID. retVar: the variable that the function returns,
 * declared before; its value is taken when the scope ends; or FN_VOID. level: FN_0 to FN_5, a
 * constant. Each of these once in a function, at the top of its body or of any block in it.
 */

/* Reports the function: enter, leave, times. */
#define FN_FUNC(retType, level) FN_X_SCOPE(retType, level, 0, FN_X_ENTER_PLAIN)

/* Behind FN_FUNC: reports the return value too. */
#define FN_RETVAL(retVar) FN_X_RETVAL(retVar)

/* Both in one. */
#define FN_FUNC_RETVAL(retType, retVar, level)                                                     \
    FN_X_SCOPE(retType, level, 0, FN_X_ENTER_PLAIN);                                               \
    FN_X_CAT(FN_X_RETVAL_, FN_X_IS_VOID(FN_X_VOID_##retVar))(retVar)

/* Reports parameters too: n of them, up to 32. A wrong n is an error of compilation. */
#define FN_FUNC_PARAMS(retType, retVar, level, ...)                                                \
    FN_X_CHECK_COUNT(__VA_ARGS__);                                                                 \
    FN_X_SCOPE(retType, level, 0, FN_X_ENTER_LATER);                                               \
    FN_X_CAT(FN_X_RETVAL_, FN_X_IS_VOID(FN_X_VOID_##retVar))(retVar);                              \
    FN_X_ENTER_VALUES(level, #__VA_ARGS__, __VA_ARGS__)

/* The same without n. */
#define FN_FUNC_ARGS(retType, retVar, level, ...)                                                  \
    FN_X_CHECK_MOST(0, __VA_ARGS__);                                                               \
    FN_X_SCOPE(retType, level, 0, FN_X_ENTER_LATER);                                               \
    FN_X_CAT(FN_X_RETVAL_, FN_X_IS_VOID(FN_X_VOID_##retVar))(retVar);                              \
    FN_X_ENTER_VALUES(level, "," #__VA_ARGS__, 0, __VA_ARGS__)

/* ---- In a scope ---------------------------------------------------------------------------------
 */

/* A message: a list of values of any type that can be shown, string literals among them. */
#define FN_OUTPUT(...)                                                                             \
    FN_X_IF_REPORTED(FN_X_CHECK_MOST(0, __VA_ARGS__);                                              \
                     FN_X_RECORD(FN_X_MESSAGE, 0, 0, "," #__VA_ARGS__, 0, __VA_ARGS__))

/* A message as printf() makes it, checked by the compiler. At most 1,023 bytes. */
#define FN_PRINTF(...)                                                                             \
    FN_X_IF_REPORTED(char fn_x_text[1024]; const int fn_x_errno = errno;                           \
                     snprintf(fn_x_text, sizeof fn_x_text, __VA_ARGS__); errno = fn_x_errno;       \
                     FN_X_RECORD(FN_X_MESSAGE, 0, 0, ",text", 0, fn_x_text))

/* Name and value of a variable. Recorded where the function's level is not above the level of
 * parameters. */
#define FN_PARAM(param)                                                                            \
    do {                                                                                           \
        if (probity_scope_takes_parameters(&fn_scope_needs_FN_FUNC_or_FN_ENTRY))                   \
            FN_X_RECORD(FN_X_PARAMETERS, 0, 0, "," #param, 0, param)                               \
    } while (0)

/* In place of FN_FUNC: nothing of the function is reported unless it comes to a checkpoint. */
#define FN_ENTRY(level)                                                                            \
    enum { fn_checkpoint_needs_FN_ENTRY = 1 };                                                     \
    FN_X_SCOPE(, level, PROBITY_FUNCTION_DEFERRED, FN_X_ENTER_DEFERRED)

/* A labelled point of a function with FN_ENTRY, with n values. */
#define FN_CHECKPOINT(label, level, ...)                                                           \
    do {                                                                                           \
        FN_X_CHECK_COUNT(__VA_ARGS__);                                                             \
        FN_X_CHECK_LEVEL(level);                                                                   \
        uint64_t fn_x_entered = 0;                                                                 \
        (void)fn_checkpoint_needs_FN_ENTRY;                                                        \
        if (probity_scope_is_on(level) &&                                                          \
            probity_scope_is_due(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, &fn_x_entered))              \
            FN_X_RECORD(FN_X_CHECKPOINT,                                                           \
                        probity_scope_code(&fn_scope_needs_FN_FUNC_or_FN_ENTRY), fn_x_entered,     \
                        NULL, 0, label FN_X_TAIL(__VA_ARGS__))                                     \
    } while (0)

/* The time from here to FN_RESUME is not this function's: it waits, or works for others. Each
 * FN_RESUME ends a pause; one without is counted, and does nothing. */
#define FN_PAUSE() probity_scope_mark(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, FN_X_PAUSE)
#define FN_RESUME() probity_scope_mark(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, FN_X_RESUME)

#ifdef __cplusplus
/* A message in the manner of std::cout: FN_STREAM("area " << width * height). The text is made at
 * once, by the program's thread. */
#define FN_STREAM(output)                                                                          \
    FN_X_IF_REPORTED(std::ostringstream fn_x_stream; fn_x_stream << output;                        \
                     const std::string fn_x_text = fn_x_stream.str();                              \
                     FN_X_RECORD(FN_X_MESSAGE, 0, 0, ",text", 0, fn_x_text))
#endif

/* ---- Types --------------------------------------------------------------------------------------
 *
 * Shown by themselves: integers of all sizes, bool, char, enums, float, double, long double,
 * complex, pointers, strings (char *, at most 1,000 bytes of each, whatever they point to), arrays
 * of char and of unsigned char. In C++ also wide strings, std::string, std::string_view, and any
 * type that a std::ostream takes. In C:
 *
 *   FN_WIDE(text)            a wide string (wchar_t is just int there)
 *   FN_BYTES(address, n)     n bytes in hexadecimal, at most 512; in C++ too
 *   FN_USER_TYPES            defined before the include: formatters of further types, as
 *                            #define FN_USER_TYPES FN_USER_TYPE(struct rect *, format_rect)
 *                            where format_rect is a probity_formatter: it gets the address of the
 *                            value, here a struct rect *const *, runs in the calling thread, and
 *                            must cope with any value, NULL among them. A type that is const
 *                            elsewhere needs a row of its own.
 */

/* ---- Not for direct use -------------------------------------------------------------------------
 */

#ifdef __cplusplus
#define FN_X_ASSERT static_assert
#define FN_X_SIGNATURE __PRETTY_FUNCTION__
#define FN_X_SIGNATURE_LISTED __PRETTY_FUNCTION__
#define FN_X_FLAGS PROBITY_FUNCTION_CXX
#else
#define FN_X_ASSERT _Static_assert
#define FN_X_SIGNATURE NULL
#define FN_X_SIGNATURE_LISTED ""
#define FN_X_FLAGS 0
#endif

#define FN_X_CAT(a, b) FN_X_CAT_(a, b)
#define FN_X_CAT_(a, b) a##b
#define FN_X_TEXT(...) FN_X_TEXT_(__VA_ARGS__)
#define FN_X_TEXT_(...) #__VA_ARGS__

/* Kinds of events, as doc/trace-format.md numbers them. */
#define FN_X_ENTER 7
#define FN_X_LEAVE 8
#define FN_X_MESSAGE 9
#define FN_X_PARAMETERS 10
#define FN_X_CHECKPOINT 11
#define FN_X_PAUSE 12
#define FN_X_RESUME 13

#define FN_X_CHECK_LEVEL(level)                                                                    \
    FN_X_ASSERT((level) >= 0 && (level) <= 5, "FnTrace: a level is FN_0 to FN_5")

#define FN_X_SCOPE(retType, level_, flags_, enter)                                                 \
    FN_X_CHECK_LEVEL(level_);                                                                      \
    _Pragma("GCC diagnostic push") /* a lambda, or a block, has a scope of its own */              \
    _Pragma("GCC diagnostic ignored \"-Wshadow\"")                                                 \
    static struct probity_site_function fn_x_function = {                                          \
        __func__, __FILE__, FN_X_SIGNATURE, FN_X_TEXT(retType), __LINE__, (level_),                \
        FN_X_FLAGS | (flags_), 0, 0, 0};                                                           \
    char fn_x_mark;                                                                                \
    __attribute__((__cleanup__(probity_scope_leave))) struct probity_scope_here                    \
        fn_scope_needs_FN_FUNC_or_FN_ENTRY = {                                                     \
            &fn_x_function, 0, NULL, NULL, NULL, NULL, PROBITY_AT_VALUE, 0, 0, 0, 0,               \
            PROBITY_NUMBER(&fn_x_mark)};                                                           \
    _Pragma("GCC diagnostic pop")                                                                  \
    PROBITY_LIST(PROBITY_LISTED_FUNCTION, level_, FN_X_FLAGS | (flags_), 0, __func__, __FILE__,    \
                 FN_X_SIGNATURE_LISTED, FN_X_TEXT(retType));                                       \
    enter(level_)

#define FN_X_ENTER_PLAIN(level)                                                                    \
    if (probity_scope_is_on(level))                                                                \
    probity_scope_enter(&fn_scope_needs_FN_FUNC_or_FN_ENTRY)
#define FN_X_ENTER_LATER(level) (void)0
#define FN_X_ENTER_DEFERRED(level)                                                                 \
    if (probity_scope_is_on(level))                                                                \
    probity_scope_defer(&fn_scope_needs_FN_FUNC_or_FN_ENTRY)

#define FN_X_ENTER_VALUES(level, source, ...)                                                      \
    do {                                                                                           \
        if (probity_scope_is_on(level)) {                                                          \
            uint32_t fn_x_code = probity_scope_begin(&fn_scope_needs_FN_FUNC_or_FN_ENTRY);         \
            if (__builtin_expect(fn_x_code != 0, 1))                                               \
                FN_X_RECORD(FN_X_ENTER, fn_x_code, 0, source, __VA_ARGS__)                         \
        }                                                                                          \
    } while (0)

#define FN_X_IF_REPORTED(...)                                                                      \
    do {                                                                                           \
        if (probity_scope_is_reported(&fn_scope_needs_FN_FUNC_or_FN_ENTRY)) {                      \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    } while (0)

/* Whether retVar is the word FN_VOID. */
#define FN_X_VOID_FN_VOID ~, 1
#define FN_X_VOID_void ~, 1
#define FN_X_IS_VOID(...) FN_X_SECOND(__VA_ARGS__, 0, ~)
#define FN_X_SECOND(a, b, ...) b
#define FN_X_RETVAL_1(retVar) (void)0
#define FN_X_RETVAL_0(retVar) FN_X_RETVAL(retVar)

#ifdef __cplusplus
#define FN_X_RETVAL_DESCRIBE(x) probity_fn::describe_at<probity_fn::plain<decltype((x))>>
#define FN_X_RETVAL_HOW(x) nullptr, PROBITY_AT_VALUE
#else
#define FN_X_RETVAL_DESCRIBE(x) NULL
#define FN_X_RETVAL_HOW(x) FN_X_FORMATTER_OF(x), FN_X_HOW(x)
#endif

#define FN_X_RETVAL(retVar)                                                                        \
    do {                                                                                           \
        FN_X_CHECK_TYPE(retVar)                                                                    \
        static const uint8_t fn_x_types[] = {FN_X_TYPE(retVar)};                                   \
        static const char *const fn_x_texts[] = {#retVar};                                         \
        static struct probity_site_format fn_x_format = {fn_x_types, fn_x_texts, NULL,             \
                                                         1,          __LINE__,   0};               \
        probity_scope_returns(&fn_scope_needs_FN_FUNC_or_FN_ENTRY, &retVar, &fn_x_format,          \
                              FN_X_FIXED(retVar), FN_X_SIZE(retVar), FN_X_RETVAL_DESCRIBE(retVar), \
                              FN_X_RETVAL_HOW(retVar));                                            \
    } while (0)

/* One record: a block that evaluates the values, once, and stores them. The first of the variable
 * arguments stands for n. */
#define FN_X_RECORD(kind_, code_, entered_, source, ...)                                           \
    {                                                                                              \
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
            probity_event_publish(&fn_x_room);                                                     \
        } else {                                                                                   \
            const struct probity_value fn_x_values[] = {                                           \
                FN_X_EACH(FN_X_VALUE, __VA_ARGS__){NULL, 0, NULL, PROBITY_AT_VALUE}};              \
            probity_values_slow((kind_), (code_), (entered_), &fn_x_format, fn_x_values);          \
        }                                                                                          \
    }

#define FN_X_TYPE_OF(n, x) , FN_X_TYPE(x)
#define FN_X_TEXT_OF(n, x) , #x
#define FN_X_AND_FIXED(n, x) &&FN_X_FIXED(x)
#define FN_X_PLUS_SIZE(n, x) +FN_X_SIZE(x)
#define FN_X_PLUS_ONE(n, x) +1

#define FN_X_CHECK_COUNT(...)                                                                      \
    FN_X_ASSERT((FN_X_FIRST(__VA_ARGS__, ~)) == 0 FN_X_EACH(FN_X_PLUS_ONE, __VA_ARGS__),           \
                "FnTrace: n is not the number of parameters that follow it");                      \
    FN_X_CHECK_MOST(__VA_ARGS__)
#define FN_X_CHECK_MOST(...)                                                                       \
    FN_X_ASSERT(32 >= 0 FN_X_EACH(FN_X_PLUS_ONE, __VA_ARGS__),                                     \
                "FnTrace: more than 32 parameters")
#define FN_X_FIRST(a, ...) a

/* FN_X_EACH(m, n, x1, x2, ...): m(fn_x_v, x1) m(fn_x_v_, x2) ...: the names grow, so that each
 * value has its own. The preprocessor does not recurse: each step leaves the next one to a further
 * scan. Up to 63 values, so that more than 32 can be told; of more, only this name speaks. */
#define FN_X_EACH(m, ...)                                                                          \
    FN_X_CAT(FN_X_at_most_32_parameters_, FN_X_MORE(__VA_ARGS__))(m, __VA_ARGS__)
#define FN_X_at_most_32_parameters_0(m, ...)
#define FN_X_at_most_32_parameters_1(m, n, ...)                                                    \
    FN_X_SCAN(FN_X_STEP(m, fn_x_v, __VA_ARGS__, ~))
#define FN_X_STEP(m, name, x, ...)                                                                 \
    m(name, x) FN_X_CAT(FN_X_NEXT_, FN_X_MORE(__VA_ARGS__))(m, name##_, __VA_ARGS__)
#define FN_X_NEXT_0(...)
#define FN_X_NEXT_1(...) FN_X_STEP_LATER FN_X_NOTHING()()(__VA_ARGS__)
#define FN_X_STEP_LATER() FN_X_STEP
#define FN_X_NOTHING()
#define FN_X_SCAN(...) FN_X_SCAN_A(FN_X_SCAN_A(FN_X_SCAN_A(FN_X_SCAN_A(__VA_ARGS__))))
#define FN_X_SCAN_A(...) FN_X_SCAN_B(FN_X_SCAN_B(FN_X_SCAN_B(FN_X_SCAN_B(__VA_ARGS__))))
#define FN_X_SCAN_B(...) FN_X_SCAN_C(FN_X_SCAN_C(FN_X_SCAN_C(FN_X_SCAN_C(__VA_ARGS__))))
#define FN_X_SCAN_C(...) __VA_ARGS__

/* 1 where there are two arguments or more (up to 64), else 0. */
#define FN_X_MORE(...)                                                                             \
    FN_X_65TH(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
              1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  \
              1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0)
#define FN_X_65TH(a1, a2, a3, a4, a5, a6, a7, a8, a9, b1, b2, b3, b4, b5, b6, b7, b8, b9, c1, c2,  \
                  c3, c4, c5, c6, c7, c8, c9, d1, d2, d3, d4, d5, d6, d7, d8, d9, e1, e2, e3, e4,  \
                  e5, e6, e7, e8, e9, f1, f2, f3, f4, f5, f6, f7, f8, f9, g1, g2, g3, g4, g5, g6,  \
                  g7, g8, g9, h1, r, ...)                                                          \
    r

/* (n) nothing; (n, x, ...) a comma and the rest. */
#define FN_X_TAIL(...) FN_X_CAT(FN_X_TAIL_, FN_X_MORE(__VA_ARGS__))(__VA_ARGS__)
#define FN_X_TAIL_0(...)
#define FN_X_TAIL_1(n, ...) , __VA_ARGS__

#else /* ---- Without FN_INSTRUMENT ------------------------------------------------------------ */

#define FN_X_GONE                                                                                  \
    do {                                                                                           \
    } while (0)
#define FN_INSTRUMENT_LEVEL(F, P) FN_X_GONE
#define FN_INSTRUMENT_THREAD() FN_X_GONE
#define FN_PROFILE(on) FN_X_GONE
#define FN_FUNC(retType, level) FN_X_GONE
#define FN_RETVAL(retVar) FN_X_GONE
#define FN_FUNC_RETVAL(retType, retVar, level) FN_X_GONE
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

struct probity_scope; /* a file must declare something */

#endif

#endif
