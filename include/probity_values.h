/* SPDX-License-Identifier: MIT
 *
 * probity_values.h: how FnTrace.h determines the type of a value and stores it in a record: with
 * _Generic in C, with templates in C++. Used only by the macros of FnTrace.h.
 *
 * A value is evaluated once, into a local variable. If all values are recorded as their bytes
 * ("fixed": integers, bool, enums, float, double, pointers), they are stored directly in the
 * record; else they are passed to probity_values_slow(), which copies texts and calls formatters.
 *
 * Both languages define, for an expression x and its variable n:
 *   FN_X_CHECK_TYPE(x)  compile-time error for an unsupported type
 *   FN_X_LOCAL(n, x)  declares the variable     FN_X_TYPE(x)      its type in the format
 *   FN_X_FIXED(x)     whether it is fixed       FN_X_SIZE(x)      its size in a record, if fixed
 *   FN_X_STORE(n, x)  stores it, advances       FN_X_VALUE(n, x)  its struct probity_value
 * FN_X_TYPE, FN_X_FIXED and FN_X_SIZE are constants.
 */
#ifndef PROBITY_VALUES_H
#define PROBITY_VALUES_H

#include "probity_stream.h"

#ifdef PROBITY_HAS_VALUES

#include <string.h>

#include "probity_scope.h"

/* Types, numbered as in doc/trace-format.md, plus three for arrays, whose source text may be a
 * literal; the declaration of a format maps them to types of the document. */
enum probity_type {
    PROBITY_TYPE_BOOL = 1,
    PROBITY_TYPE_CHAR = 2,
    PROBITY_TYPE_I8 = 3,
    PROBITY_TYPE_U8 = 4,
    PROBITY_TYPE_I16 = 5,
    PROBITY_TYPE_U16 = 6,
    PROBITY_TYPE_I32 = 7,
    PROBITY_TYPE_U32 = 8,
    PROBITY_TYPE_I64 = 9,
    PROBITY_TYPE_U64 = 10,
    PROBITY_TYPE_I128 = 11,
    PROBITY_TYPE_U128 = 12,
    PROBITY_TYPE_FLOAT = 13,
    PROBITY_TYPE_DOUBLE = 14,
    PROBITY_TYPE_LONG_DOUBLE = 15,
    PROBITY_TYPE_POINTER = 16,
    PROBITY_TYPE_STRING = 17,
    PROBITY_TYPE_WIDE_STRING = 18,
    PROBITY_TYPE_BYTES = 19,
    PROBITY_TYPE_LITERAL = 20,
    PROBITY_TYPE_TEXT = 21,
    PROBITY_TYPE_WIDE_CHAR = 22,
    PROBITY_TYPE_COMPLEX = 23,
    PROBITY_TYPE_ARRAY = 100 /* added to STRING, WIDE_STRING and POINTER */
};

/* Whether the source text of an argument is a string literal, "..." or L"...". If its type is also
 * an array, it is one: the format then contains the value, and nothing is recorded. */
#define FN_X_LOOKS_LITERAL(x) ((#x)[0] == '"' || ((#x)[0] == 'L' && (#x)[1] == '"'))

/* For FN_BYTES: memory that may be unreadable. */
struct probity_bytes {
    const void *at;
    size_t count;
};

/* Type of FN_WIDE in C, because wchar_t is a plain int there. */
struct probity_wide;

__extension__ typedef __int128 probity_i128;
__extension__ typedef unsigned __int128 probity_u128;

#ifndef __cplusplus

/* ---- C --------------------------------------------------------------------------------------- */

#ifndef FN_USER_TYPES
#define FN_USER_TYPES
#endif
#define FN_USER_TYPE(type, formatter) type : formatter,

/* The comma makes a pointer of an array and leaves a struct unchanged. */
#define FN_X_TYPEOF(x) __typeof__((void)0, (x))
#define FN_X_IS_ARRAY(x)                                                                           \
    (!__builtin_types_compatible_p(__typeof__(x), FN_X_TYPEOF(x)) && !FN_X_IS_ATOMIC(x))
