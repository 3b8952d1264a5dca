/* SPDX-License-Identifier: MIT
 *
 * probity_values.h: how FnTrace.h determines the type of a value and stores it in a record: with
 * _Generic in C, with templates in C++. Used only by the macros of FnTrace.h.
 *
 * A value is evaluated once, into a local variable. If all values are recorded as their bytes
 * ("fixed": integers, bool, enums, float, double, pointers), they are stored directly in the
 * record; otherwise they are passed to probity_values_slow(), which copies texts and calls
 * formatters.
 *
 * Both languages define, for an expression x and its variable n:
 *   FN_X_CHECK_TYPE(x)  compile-time error for an unsupported type
 *   FN_X_FACTS(n, x)  declares constants that the other macros use, once in a block around them
 *   FN_X_LOCAL(n, x)  declares the variable     FN_X_TYPE(n, x)   its type in the format
 *   FN_X_FIXED(n, x)  whether it is fixed       FN_X_SIZE(n, x)   its size in a record, if fixed
 *   FN_X_STORE(n, x)  stores it, advances       FN_X_VALUE(n, x)  its struct probity_value
 *   FN_X_AS_IT_IS(n, x)  whether it is fixed and its bytes are those of the object
 *   FN_X_PLUS_BYTES(n, x)  "+" and its size if it is fixed and not a literal
 * FN_X_TYPE, FN_X_FIXED, FN_X_SIZE, FN_X_PLUS_BYTES and FN_X_AS_IT_IS are constants. In C the
 * expressions for them are long, so the compiler reads each of them once, in FN_X_FACTS.
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
 * an array, the argument is a literal: the format then contains the value, and nothing is
 * recorded. */
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

/* The comma turns an array into a pointer, and leaves a struct unchanged. */
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

/* is_array: whether x is an array. */
#define FN_X_TYPE_IN(x, is_array)                                                                  \
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
               char *: PROBITY_TYPE_STRING + (is_array) * PROBITY_TYPE_ARRAY,                      \
               const char *: PROBITY_TYPE_STRING + (is_array) * PROBITY_TYPE_ARRAY,                \
               unsigned char *: (is_array) ? PROBITY_TYPE_BYTES : PROBITY_TYPE_POINTER,            \
               const unsigned char *: (is_array) ? PROBITY_TYPE_BYTES : PROBITY_TYPE_POINTER,      \
               const struct probity_wide *: PROBITY_TYPE_WIDE_STRING,                              \
               struct probity_bytes: PROBITY_TYPE_BYTES,                                           \
               default: PROBITY_TYPE_POINTER + (is_array) * PROBITY_TYPE_ARRAY))

/* Whether the size of x is not a constant: of the two pointers' types, that of the second is chosen
 * if the first is a null pointer constant. */
#define FN_X_IS_VARIABLE(x)                                                                        \
    _Generic(1 ? (void *)(0 * sizeof(__typeof__(x))) : (int *)0, int *: 0, default: 1)

/* Sizes of arrays: clang rejects a compound literal in a constant of an enum. A typedef of the
 * value's type would evaluate the value again if the type is a variable-length array. */
#define FN_X_FACTS(n, x)                                                                           \
    typedef char fn_x_array_##n[1 + FN_X_IS_ARRAY(x) + FN_X_IS_VARIABLE(x)];                       \
    typedef char fn_x_type_##n[FN_X_TYPE_IN(x, FN_X_ARRAY(n))];
#define FN_X_ARRAY(n) (sizeof(fn_x_array_##n) > 1)
#define FN_X_VARIABLE(n) (sizeof(fn_x_array_##n) > 2)

#define FN_X_TYPE(n, x) ((int)sizeof(fn_x_type_##n))
#define FN_X_IS_LITERAL(n, x) (FN_X_ARRAY(n) && FN_X_LOOKS_LITERAL(x))

