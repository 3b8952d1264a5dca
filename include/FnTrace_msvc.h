/* SPDX-License-Identifier: MIT
 *
 * FnTrace_msvc.h: the macros of FnTrace.h for C++ with MSVC and clang-cl. Used only by FnTrace.h,
 * which describes them. Works with MSVC's traditional preprocessor, which passes on __VA_ARGS__ as
 * one argument, and with /Zc:preprocessor.
 *
 * Scopes end in destructors. Values are evaluated as function arguments, from left to right or
 * right to left. All records with several values take the slow path of the library. Scopes left by
 * an exception are not distinguished from others.
 */
#ifndef FNTRACE_MSVC_H
#define FNTRACE_MSVC_H

#include "probity_values.h"

#if defined(PROBITY_MSVC) && defined(PROBITY_HAS_VALUES)

#include <errno.h>
#include <stdio.h>

/* ---- Templates ------------------------------------------------------------------------------- */

namespace probity_fn {

struct scope : probity_scope_here {
    scope() { is_open = 0; }
    ~scope()
    {
        if (probity_scope_is_open(this))
            probity_scope_leave_open(this);
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
};

/* FN_ORDERED: declared after the scope, so that it ends before the scope. */
struct order_at_end {
    ~order_at_end() { probity_order(); }
};

/* Types of values, in memory. */
template <class... Type> struct value_list {
    static constexpr uint32_t count = sizeof...(Type);
    static const uint8_t types[sizeof...(Type) + 1];
};
template <class... Type>
const uint8_t value_list<Type...>::types[] = {type_of<const Type &>()..., 0};

/* For decltype: the number of values after the first argument. */
template <class... Type> value_list<Type...> list_of(int, const Type &...);

template <class... Type> struct all_shown : std::true_type {};
template <class First, class... Type>
struct all_shown<First, Type...>
    : std::integral_constant<bool, type_of<const First &>() != 0 && all_shown<Type...>::value> {};
template <class... Type> constexpr bool are_shown_in(const value_list<Type...> *)
{
    return all_shown<Type...>::value;
}

/* The texts of "n, a, b" after the first one, each zero-terminated. */
template <size_t count, size_t bytes> struct texts_of {
    const char *at[count + 1];
    char text[bytes];

    constexpr explicit texts_of(const char (&list)[bytes]) : at(), text()
    {
        size_t values = 0, depth = 0;
        char quote = 0;

        for (size_t i = 0; i < bytes; i++) {
            const char here = list[i];
            text[i] = here;
            if (quote != 0) {
                if (here == '\\' && i + 1 < bytes) {
                    i++;
                    text[i] = list[i];
                } else if (here == quote) {
                    quote = 0;
                }
            } else if (here == '"' || (here == '\'' && !follows_digit(list, i))) {
                quote = here;
            } else if (here == '(') {
                depth++;
            } else if (here == ')' && depth > 0) {
                depth--;
            } else if (here == ',' && depth == 0) {
                text[i] = 0;
                if (values < count)
                    at[values++] = text + i + (list[i + 1] == ' ' ? 2 : 1);
            }
        }
        while (values <= count)
            at[values++] = text + bytes - 1;
    }

  private:
    static constexpr bool follows_digit(const char *list, size_t i)
    {
        return i > 0 && list[i - 1] >= '0' && list[i - 1] <= '9';
    }
};

template <class... Type>
inline uint64_t record(uint32_t kind, uint32_t code, uint64_t entered, probity_site_format *format,
                       int, const Type &...values)
{
    const probity_value list[] = {describe(values)...,
                                  {nullptr, 0, nullptr, PROBITY_AT_VALUE}};
    return probity_values_slow(kind, code, entered, format, list);
}

} // namespace probity_fn

enum { fn_x_order = 0 };

/* ---- Words ----------------------------------------------------------------------------------- */

#define FN_X_EXPAND(x) x
#define FN_X_CAT(a, b) FN_X_CAT_(a, b)
#define FN_X_CAT_(a, b) a##b
#define FN_X_TEXT(...) FN_X_TEXT_(__VA_ARGS__)
#define FN_X_TEXT_(...) #__VA_ARGS__
#define FN_X_FIRST(...) FN_X_EXPAND(FN_X_FIRST_(__VA_ARGS__, ~))
#define FN_X_FIRST_(a, ...) a
#define FN_X_SECOND(a, b, ...) b

/* 1 if there are two or more arguments (up to 64), else 0. */
#define FN_X_MORE(...)                                                                             \
    FN_X_EXPAND(FN_X_65TH(                                                                         \
        __VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  \
        1, 1, 1, 1, 1, 1, 1, 0, 0))
#define FN_X_65TH(a1, a2, a3, a4, a5, a6, a7, a8, a9, b1, b2, b3, b4, b5, b6, b7, b8, b9, c1, c2,  \
                  c3, c4, c5, c6, c7, c8, c9, d1, d2, d3, d4, d5, d6, d7, d8, d9, e1, e2, e3, e4,  \
                  e5, e6, e7, e8, e9, f1, f2, f3, f4, f5, f6, f7, f8, f9, g1, g2, g3, g4, g5, g6,  \
                  g7, g8, g9, h1, r, ...)                                                          \
    r

