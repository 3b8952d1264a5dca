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
 *   FN_X_AS_IT_IS(x)  whether it is fixed and its bytes are those of the object
 *   FN_X_PLUS_BYTES(n, x)  "+" and its size if it is fixed and no literal
 * FN_X_TYPE, FN_X_FIXED, FN_X_SIZE, FN_X_PLUS_BYTES and FN_X_AS_IT_IS are constants.
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

#ifndef __cplusplus

__extension__ typedef __int128 probity_i128;
__extension__ typedef unsigned __int128 probity_u128;

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
#define FN_X_PLUS_BYTES(n, x) +sizeof(FN_X_TYPEOF(x))
#define FN_X_AS_IT_IS(x) FN_X_FIXED(x)

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

namespace probity_fn {

/* ---- Types in a format ---- */

template <uint8_t which> using type_is = std::integral_constant<uint8_t, which>;

template <class T>
struct integer_type
    : type_is<static_cast<uint8_t>(PROBITY_TYPE_I8 +
                                   2 * (sizeof(T) == 1   ? 0
                                        : sizeof(T) == 2 ? 1
                                        : sizeof(T) == 4 ? 2
                                        : sizeof(T) == 8 ? 3
                                                         : 4) +
                                   (T(-1) > T(0) ? 1 : 0))> {};

/* With the mark of an array. */
template <class T, uint8_t which>
using type_at = type_is<which + (std::is_array<T>::value ? PROBITY_TYPE_ARRAY : 0)>;

/* The type of T, without const, volatile and reference, which is of kind `which`. */
template <class T, kind which = kind_of<T>::value> struct type_in : type_is<PROBITY_TYPE_TEXT> {};
template <class T> struct type_in<T, kind::none> : type_is<0> {};
template <class T> struct type_in<T, kind::boolean> : type_is<PROBITY_TYPE_BOOL> {};
template <class T> struct type_in<T, kind::character> : type_is<PROBITY_TYPE_CHAR> {};
template <class T> struct type_in<T, kind::wide_character> : type_is<PROBITY_TYPE_WIDE_CHAR> {};
template <class T> struct type_in<T, kind::integer> : integer_type<T> {};
template <class T> struct type_in<T, kind::floating> : type_is<PROBITY_TYPE_DOUBLE> {};
template <> struct type_in<float, kind::floating> : type_is<PROBITY_TYPE_FLOAT> {};
template <> struct type_in<long double, kind::floating> : type_is<PROBITY_TYPE_LONG_DOUBLE> {};
template <class T>
struct type_in<T, kind::enumeration> : integer_type<typename std::underlying_type<T>::type> {};
template <class T> struct type_in<T, kind::address> : type_is<PROBITY_TYPE_POINTER> {};
template <class T> struct type_in<T, kind::text_at> : type_at<T, PROBITY_TYPE_STRING> {};
template <class T> struct type_in<T, kind::wide_text_at> : type_at<T, PROBITY_TYPE_WIDE_STRING> {};
template <class T> struct type_in<T, kind::byte_array> : type_is<PROBITY_TYPE_BYTES> {};
template <class T> struct type_in<T, kind::bytes> : type_is<PROBITY_TYPE_BYTES> {};
template <class T> struct type_in<T, kind::text> : type_is<PROBITY_TYPE_STRING> {};
template <class T> struct type_in<T, kind::wide_text> : type_is<PROBITY_TYPE_WIDE_STRING> {};
template <class T> struct type_in<T, kind::owner> : type_is<PROBITY_TYPE_POINTER> {};

constexpr bool is_fixed(uint8_t type)
{
    return type != 0 && (type <= PROBITY_TYPE_DOUBLE || type == PROBITY_TYPE_POINTER ||
                         type == PROBITY_TYPE_POINTER + PROBITY_TYPE_ARRAY);
}

template <class T>
struct type_in<T, kind::reference> : type_in<plain<decltype(std::declval<const T &>().get())>> {};

/* What load() returns is a copy, which is formatted unless its bytes are recorded. */
template <class T>
struct type_of_loaded : type_in<plain<decltype(std::declval<const T &>().load())>> {};
template <class T>
struct type_in<T, kind::atomic>
    : type_is<is_fixed(type_of_loaded<T>::value) ? type_of_loaded<T>::value : PROBITY_TYPE_TEXT> {};

/* The type of T in a format; 0 if unsupported. */
template <class Given> constexpr uint8_t type_of()
{
    return type_in<plain<Given>>::value;
}

/* ---- Bytes in a record ---- */

#define PROBITY_X_INLINE inline __attribute__((__always_inline__, __no_instrument_function__))

/* What is recorded of a fixed value: itself, or what it holds. */
template <class T, kind which = kind_of<T>::value> struct held {
    using type = decayed<T>;
    template <class Given> static PROBITY_X_INLINE type get(const Given &value) { return value; }
};
template <class T> struct held<T, kind::address> {
    using type = typename std::conditional<std::is_array<T>::value, const volatile void *,
                                           decayed<T>>::type;
    template <class Given> static PROBITY_X_INLINE type get(const Given &value) { return value; }
};
template <class T> struct held<T, kind::owner> {
    using type = const volatile void *;
    template <class Given> static PROBITY_X_INLINE type get(const Given &owner)
    {
        return owner.get();
    }
};
template <class T> struct held<T, kind::atomic> {
    using inner = held<plain<decltype(std::declval<const T &>().load())>>;
    using type = typename inner::type;
    template <class Given> static PROBITY_X_INLINE type get(const Given &value)
    {
        return inner::get(value.load());
    }
};
template <class T> struct held<T, kind::reference> {
    using inner = held<plain<decltype(std::declval<const T &>().get())>>;
    using type = typename inner::type;
    template <class Given> static PROBITY_X_INLINE type get(const Given &value)
    {
        return inner::get(value.get());
    }
};

/* Whether the bytes of the object are those that are recorded. */
template <class Given> constexpr bool is_as_it_is()
{
    return is_fixed(type_of<Given>()) && kind_of<plain<Given>>::value != kind::owner &&
           kind_of<plain<Given>>::value != kind::atomic &&
           kind_of<plain<Given>>::value != kind::reference;
}

/* For macros, which must not contain words that the program may have defined. */
template <class T> constexpr bool is_an_array()
{
    return std::is_array<T>::value;
}

template <class Given> constexpr uint32_t size_of()
{
    return sizeof(typename std::conditional<is_fixed(type_of<Given>()), held<plain<Given>>,
                                            std::common_type<decayed<Given>>>::type::type);
}

template <class T>
PROBITY_X_INLINE uint8_t *store(uint8_t *at, const T &value, std::true_type)
{
    typename held<plain<T>>::type copy = held<plain<T>>::get(value);
    return probity_put_bytes(at, &copy, sizeof copy);
}
template <class T> PROBITY_X_INLINE uint8_t *store(uint8_t *at, const T &, std::false_type)
{
    return at;
}
template <class T> PROBITY_X_INLINE uint8_t *store(uint8_t *at, const T &value)
{
    return store(at, value, std::integral_constant<bool, is_fixed(type_of<T>())>());
}

/* ---- Values on the slow path ---- */

/* Formats a value of any kind, in the calling thread. */
template <class T> size_t format(const void *value, char *text, size_t bytes)
{
    shown_text to(text, bytes);

    show_or_say(to, *static_cast<const T *>(value));
    return to.used();
}

/* Writes the bytes of what a fixed value holds. */
template <class T> size_t copy_held(const void *value, char *bytes, size_t room)
{
    const typename held<T>::type made = held<T>::get(*static_cast<const T *>(value));

    memcpy(bytes, &made, sizeof made < room ? sizeof made : room);
    return sizeof made;
}

template <class T> const void *address_of(const T &value)
{
    return const_cast<const void *>(static_cast<const volatile void *>(std::addressof(value)));
}

template <class T> probity_value describe(const T &value);

/* Formats, or copies bytes, or neither. */
template <class T, bool is_formatted = type_in<T>::value == PROBITY_TYPE_TEXT,
          bool is_copied = is_fixed(type_in<T>::value) && !is_as_it_is<T>()>
struct formatter_of {
    static constexpr probity_formatter *get() { return nullptr; }
};
template <class T> struct formatter_of<T, true, false> {
    static constexpr probity_formatter *get() { return format<T>; }
};
template <class T> struct formatter_of<T, false, true> {
    static constexpr probity_formatter *get() { return copy_held<T>; }
};

template <class T, kind which = kind_of<T>::value> struct describer {
    template <class Given> static probity_value describe(const Given &value)
    {
        return {address_of(value), sizeof value, formatter_of<T>::get(), PROBITY_AT_VALUE};
    }
};

template <class T> struct describer<T, kind::text> {
    static probity_value describe(const T &text)
    {
        return {text.data(), text.size() * sizeof *text.data(), nullptr, PROBITY_AT_DATA};
    }
};
template <class T> struct describer<T, kind::wide_text> : describer<T, kind::text> {};

template <class T> struct describer<T, kind::text_at> {
    static probity_value describe(const volatile T &pointer)
    {
        return {address_of(pointer), sizeof pointer, nullptr, PROBITY_AT_POINTER};
    }
};
template <class T> struct describer<T, kind::wide_text_at> : describer<T, kind::text_at> {};
template <size_t count> struct describer<char[count], kind::text_at> {
    static probity_value describe(const char (&text)[count])
    {
        return {text, strnlen(text, count), nullptr, PROBITY_AT_DATA};
    }
};
template <size_t count> struct describer<wchar_t[count], kind::wide_text_at> {
    static probity_value describe(const wchar_t (&text)[count])
    {
        return {text, wcsnlen(text, count) * sizeof *text, nullptr, PROBITY_AT_DATA};
    }
};
template <class T> struct describer<T, kind::byte_array> {
    template <class Given> static probity_value describe(const Given &bytes)
    {
        return {address_of(bytes), sizeof bytes, nullptr, PROBITY_AT_DATA};
    }
};

template <class T> struct describer<T, kind::reference> {
    static probity_value describe(const T &value) { return probity_fn::describe(value.get()); }
};

template <class T> probity_value describe(const T &value)
{
    return describer<plain<T>>::describe(value);
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
    constexpr bool is_stored = !is_literal && is_fixed(type_of<T>());
    constexpr bool fits = is_literal || is_stored;
    uint32_t number = probity_site_format_number(format);
    struct probity_event_room room;
    uint8_t *at = nullptr;

    if (fits && __builtin_expect(number != 0, 1))
        at = probity_event_begin(&room, 9, 4u + (is_literal ? 0u : size_of<T>()));
    if (__builtin_expect(at != nullptr, fits)) {
        at = probity_put_head(at, 9, 0, number, 0);
        store(at, value, std::integral_constant<bool, is_stored>());
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
#define FN_X_IS_ARRAY(x) (probity_fn::is_an_array<probity_fn::plain<decltype((x))>>())
#define FN_X_IS_LITERAL(x) (FN_X_IS_ARRAY(x) && FN_X_LOOKS_LITERAL(x))
#define FN_X_FIXED(x) (FN_X_IS_LITERAL(x) || probity_fn::is_fixed(FN_X_TYPE(x)))
#define FN_X_AS_IT_IS(x) (FN_X_IS_LITERAL(x) || probity_fn::is_as_it_is<decltype((x))>())
#define FN_X_SIZE(x) (FN_X_IS_LITERAL(x) ? 0u : probity_fn::size_of<decltype((x))>())
#define FN_X_PLUS_BYTES(n, x) +probity_fn::size_of<decltype((x))>()
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