#define FN_X_FIXED(n, x)                                                                           \
    (FN_X_IS_LITERAL(n, x) ||                                                                      \
     (FN_X_TYPE(n, x) <= PROBITY_TYPE_POINTER && FN_X_TYPE(n, x) != PROBITY_TYPE_LONG_DOUBLE) ||   \
     FN_X_TYPE(n, x) == PROBITY_TYPE_POINTER + PROBITY_TYPE_ARRAY)

#define FN_X_SIZE(n, x) (FN_X_IS_LITERAL(n, x) ? 0 : (uint32_t)sizeof(n))
#define FN_X_PLUS_BYTES(n, x) +sizeof(n)
#define FN_X_AS_IT_IS(n, x) FN_X_FIXED(n, x)

#define FN_X_CHECK_TYPE(x)                                                                         \
    _Static_assert(FN_X_IS_SHOWN(x), "FnTrace: no formatter for the type of '" #x                  \
                                     "'; declare one in FN_USER_TYPES");
#define FN_X_LOCAL(n, x)                                                                           \
    FN_X_CHECK_TYPE(x)                                                                             \
    __extension__ __auto_type n = __builtin_choose_expr(                                           \
        FN_X_VARIABLE(n), FN_X_WHERE(n, x), ((void)0, (x)));
/* The address of a variable-length array, which has the array's size: sizeof would evaluate x
 * again. */
#define FN_X_WHERE(n, x) (&__builtin_choose_expr(FN_X_VARIABLE(n), (x), *(char *)0))
#define FN_X_BYTES(n, x)                                                                           \
    (FN_X_VARIABLE(n) ? sizeof(*__builtin_choose_expr(FN_X_VARIABLE(n), n, (char *)0))             \
     : FN_X_ARRAY(n)  ? sizeof(__typeof__(x))                                                      \
                      : sizeof(n))

#define FN_X_STORE(n, x) fn_x_at = probity_put_bytes(fn_x_at, &n, FN_X_SIZE(n, x));

#define FN_X_HOW(n, x)                                                                             \
    (FN_X_ARRAY(n) && FN_X_TYPE(n, x) != PROBITY_TYPE_POINTER + PROBITY_TYPE_ARRAY                \
         ? PROBITY_AT_ARRAY                                                                        \
     : FN_X_TYPE(n, x) == PROBITY_TYPE_STRING || FN_X_TYPE(n, x) == PROBITY_TYPE_WIDE_STRING       \
         ? PROBITY_AT_POINTER                                                                      \
         : PROBITY_AT_VALUE)

/* The formatter of x, or NULL with the right type. */
#define FN_X_FORMATTER_OF(x)                                                                       \
    _Generic(FN_X_FORMATTER(x), probity_formatter *: FN_X_FORMATTER(x),                            \
             default: (probity_formatter *)0)

#define FN_X_VALUE(n, x)                                                                           \
    {&n, FN_X_BYTES(n, x), FN_X_FORMATTER_OF(x), FN_X_HOW(n, x)},

#define FN_WIDE(text) ((const struct probity_wide *)(text))
#define FN_BYTES(address, bytes) ((struct probity_bytes){(address), (bytes)})

#else /* ---- C++ ------------------------------------------------------------------------------ */