/* Whether retVar is the word FN_VOID. */
#define FN_X_VOID_FN_VOID ~, 1
#define FN_X_VOID_void ~, 1
#define FN_X_IS_VOID(...) FN_X_EXPAND(FN_X_SECOND(__VA_ARGS__, 0, ~))

/* For (n): nothing. For (n, x, ...): a comma and the rest. */
#define FN_X_TAIL(...)                                                                             \
    FN_X_EXPAND(FN_X_CAT(FN_X_TAIL_, FN_X_MORE(__VA_ARGS__))(__VA_ARGS__))
#define FN_X_TAIL_0(...)
#define FN_X_TAIL_1(n, ...) , __VA_ARGS__

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Kinds of events, as in doc/trace-format.md. */
#define FN_X_ENTER 7
#define FN_X_MESSAGE 9
#define FN_X_PARAMETERS 10
#define FN_X_CHECKPOINT 11
#define FN_X_PAUSE 12
#define FN_X_RESUME 13

#define FN_X_HERE fn_scope_needs_FN_FUNC_or_FN_ENTRY
/* Macros, since a function that is not inlined has another frame. */
#define FN_X_FRAME (reinterpret_cast<uintptr_t>(_AddressOfReturnAddress()) - 8)

/* A block, a lambda or a nested class may have another scope. */
#define FN_X_SHADOWS __pragma(warning(push)) __pragma(warning(disable : 4456 4457 4458 4459))
#define FN_X_SHADOWS_END __pragma(warning(pop))

#define FN_X_CHECK_LEVEL(level)                                                                    \
    static_assert((level) >= 0 && (level) <= 5, "FnTrace: a level is FN_0 to FN_5")

#define FN_X_SCOPE(retType, level_, flags_)                                                        \
    FN_X_CHECK_LEVEL(level_);                                                                      \
    FN_X_SHADOWS                                                                                   \
    enum { fn_x_level = (level_), fn_x_flags = PROBITY_FUNCTION_CXX | (+fn_x_order) | (flags_) };  \
    static struct probity_site_function fn_x_description = {                                       \
        __func__, __FILE__, __FUNCSIG__, FN_X_TEXT(retType), __LINE__,                             \
        fn_x_level, fn_x_flags, 0, 0, 0};                                                          \
    static struct probity_site_function *fn_x_function = &fn_x_description;                        \
    probity_fn::scope FN_X_HERE;                                                                   \
    FN_X_SHADOWS_END

#define FN_X_CHECK_TYPES(list)                                                                     \
    static_assert(probity_fn::are_shown_in(static_cast<const list *>(nullptr)),                    \
                  "FnTrace: no operator<<(std::ostream &, ...) or (std::wostream &, ...) for the " \
                  "type of a value");                                                              \
    static_assert(list::count <= 32, "FnTrace: more than 32 parameters")