#ifdef __clang__ /* an _Atomic type is not compatible with its plain type */
#define FN_X_IS_ATOMIC(x) __builtin_types_compatible_p(__typeof__(x), _Atomic(FN_X_TYPEOF(x)))
#else
#define FN_X_IS_ATOMIC(x) 0
#endif

#define FN_X_FORMATTER(x) _Generic((x), FN_USER_TYPES default: (struct probity_wide *)0)
#define FN_X_IS_USER(x) _Generic(FN_X_FORMATTER(x), probity_formatter *: 1, default: 0)

/* Of types without a branch above, only pointers and integers (enums of any size) are supported:
 * classes 1 to 7 in the compiler's numbering. */
#define FN_X_IS_SHOWN(x)                                                                           \
    (FN_X_IS_USER(x) ||                                                                            \
     _Generic((x), float: 1, double: 1, long double: 1, float _Complex: 1, double _Complex: 1,     \
              struct probity_bytes: 1, default: 0) ||                                              \
     (__builtin_classify_type(x) >= 1 && __builtin_classify_type(x) < 8))

#define FN_X_TYPE(x)                                                                               \
    (FN_X_IS_USER(x)                                                                               \
         ? PROBITY_TYPE_TEXT                                                                       \
         : _Generic((x),                                                                           \
               _Bool: PROBITY_TYPE_BOOL,                                                           \
               char: PROBITY_TYPE_CHAR,                                                            \
               signed char: PROBITY_TYPE_I8,                                                       \
               unsigned char: PROBITY_TYPE_U8,                                                     \
               short: PROBITY_TYPE_I16,                                                            \
               unsigned short: PROBITY_TYPE_U16,                                                   \
               int: PROBITY_TYPE_I32,                                                              \
               unsigned: PROBITY_TYPE_U32,                                                         \
               long: sizeof(long) == 8 ? PROBITY_TYPE_I64 : PROBITY_TYPE_I32,                      \
               unsigned long: sizeof(long) == 8 ? PROBITY_TYPE_U64 : PROBITY_TYPE_U32,             \
               long long: PROBITY_TYPE_I64,                                                        \
               unsigned long long: PROBITY_TYPE_U64,                                               \
               probity_i128: PROBITY_TYPE_I128,                                                    \
               probity_u128: PROBITY_TYPE_U128,                                                    \
               float: PROBITY_TYPE_FLOAT,                                                          \
               double: PROBITY_TYPE_DOUBLE,                                                        \
               long double: PROBITY_TYPE_LONG_DOUBLE,                                              \
               float _Complex: PROBITY_TYPE_COMPLEX,                                               \
               double _Complex: PROBITY_TYPE_COMPLEX,                                              \
               char *: PROBITY_TYPE_STRING + FN_X_IS_ARRAY(x) * PROBITY_TYPE_ARRAY,                \
               const char *: PROBITY_TYPE_STRING + FN_X_IS_ARRAY(x) * PROBITY_TYPE_ARRAY,          \
               unsigned char *: FN_X_IS_ARRAY(x) ? PROBITY_TYPE_BYTES : PROBITY_TYPE_POINTER,      \
               const unsigned char *: FN_X_IS_ARRAY(x) ? PROBITY_TYPE_BYTES                        \
                                                       : PROBITY_TYPE_POINTER,                     \
               const struct probity_wide *: PROBITY_TYPE_WIDE_STRING,                              \
               struct probity_bytes: PROBITY_TYPE_BYTES,                                           \
               default: PROBITY_TYPE_POINTER + FN_X_IS_ARRAY(x) * PROBITY_TYPE_ARRAY))

#define FN_X_IS_LITERAL(x) (FN_X_IS_ARRAY(x) && FN_X_LOOKS_LITERAL(x))

#define FN_X_FIXED(x)                                                                              \
    (FN_X_IS_LITERAL(x) ||                                                                         \
     (!FN_X_IS_USER(x) && FN_X_TYPE(x) != PROBITY_TYPE_LONG_DOUBLE &&                              \
      FN_X_TYPE(x) != PROBITY_TYPE_COMPLEX &&                                                      \
      (FN_X_TYPE(x) <= PROBITY_TYPE_POINTER ||                                                     \
       FN_X_TYPE(x) == PROBITY_TYPE_POINTER + PROBITY_TYPE_ARRAY)))