namespace probity_fn {

/* ---- Types in a format ---- */

template <uint8_t which> using type_is = std::integral_constant<uint8_t, which>;

template <class Type>
struct integer_type
    : type_is<static_cast<uint8_t>(PROBITY_TYPE_I8 +
                                   2 * (sizeof(Type) == 1   ? 0
                                        : sizeof(Type) == 2 ? 1
                                        : sizeof(Type) == 4 ? 2
                                        : sizeof(Type) == 8 ? 3
                                                         : 4) +
                                   (Type(-1) > Type(0) ? 1 : 0))> {};

/* Arrays are marked as such. */
template <class Type, uint8_t which>
using type_at = type_is<which + (std::is_array<Type>::value ? PROBITY_TYPE_ARRAY : 0)>;

/* The type, in the format, of Type, which has no const, volatile or reference and is of kind
 * `which`. */
template <class Type, kind which = kind_of<Type>::value>
struct type_in : type_is<PROBITY_TYPE_TEXT> {};
template <class Type> struct type_in<Type, kind::none> : type_is<0> {};
template <class Type> struct type_in<Type, kind::boolean> : type_is<PROBITY_TYPE_BOOL> {};
template <class Type> struct type_in<Type, kind::character> : type_is<PROBITY_TYPE_CHAR> {};
template <class Type>
struct type_in<Type, kind::wide_character> : type_is<PROBITY_TYPE_WIDE_CHAR> {};
template <class Type> struct type_in<Type, kind::integer> : integer_type<Type> {};
template <class Type> struct type_in<Type, kind::floating> : type_is<PROBITY_TYPE_DOUBLE> {};
template <> struct type_in<float, kind::floating> : type_is<PROBITY_TYPE_FLOAT> {};
template <> struct type_in<long double, kind::floating> : type_is<PROBITY_TYPE_LONG_DOUBLE> {};
template <class Type>
struct type_in<Type, kind::enumeration>
    : integer_type<typename std::underlying_type<Type>::type> {};
template <class Type> struct type_in<Type, kind::address> : type_is<PROBITY_TYPE_POINTER> {};
template <class Type> struct type_in<Type, kind::text_at> : type_at<Type, PROBITY_TYPE_STRING> {};
template <class Type>
struct type_in<Type, kind::wide_text_at> : type_at<Type, PROBITY_TYPE_WIDE_STRING> {};
template <class Type> struct type_in<Type, kind::byte_array> : type_is<PROBITY_TYPE_BYTES> {};
template <class Type> struct type_in<Type, kind::bytes> : type_is<PROBITY_TYPE_BYTES> {};
template <class Type> struct type_in<Type, kind::text> : type_is<PROBITY_TYPE_STRING> {};
template <class Type> struct type_in<Type, kind::wide_text> : type_is<PROBITY_TYPE_WIDE_STRING> {};
template <class Type> struct type_in<Type, kind::owner> : type_is<PROBITY_TYPE_POINTER> {};

constexpr bool is_fixed(uint8_t type)
{
    return type != 0 && (type <= PROBITY_TYPE_DOUBLE || type == PROBITY_TYPE_POINTER ||
                         type == PROBITY_TYPE_POINTER + PROBITY_TYPE_ARRAY);
}

template <class Type>
struct type_in<Type, kind::reference>
    : type_in<plain<decltype(std::declval<const Type &>().get())>> {};

/* load() returns a copy, which is formatted unless its bytes are recorded. */
template <class Type>
struct type_of_loaded : type_in<plain<decltype(std::declval<const Type &>().load())>> {};
template <class Type>
struct type_in<Type, kind::atomic>
    : type_is<is_fixed(type_of_loaded<Type>::value) ? type_of_loaded<Type>::value
                                                    : PROBITY_TYPE_TEXT> {};

/* The type of Type in a format; 0 if unsupported. */
template <class Given> constexpr uint8_t type_of()
{
    return type_in<plain<Given>>::value;
}

/* ---- Bytes in a record ---- */

#ifdef PROBITY_MSVC
#define PROBITY_X_INLINE __forceinline
#else
#define PROBITY_X_INLINE inline __attribute__((__always_inline__, __no_instrument_function__))
#endif

/* The part of a fixed value that is recorded: the value or, for a wrapper, the value inside. */
template <class Type, kind which = kind_of<Type>::value> struct held {
    using type = decayed<Type>;
    template <class Given> static PROBITY_X_INLINE type get(const Given &value) { return value; }
};
template <class Type> struct held<Type, kind::address> {
    using type = typename std::conditional<std::is_array<Type>::value, const volatile void *,
                                           decayed<Type>>::type;
    template <class Given> static PROBITY_X_INLINE type get(const Given &value) { return value; }
};
template <class Type> struct held<Type, kind::owner> {
    using type = const volatile void *;
    template <class Given> static PROBITY_X_INLINE type get(const Given &owner)
    {
        return owner.get();
    }
};
template <class Type> struct held<Type, kind::atomic> {
    using inner = held<plain<decltype(std::declval<const Type &>().load())>>;
    using type = typename inner::type;
    template <class Given> static PROBITY_X_INLINE type get(const Given &value)
    {
        return inner::get(value.load());
    }
};
template <class Type> struct held<Type, kind::reference> {
    using inner = held<plain<decltype(std::declval<const Type &>().get())>>;
    using type = typename inner::type;
    template <class Given> static PROBITY_X_INLINE type get(const Given &value)
    {
        return inner::get(value.get());
    }
};

/* Whether the object's own bytes are recorded. */
template <class Given> constexpr bool is_as_it_is()
{
    return is_fixed(type_of<Given>()) && !std::is_array<plain<Given>>::value &&
           kind_of<plain<Given>>::value != kind::owner &&
           kind_of<plain<Given>>::value != kind::atomic &&
           kind_of<plain<Given>>::value != kind::reference;
}

/* For macros, which must not contain names that the program may have defined. */
template <class Type> constexpr bool is_an_array()
{
    return std::is_array<Type>::value;
}

template <class Given> constexpr uint32_t size_of()
{
    return sizeof(typename std::conditional<is_fixed(type_of<Given>()), held<plain<Given>>,
                                            std::common_type<decayed<Given>>>::type::type);
}

template <class Type>
PROBITY_X_INLINE uint8_t *store(uint8_t *at, const Type &value, std::true_type)
{
    typename held<plain<Type>>::type copy = held<plain<Type>>::get(value);
    return probity_put_bytes(at, &copy, sizeof copy);
}
template <class Type> PROBITY_X_INLINE uint8_t *store(uint8_t *at, const Type &, std::false_type)
{
    return at;
}
template <class Type> PROBITY_X_INLINE uint8_t *store(uint8_t *at, const Type &value)
{
    return store(at, value, std::integral_constant<bool, is_fixed(type_of<Type>())>());
}

/* ---- Values on the slow path ---- */

/* Formats a value of any kind, in the calling thread. */
template <class Type> size_t format(const void *value, char *text, size_t bytes)
{
    shown_text to(text, bytes);

    show_or_say(to, *static_cast<const Type *>(value));
    return to.used();
}

/* Writes the bytes that `held` gets from a fixed value. */
template <class Type> size_t copy_held(const void *value, char *bytes, size_t room)
{
    const typename held<Type>::type made = held<Type>::get(*static_cast<const Type *>(value));

    memcpy(bytes, &made, sizeof made < room ? sizeof made : room);
    return sizeof made;
}

template <class Type> const void *address_of(const Type &value)
{
    return const_cast<const void *>(static_cast<const volatile void *>(std::addressof(value)));
}

template <class Type> probity_value describe(const Type &value);

/* Formats the value, copies its bytes, or does neither. */
template <class Type, bool is_formatted = type_in<Type>::value == PROBITY_TYPE_TEXT,
          bool is_copied = is_fixed(type_in<Type>::value) && !is_as_it_is<Type>()>
struct formatter_of {
    static constexpr probity_formatter *get() { return nullptr; }
};
template <class Type> struct formatter_of<Type, true, false> {
    static constexpr probity_formatter *get() { return format<Type>; }
};
template <class Type> struct formatter_of<Type, false, true> {
    static constexpr probity_formatter *get() { return copy_held<Type>; }
};

template <class Type, kind which = kind_of<Type>::value> struct describer {
    template <class Given> static probity_value describe(const Given &value)
    {
        return {address_of(value), sizeof value, formatter_of<Type>::get(), PROBITY_AT_VALUE};
    }
};

template <class Type> struct describer<Type, kind::text> {
    static probity_value describe(const Type &text)
    {
        return {text.data(), text.size() * sizeof *text.data(), nullptr, PROBITY_AT_DATA};
    }
};
template <class Type> struct describer<Type, kind::wide_text> : describer<Type, kind::text> {};

template <class Type> struct describer<Type, kind::text_at> {
    static probity_value describe(const volatile Type &pointer)
    {
        return {address_of(pointer), sizeof pointer, nullptr, PROBITY_AT_POINTER};
    }
};
template <class Type>
struct describer<Type, kind::wide_text_at> : describer<Type, kind::text_at> {};
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
template <class Type> struct describer<Type, kind::byte_array> {
    template <class Given> static probity_value describe(const Given &bytes)
    {
        return {address_of(bytes), sizeof bytes, nullptr, PROBITY_AT_DATA};
    }
};

template <class Type> struct describer<Type, kind::reference> {
    static probity_value describe(const Type &value) { return probity_fn::describe(value.get()); }
};

template <class Type> probity_value describe(const Type &value)
{
    return describer<plain<Type>>::describe(value);
}

/* The same for a return value, when its scope ends. */
template <class Type> probity_value describe_at(const void *value)
{
    return describe(*static_cast<const Type *>(value));
}

/* ---- Messages of one value or of a stream expression ---- */

template <class Type> constexpr uint8_t message_type_of()
{
    return type_of<Type>();
}
template <> constexpr uint8_t message_type_of<text_stream>()
{
    return PROBITY_TYPE_STRING;
}

/* Type of the operand of `start() << x`: the value itself, or the stream. */
template <class Type> struct message_value {
    using type = Type;
};
template <class Type> struct message_value<first<Type>> {
    using type = Type;
};
template <class Type> using message_of = typename message_value<plain<Type>>::type;

template <class Type> const Type &unwrap(const first<Type> &one)
{
    return one.value;
}
template <class Type> const Type &unwrap(const Type &value)
{
    return value;
}

/* Records a MESSAGE of one value, as FN_X_RECORD does for several. */
template <bool is_literal, class Type>
PROBITY_X_INLINE void record_value(struct probity_site_format *format, const Type &value)
{
    constexpr bool is_stored = !is_literal && is_fixed(type_of<Type>());
    constexpr bool fits = is_literal || is_stored;
    uint32_t number = probity_site_format_number(format);
    struct probity_event_room room;
    uint8_t *at = nullptr;

    if (fits && PROBITY_EXPECT(number != 0, 1))
        at = probity_event_begin(&room, 9, 4u + (is_literal ? 0u : size_of<Type>()));
    if (PROBITY_EXPECT(at != nullptr, fits)) {
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

#define FN_X_FACTS(n, x)
#define FN_X_TYPE(n, x) (probity_fn::type_of<decltype((x))>())
#define FN_X_IS_ARRAY(x) (probity_fn::is_an_array<probity_fn::plain<decltype((x))>>())
#define FN_X_IS_LITERAL(x) (FN_X_IS_ARRAY(x) && FN_X_LOOKS_LITERAL(x))
#define FN_X_FIXED(n, x) (FN_X_IS_LITERAL(x) || probity_fn::is_fixed(FN_X_TYPE(n, x)))
#define FN_X_AS_IT_IS(n, x) (FN_X_IS_LITERAL(x) || probity_fn::is_as_it_is<decltype((x))>())
#define FN_X_SIZE(n, x) (FN_X_IS_LITERAL(x) ? 0u : probity_fn::size_of<decltype((x))>())
#define FN_X_PLUS_BYTES(n, x) +probity_fn::size_of<decltype((x))>()
#define FN_X_CHECK_TYPE(x)                                                                         \
    static_assert(FN_X_TYPE(, x) != 0,                                                             \
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