/* Writes one record. The first variable argument is n, which is ignored; expanded: the arguments as
 * text. takes: "variable =", which is set to the record's tick. */
#define FN_X_RECORD(kind_, code_, entered_, source, expanded, ...)                                 \
    FN_X_RECORD_AT((void), kind_, code_, entered_, source, expanded, __VA_ARGS__)
#define FN_X_RECORD_AT(takes, kind_, code_, entered_, source, expanded, ...)                       \
    do {                                                                                           \
        using fn_x_list = decltype(probity_fn::list_of(__VA_ARGS__));                              \
        FN_X_CHECK_TYPES(fn_x_list);                                                               \
        static probity_fn::texts_of<fn_x_list::count, sizeof(expanded)> fn_x_texts(expanded);      \
        static struct probity_site_format fn_x_format = {                                          \
            fn_x_list::types, fn_x_texts.at, source, fn_x_list::count, __LINE__, 0};               \
        takes probity_fn::record((kind_), (code_), (entered_), &fn_x_format, __VA_ARGS__);         \
    } while (0)

#define FN_X_CHECK_COUNT(...)                                                                      \
    static_assert(FN_X_FIRST(__VA_ARGS__) == decltype(probity_fn::list_of(__VA_ARGS__))::count,    \
                  "FnTrace: n is not the number of parameters that follow it")

#define FN_X_RETVAL_1(retVar) (void)0
#define FN_X_RETVAL_0(retVar) FN_RETVAL(retVar)