#define FN_X_SIZE(x) (FN_X_IS_LITERAL(x) ? 0 : (uint32_t)sizeof(FN_X_TYPEOF(x)))

#define FN_X_CHECK_TYPE(x)                                                                         \
    _Static_assert(FN_X_IS_SHOWN(x), "FnTrace: no formatter for the type of '" #x                  \
                                     "'; declare one in FN_USER_TYPES");
#define FN_X_LOCAL(n, x)                                                                           \
    FN_X_CHECK_TYPE(x)                                                                             \
    FN_X_TYPEOF(x) n = (x);

#define FN_X_STORE(n, x) fn_x_at = probity_put_bytes(fn_x_at, &n, FN_X_SIZE(x));

#define FN_X_HOW(x)                                                                                \
    (FN_X_IS_ARRAY(x) && FN_X_TYPE(x) != PROBITY_TYPE_POINTER + PROBITY_TYPE_ARRAY                 \
         ? PROBITY_AT_ARRAY                                                                        \
     : FN_X_TYPE(x) == PROBITY_TYPE_STRING || FN_X_TYPE(x) == PROBITY_TYPE_WIDE_STRING             \
         ? PROBITY_AT_POINTER                                                                      \
         : PROBITY_AT_VALUE)

/* The formatter of x, or NULL of the right type. */
#define FN_X_FORMATTER_OF(x)                                                                       \
    _Generic(FN_X_FORMATTER(x), probity_formatter *: FN_X_FORMATTER(x),                            \
             default: (probity_formatter *)0)

#define FN_X_VALUE(n, x)                                                                           \
    {&n, FN_X_IS_ARRAY(x) ? sizeof(__typeof__(x)) : sizeof(n), FN_X_FORMATTER_OF(x), FN_X_HOW(x)},

#define FN_WIDE(text) ((const struct probity_wide *)(text))
#define FN_BYTES(address, bytes) ((struct probity_bytes){(address), (bytes)})

#else /* ---- C++ ------------------------------------------------------------------------------ */

#include <memory>
#include <string>
#include <type_traits>

namespace probity_fn {

template <class T> constexpr uint8_t integer_type()
{
    constexpr int size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2
                         : sizeof(T) == 8 ? 3 : 4;
    return static_cast<uint8_t>(PROBITY_TYPE_I8 + 2 * size + (T(-1) > T(0) ? 1 : 0));
}

template <class T> constexpr uint8_t pointer_type()
{
    constexpr int array = std::is_array_v<plain<T>> ? PROBITY_TYPE_ARRAY : 0;
    if constexpr (std::is_same_v<element<T>, char>)
        return PROBITY_TYPE_STRING + array;
    else if constexpr (std::is_same_v<element<T>, wchar_t>)
        return PROBITY_TYPE_WIDE_STRING + array;
    else if constexpr (std::is_same_v<element<T>, unsigned char> && array != 0)
        return PROBITY_TYPE_BYTES;
    else if constexpr (!std::is_integral_v<element<T>> &&
                       own_insertion_of<std::decay_t<T>>() != insertion::none)
        return PROBITY_TYPE_TEXT;
    else
        return PROBITY_TYPE_POINTER;
}

/* An enum class with an operator<< is shown as text; any other enum would match the operators of
 * int.
 */
template <class T> constexpr uint8_t enum_type()
{
    if constexpr (!std::is_convertible_v<T, std::underlying_type_t<T>> &&
                  insertion_of<T>() != insertion::none)
        return PROBITY_TYPE_TEXT;
    else
        return integer_type<std::underlying_type_t<T>>();
}

/* The type of T in a format; 0 if unsupported. */
template <class Given> constexpr uint8_t type_of()
{
    using T = plain<Given>;
    if constexpr (std::is_same_v<T, bool>)
        return PROBITY_TYPE_BOOL;
    else if constexpr (std::is_same_v<T, char>)
        return PROBITY_TYPE_CHAR;
    else if constexpr (std::is_same_v<T, wchar_t> || std::is_same_v<T, char16_t> ||
                       std::is_same_v<T, char32_t>)
        return PROBITY_TYPE_WIDE_CHAR;
    else if constexpr (std::is_same_v<T, probity_i128>)
        return PROBITY_TYPE_I128;
    else if constexpr (std::is_same_v<T, probity_u128>)
        return PROBITY_TYPE_U128;
    else if constexpr (std::is_integral_v<T>)
        return integer_type<T>();
    else if constexpr (std::is_same_v<T, float>)
        return PROBITY_TYPE_FLOAT;
    else if constexpr (std::is_same_v<T, double>)
        return PROBITY_TYPE_DOUBLE;
    else if constexpr (std::is_same_v<T, long double>)
        return PROBITY_TYPE_LONG_DOUBLE;
    else if constexpr (is_text<T>())
        return PROBITY_TYPE_STRING;
    else if constexpr (is_wide_text<T>())
        return PROBITY_TYPE_WIDE_STRING;
    else if constexpr (std::is_same_v<T, probity_bytes>)
        return PROBITY_TYPE_BYTES;
    else if constexpr (std::is_null_pointer_v<T>)
        return PROBITY_TYPE_POINTER;
    else if constexpr (std::is_pointer_v<std::decay_t<T>>)
        return pointer_type<T>();
    else if constexpr (std::is_enum_v<T>)
        return enum_type<T>();
    else
        return insertion_of<T>() != insertion::none ? PROBITY_TYPE_TEXT : 0;
}

constexpr bool is_fixed(uint8_t type)
{
    return type != 0 && (type <= PROBITY_TYPE_DOUBLE || type == PROBITY_TYPE_POINTER ||
                         type == PROBITY_TYPE_POINTER + PROBITY_TYPE_ARRAY);
}

template <class T> constexpr uint32_t size_of()
{
    return sizeof(std::decay_t<T>);
}

template <class T>
inline __attribute__((__always_inline__, __no_instrument_function__)) uint8_t *
store(uint8_t *at, const T &value)
{
    if constexpr (is_fixed(type_of<T>())) {
        std::decay_t<T> copy = value;
        return probity_put_bytes(at, &copy, sizeof copy);
    } else {
        return at;
    }
}

/* Formats any type that a stream accepts, in the calling thread. */
template <class T> size_t format(const void *value, char *text, size_t bytes)
{
#if __cpp_exceptions
    try {
#endif
        std::ostringstream stream;
        insert(stream, *static_cast<const T *>(value));
        const std::string made = stream.str();
        made.copy(text, bytes);
        return made.size();
#if __cpp_exceptions
#ifdef __GLIBCXX__
    } catch (abi::__forced_unwind &) {
        throw; /* cancellation of the thread; swallowing it would end the program */
#endif
    } catch (...) {
        static const char failed[] = "(operator<< threw)";
        memcpy(text, failed, bytes < sizeof failed - 1 ? bytes : sizeof failed - 1);
        return sizeof failed - 1;
    }
#endif
}

template <class T> probity_value describe(const T &value)
{
    constexpr uint8_t type = type_of<T>();
    const void *at = const_cast<const void *>(
        static_cast<const volatile void *>(std::addressof(value)));

    if constexpr (type == PROBITY_TYPE_TEXT)
        return {at, sizeof value, format<T>, PROBITY_AT_VALUE};
    else if constexpr (is_text<T>() || is_wide_text<T>())
        return {value.data(), value.size() * sizeof *value.data(), nullptr, PROBITY_AT_DATA};
    else if constexpr (type == PROBITY_TYPE_STRING + PROBITY_TYPE_ARRAY)
        return {value, strnlen(value, sizeof value), nullptr, PROBITY_AT_DATA};
    else if constexpr (type == PROBITY_TYPE_BYTES && std::is_array_v<T>)
        return {at, sizeof value, nullptr, PROBITY_AT_DATA};
    else if constexpr (type == PROBITY_TYPE_WIDE_STRING + PROBITY_TYPE_ARRAY)
        return {value, wcsnlen(value, sizeof value / sizeof *value) * sizeof *value, nullptr,
                PROBITY_AT_DATA};
    else if constexpr (type == PROBITY_TYPE_STRING || type == PROBITY_TYPE_WIDE_STRING)
        return {at, sizeof value, nullptr, PROBITY_AT_POINTER};
    else
        return {at, sizeof value, nullptr, PROBITY_AT_VALUE};
}

/* The same for a return value, when its scope ends. */
template <class T> probity_value describe_at(const void *value)
{
    return describe(*static_cast<const T *>(value));
}

/* ---- Messages of one value or of a stream expression ---- */

template <class T> constexpr uint8_t message_type_of()
{
    return type_of<T>();
}
template <> constexpr uint8_t message_type_of<text_stream>()
{
    return PROBITY_TYPE_STRING;
}

/* Type of the operand of `start() << x`: the value itself, or the stream. */
template <class T> struct message_value {
    using type = T;
};
template <class T> struct message_value<first<T>> {
    using type = T;
};
template <class T> using message_of = typename message_value<plain<T>>::type;

template <class T> const T &unwrap(const first<T> &one)
{
    return one.value;
}
template <class T> const T &unwrap(const T &value)
{
    return value;
}

/* Records a MESSAGE of one value, as FN_X_RECORD does for several. */
template <bool is_literal, class T>
inline __attribute__((__always_inline__)) void record_value(struct probity_site_format *format,
                                                            const T &value)
{
    constexpr bool fits = is_literal || is_fixed(type_of<T>());
    uint32_t number = probity_site_format_number(format);
    struct probity_event_room room;
    uint8_t *at = nullptr;

    if (fits && __builtin_expect(number != 0, 1))
        at = probity_event_begin(&room, 9, 4u + (is_literal ? 0u : size_of<T>()));
    if (__builtin_expect(at != nullptr, fits)) {
        at = probity_put_head(at, 9, 0, number, 0);
        if constexpr (!is_literal)
            store(at, value);
        probity_event_publish(&room);
    } else {
        const struct probity_value values[] = {describe(value)};
        probity_values_slow(9, 0, 0, format, values);
    }
}

template <bool is_literal>
inline void record_value(struct probity_site_format *format, const text_stream &stream)
{
    record_value<false>(format, stream.text());
}

} // namespace probity_fn