#define FN_X_IF_REPORTED(...)                                                                      \
    do {                                                                                           \
        if (probity_scope_is_open(&FN_X_HERE) &&                                                   \
            probity_scope_is_reported(&FN_X_HERE, FN_X_FRAME, __func__)) {                         \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    } while (0)

#define FN_X_MARK(kind)                                                                            \
    (probity_scope_is_open(&FN_X_HERE)                                                             \
         ? probity_scope_pause_or_resume(&FN_X_HERE, FN_X_FRAME, __func__, kind)                   \
         : (void)0)

/* ---- Control --------------------------------------------------------------------------------- */

#if defined(FN_FUNC_LEVEL_DEF) || defined(FN_PARAM_LEVEL_DEF)
#ifndef FN_FUNC_LEVEL_DEF
#define FN_FUNC_LEVEL_DEF FN_5
#endif
#ifndef FN_PARAM_LEVEL_DEF
#define FN_PARAM_LEVEL_DEF FN_FUNC_LEVEL_DEF
#endif
static const int fn_x_level_default =
    (probity_level_default(FN_FUNC_LEVEL_DEF, FN_PARAM_LEVEL_DEF), 0);
#endif

#define FN_INSTRUMENT_LEVEL(F, P) ((void)probity_level_set(F, P))
#define FN_INSTRUMENT_THREAD fn_x_announce()
#define FN_PROFILE(on) probity_profiling_set(on)

/* FN_INSTRUMENT_THREAD, with or without (). */
static inline void fn_x_announced(void)
{
}
static inline void (*fn_x_announce(void))(void)
{
    probity_thread_announce();
    return fn_x_announced;
}

/* ---- Scopes ---------------------------------------------------------------------------------- */

#define FN_FUNC(retType, level)                                                                    \
    FN_X_SCOPE(retType, level, 0);                                                                 \
    if (probity_scope_is_on(fn_x_level))                                                           \
    probity_scope_enter_frame(&FN_X_HERE, &fn_x_function, FN_X_FRAME, nullptr)

#define FN_RETVAL(retVar)                                                                          \
    do {                                                                                           \
        using fn_x_list = decltype(probity_fn::list_of(0, retVar));                                \
        FN_X_CHECK_TYPES(fn_x_list);                                                               \
        static const char *const fn_x_texts[] = {#retVar};                                         \
        static struct probity_site_format fn_x_format = {fn_x_list::types, fn_x_texts, nullptr,    \
                                                         1, __LINE__, 0};                          \
        probity_scope_returns(&FN_X_HERE, &retVar, &fn_x_format,                                   \
                              probity_fn::is_as_it_is<decltype((retVar))>(),                       \
                              probity_fn::size_of<decltype((retVar))>(),                           \
                              probity_fn::describe_at<probity_fn::plain<decltype((retVar))>>,      \
                              nullptr, PROBITY_AT_VALUE);                                          \
    } while (0)

#define FN_FUNC_RETVAL(retType, retVar, ...)                                                       \
    FN_X_EXPAND(FN_X_CAT(FN_X_FUNC_RETVAL_, FN_X_MORE(__VA_ARGS__))(retType, retVar, __VA_ARGS__))
#define FN_X_FUNC_RETVAL_0(retType, retVar, level)                                                 \
    FN_FUNC(retType, level);                                                                       \
    FN_X_CAT(FN_X_RETVAL_, FN_X_IS_VOID(FN_X_VOID_##retVar))(retVar)
#define FN_X_FUNC_RETVAL_1(retType, retVar, level, ...)                                            \
    FN_X_CHECK_COUNT(__VA_ARGS__);                                                                 \
    FN_X_FUNC_VALUES(retType, level, #__VA_ARGS__, FN_X_TEXT(__VA_ARGS__), __VA_ARGS__);           \
    FN_X_CAT(FN_X_RETVAL_, FN_X_IS_VOID(FN_X_VOID_##retVar))(retVar)

#define FN_FUNC_PARAMS(retType, retVar, level, ...)                                                \
    FN_X_CHECK_COUNT(__VA_ARGS__);                                                                 \
    FN_X_FUNC_VALUES(retType, level, #__VA_ARGS__, FN_X_TEXT(__VA_ARGS__), __VA_ARGS__);           \
    FN_X_CAT(FN_X_RETVAL_, FN_X_IS_VOID(FN_X_VOID_##retVar))(retVar)

#define FN_FUNC_ARGS(retType, retVar, level, ...)                                                  \
    FN_X_FUNC_VALUES(retType, level, "," #__VA_ARGS__, "," FN_X_TEXT(__VA_ARGS__), 0,              \
                     __VA_ARGS__);                                                                 \
    FN_X_CAT(FN_X_RETVAL_, FN_X_IS_VOID(FN_X_VOID_##retVar))(retVar)

#define FN_X_FUNC_VALUES(retType, level, source, expanded, ...)                                    \
    FN_X_SCOPE(retType, level, 0);                                                                 \
    do {                                                                                           \
        const uint32_t fn_x_code =                                                                 \
            probity_scope_is_on(fn_x_level)                                                        \
                ? probity_scope_begin_frame(&FN_X_HERE, &fn_x_function, FN_X_FRAME, nullptr)       \
                : 0;                                                                               \
        if (fn_x_code != 0) {                                                                      \
            uint64_t fn_x_tick;                                                                    \
            FN_X_RECORD_AT(fn_x_tick =, FN_X_ENTER, fn_x_code, 0, source, expanded, __VA_ARGS__);  \
            probity_scope_entered(&FN_X_HERE, fn_x_tick);                                          \
        }                                                                                          \
    } while (0)

#define FN_ORDERED(...)                                                                            \
    FN_X_SHADOWS                                                                                   \
    enum { fn_x_order = PROBITY_FUNCTION_ORDERED };                                                \
    FN_X_SHADOWS_END                                                                               \
    probity_order();                                                                               \
    __VA_ARGS__;                                                                                   \
    const probity_fn::order_at_end fn_x_ordered

/* ---- In a scope ------------------------------------------------------------------------------ */

#define FN_OUTPUT(...)                                                                             \
    FN_X_IF_REPORTED(FN_X_EXPAND(FN_X_CAT(FN_X_SAY_, FN_X_MORE(__VA_ARGS__))(__VA_ARGS__)))
#define FN_X_SAY_1(...)                                                                            \
    FN_X_RECORD(FN_X_MESSAGE, 0, 0, "," #__VA_ARGS__, "," FN_X_TEXT(__VA_ARGS__), 0, __VA_ARGS__);
/* A value or a stream expression, as determined by the type of its result. */
#define FN_X_SAY_0(x)                                                                              \
    using fn_x_type = probity_fn::message_of<decltype(probity_fn::start() << x)>;                  \
    static_assert(probity_fn::message_type_of<fn_x_type>() != 0,                                   \
                  "FnTrace: no operator<<(std::ostream &, ...) or (std::wostream &, ...) for the " \
                  "type of '" #x "'");                                                             \
    static const uint8_t fn_x_types[] = {probity_fn::message_type_of<fn_x_type>()};                \
    static const char *const fn_x_texts[] = {#x};                                                  \
    static struct probity_site_format fn_x_format = {fn_x_types, fn_x_texts, "," #x, 1, __LINE__,  \
                                                     0};                                           \
    probity_fn::record_value<probity_fn::is_an_array<fn_x_type>() && FN_X_LOOKS_LITERAL(x)>(      \
        &fn_x_format, probity_fn::unwrap(probity_fn::start() << x));

#define FN_PRINTF(...)                                                                             \
    FN_X_IF_REPORTED(char fn_x_text[1024]; const int fn_x_errno = errno;                           \
                     snprintf(fn_x_text, sizeof fn_x_text, __VA_ARGS__); errno = fn_x_errno;       \
                     FN_X_RECORD(FN_X_MESSAGE, 0, 0, ",text", ",text", 0, fn_x_text);)

#define FN_STREAM(output)                                                                          \
    FN_X_IF_REPORTED(probity_fn::text_stream fn_x_stream; fn_x_stream << output;                   \
                     const std::string fn_x_text = fn_x_stream.text();                             \
                     FN_X_RECORD(FN_X_MESSAGE, 0, 0, ",text", ",text", 0, fn_x_text);)

#define FN_PARAM(param)                                                                            \
    do {                                                                                           \
        if ((probity_scope_is_open(&FN_X_HERE) ||                                                  \
             fn_x_level <= PROBITY_LOAD(int, &probity_scope_param_level)) &&                       \
            probity_scope_is_shown(&FN_X_HERE, FN_X_FRAME, __func__, fn_x_level, fn_x_flags))      \
            FN_X_RECORD(FN_X_PARAMETERS, 0, 0, "," #param, "," FN_X_TEXT(param), 0, param);        \
    } while (0)

#define FN_ENTRY(level)                                                                            \
    enum { fn_checkpoint_needs_FN_ENTRY = 1 };                                                     \
    struct probity_scope_pauses fn_x_pauses;                                                       \
    FN_X_SCOPE(, level, PROBITY_FUNCTION_DEFERRED);                                                \
    if (probity_scope_is_on(fn_x_level))                                                           \
    probity_scope_defer_frame(&FN_X_HERE, &fn_x_function, FN_X_FRAME, nullptr, &fn_x_pauses)

#define FN_CHECKPOINT(label, level, ...)                                                           \
    do {                                                                                           \
        FN_X_CHECK_COUNT(__VA_ARGS__);                                                             \
        FN_X_CHECK_LEVEL(level);                                                                   \
        uint64_t fn_x_entered = 0;                                                                 \
        uint32_t fn_x_code = 0;                                                                    \
        (void)fn_checkpoint_needs_FN_ENTRY;                                                        \
        if (probity_scope_is_on(level) && probity_scope_is_open(&FN_X_HERE) &&                     \
            probity_scope_is_due(&FN_X_HERE, FN_X_FRAME, __func__, &fn_x_code, &fn_x_entered)) {   \
            FN_X_RECORD(FN_X_CHECKPOINT, fn_x_code, fn_x_entered, ";" #__VA_ARGS__,                \
                        "," FN_X_TEXT(label FN_X_TAIL(__VA_ARGS__)), 0,                            \
                        label FN_X_TAIL(__VA_ARGS__));                                             \
            probity_scope_paused(&FN_X_HERE, fn_x_entered);                                        \
        }                                                                                          \
    } while (0)

#define FN_PAUSE() FN_X_MARK(FN_X_PAUSE)
#define FN_RESUME() FN_X_MARK(FN_X_RESUME)

#endif /* PROBITY_MSVC */

#endif