#define FN_X_TYPE(x) (probity_fn::type_of<decltype((x))>())
#define FN_X_IS_ARRAY(x) (std::is_array_v<probity_fn::plain<decltype((x))>>)
#define FN_X_IS_LITERAL(x) (FN_X_IS_ARRAY(x) && FN_X_LOOKS_LITERAL(x))
#define FN_X_FIXED(x) (FN_X_IS_LITERAL(x) || probity_fn::is_fixed(FN_X_TYPE(x)))
#define FN_X_SIZE(x) (FN_X_IS_LITERAL(x) ? 0u : probity_fn::size_of<decltype((x))>())
#define FN_X_CHECK_TYPE(x)                                                                         \
    static_assert(FN_X_TYPE(x) != 0,                                                               \
                  "FnTrace: no operator<<(std::ostream &, ...) or (std::wostream &, ...) for the " \
                  "type of '" #x "'");
#define FN_X_LOCAL(n, x)                                                                           \
    FN_X_CHECK_TYPE(x)                                                                             \
    const auto &n = (x);
#define FN_X_STORE(n, x) fn_x_at = FN_X_IS_LITERAL(x) ? fn_x_at : probity_fn::store(fn_x_at, n);
#define FN_X_VALUE(n, x) probity_fn::describe(n),

#define FN_WIDE(text) (static_cast<const wchar_t *>(text))
#define FN_BYTES(address, bytes)                                                                   \
    (probity_bytes{static_cast<const void *>(address), static_cast<size_t>(bytes)})

#endif

#endif /* PROBITY_HAS_VALUES */

#endif
