/* SPDX-License-Identifier: MIT
 *
 * probity_kinds.h: how FnTrace.h determines what a value is, at compile time, C++ only. Used only
 * by the other headers of FnTrace.h.
 *
 * A type with an operator<< is printed by it. Other types of the standard library are recognized by
 * their members, so this file includes none of their headers and also supports types of other
 * libraries with the same members. Only strings and smart pointers are recognized by name.
 */
#ifndef PROBITY_KINDS_H
#define PROBITY_KINDS_H

#include "probity.h"

#if defined(__cplusplus) && !defined(PROBITY_REFUSED)

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#if PROBITY_CPLUSPLUS >= 201703L
#include <string_view>
#endif

#ifdef PROBITY_MSVC /* MSVC has no longer integers */
typedef long long probity_i128;
typedef unsigned long long probity_u128;
#else
__extension__ typedef __int128 probity_i128;
__extension__ typedef unsigned __int128 probity_u128;
#endif
struct probity_bytes;

namespace probity_fn {

template <class Type>
using plain = typename std::remove_cv<typename std::remove_reference<Type>::type>::type;
template <class Type> using decayed = typename std::decay<Type>::type;
template <class Type>
using element = typename std::remove_cv<
    typename std::remove_pointer<typename std::decay<Type>::type>::type>::type;

/* std::void_t, which C++11 lacks. */
template <class...> struct void_maker {
    using type = void;
};
template <class... Type> using void_of = typename void_maker<Type...>::type;

/* ---- Which operator<< ----------------------------------------------------------------------- */

/* Whether `stream << value` compiles. */
template <class Stream, class Type, class = void> struct inserts : std::false_type {};
template <class Stream, class Type>
struct inserts<Stream, Type,
               void_of<decltype(std::declval<Stream &>() << std::declval<const Type &>())>>
    : std::true_type {};

/* Besides operators for the type itself, the library has operators that accept the type after a
 * conversion to a character and, in some standards, operators for its smart pointers, which print
 * an address or 0. The operators below match at least as well as those: a call is ambiguous or
 * selects one of the operators below, unless the program or the library has a better match. In
 * C++20, the library's operator for unique_ptr is constrained, so these must be, too. */
namespace library {
#ifdef __cpp_concepts
#define PROBITY_X_CONSTRAINED requires(true)
#else
#define PROBITY_X_CONSTRAINED
#endif
struct printed {};
struct narrow_stream : std::ostream {};
struct wide_stream : std::wostream {};
printed operator<<(std::ostream &, char);
printed operator<<(std::wostream &, wchar_t);
template <class Char, class Traits, class Type, class Deleter>
printed operator<<(std::basic_ostream<Char, Traits> &, const std::unique_ptr<Type, Deleter> &)
    PROBITY_X_CONSTRAINED;
template <class Char, class Traits, class Type>
printed operator<<(std::basic_ostream<Char, Traits> &, const std::shared_ptr<Type> &)
    PROBITY_X_CONSTRAINED;
#undef PROBITY_X_CONSTRAINED
} // namespace library

/* Whether a non-member operator<< takes the value, that is, one written for the type itself. The
 * stream's member operators would accept any pointer as an address and anything convertible to a
 * number as a number. */
template <class Stream, class Type, class = void> struct inserts_own : std::false_type {};
template <class Stream, class Type>
struct inserts_own<Stream, Type,
                   void_of<decltype(operator<<(std::declval<Stream &>(), std::declval<Type>()))>>
    : std::integral_constant<
          bool, !std::is_same<library::printed,
                              decltype(operator<<(std::declval<Stream &>(),
                                                  std::declval<Type>()))>::value> {};

enum class insertion { none, narrow, wide };
template <insertion which> using insertion_is = std::integral_constant<insertion, which>;

/* An operator written for the type, with Type as it is passed; includes pointers to and arrays of a
 * class, which the streams' member operators print as addresses. */
template <class Type>
struct own_insertion
    : std::conditional<inserts_own<library::narrow_stream, Type>::value,
                       insertion_is<insertion::narrow>,
                       typename std::conditional<inserts_own<library::wide_stream, Type>::value,
                                                 insertion_is<insertion::wide>,
                                                 insertion_is<insertion::none>>::type>::type {};

template <class Type>
struct member_insertion
    : std::conditional<inserts<std::ostream, Type>::value, insertion_is<insertion::narrow>,
                       typename std::conditional<inserts<std::wostream, Type>::value,
                                                 insertion_is<insertion::wide>,
                                                 insertion_is<insertion::none>>::type>::type {};

/* Prefers an operator written for the type to one that needs a conversion. */
template <class Type> struct any_insertion {
    static constexpr insertion value = own_insertion<const Type &>::value != insertion::none
                                           ? own_insertion<const Type &>::value
                                           : member_insertion<Type>::value;
};

/* ---- Kinds ---------------------------------------------------------------------------------- */

enum class kind {
    none, /* not supported */
    boolean,
    character,
    wide_character, /* wchar_t, char16_t, char32_t */
    integer,
    floating,
    enumeration,
    address,       /* a pointer, an array, a function, nullptr */
    text_at,       /* char *, char [] */
    wide_text_at,  /* wchar_t *, wchar_t [] */
    byte_array,    /* unsigned char [] */
    bytes,         /* FN_BYTES */
    text,          /* std::string, std::string_view */
    wide_text,     /* std::wstring, std::wstring_view */
    unicode_text,  /* the same with char8_t, char16_t, char32_t */
    printed,       /* by operator<< */
    owner,         /* get() and operator-> with the same pointer: smart pointers */
    weak,          /* std::weak_ptr */
    atomic,        /* load() and is_lock_free() */
    reference,     /* get() with a reference to ::type: std::reference_wrapper */
    variant,       /* index() and valueless_by_exception() */
    optional,      /* has_value(), operator* and ::value_type, but no error() */
    duration,      /* count(), ::rep and ::period */
    time_point,    /* time_since_epoch(), ::clock and ::duration */
    list,          /* begin() and end() */
    set,           /* the same, and ::key_type */
    map,           /* the same, and ::mapped_type */
    tuple          /* std::tuple_size */
};
template <kind which> using kind_is = std::integral_constant<kind, which>;
using no_kind = kind_is<kind::none>;

/* Maximum nesting depth of types. It ends the recursion for types that contain each other. */
enum { DEPTH_MAX = 8 };
template <class Type, int depth = 0> struct kind_of;

/* Whether values of this kind can be shown as text: memory that may be unreadable cannot. */
constexpr bool is_text_of(kind which)
{
    return which != kind::none && which != kind::bytes;
}

template <int depth, class... Type> struct are_shown : std::true_type {};
template <int depth, class Type, class... More>
struct are_shown<depth, Type, More...>
    : std::conditional<is_text_of(kind_of<Type, depth>::value), are_shown<depth, More...>,
                       std::false_type>::type {};

/* Kind `which` if its element types are supported. */
template <kind which, int depth, class... Type>
using kind_with = typename std::conditional<are_shown<depth + 1, Type...>::value, kind_is<which>,
                                            no_kind>::type;

/* The first kind that is not none. The ones after it are not instantiated. */
template <class... Kinds> struct first_kind : no_kind {};
template <class Kind, class... More>
struct first_kind<Kind, More...>
    : std::conditional<Kind::value != kind::none, Kind, first_kind<More...>>::type {};

/* ---- Known by members ---- */

template <class Type, class = void> struct as_owner : no_kind {};
template <class Type>
struct as_owner<Type, void_of<decltype(std::declval<const Type &>().get()),
                           decltype(std::declval<const Type &>().operator->())>>
    : std::conditional<
          std::is_pointer<decltype(std::declval<const Type &>().get())>::value &&
              std::is_same<decltype(std::declval<const Type &>().get()),
                           decltype(std::declval<const Type &>().operator->())>::value,
          kind_is<kind::owner>, no_kind>::type {};

template <class Type, int depth, class = void> struct as_atomic : no_kind {};
template <class Type, int depth>
struct as_atomic<Type, depth,
                 void_of<decltype(std::declval<const Type &>().load()),
                         decltype(std::declval<const Type &>().is_lock_free())>>
    : kind_with<kind::atomic, depth, plain<decltype(std::declval<const Type &>().load())>> {};

template <class Type, int depth, class = void> struct as_reference : no_kind {};
template <class Type, int depth>
struct as_reference<Type, depth,
                    typename std::enable_if<
                        std::is_same<decltype(std::declval<const Type &>().get()),
                                     typename Type::type &>::value &&
                        std::is_convertible<const Type &, typename Type::type &>::value>::type>
    : kind_with<kind::reference, depth, plain<typename Type::type>> {};

template <class Type, class = void> struct is_choice : std::false_type {};
template <class Type>
struct is_choice<Type, void_of<decltype(std::declval<const Type &>().index()),
                            decltype(std::declval<const Type &>().valueless_by_exception())>>
    : std::true_type {};

/* An alternative without members, such as std::monostate, is shown by its name. */
template <class Type, int depth>
struct is_alternative
    : std::integral_constant<bool, std::is_empty<Type>::value ||
                                       is_text_of(kind_of<plain<Type>, depth>::value)> {};
template <int depth, class... Type> struct are_alternatives : std::true_type {};
template <int depth, class Type, class... More>
struct are_alternatives<depth, Type, More...>
    : std::conditional<is_alternative<Type, depth>::value, are_alternatives<depth, More...>,
                       std::false_type>::type {};

template <class Type, int depth> struct as_variant : no_kind {};
template <template <class...> class Variant, class... Type, int depth>
struct as_variant<Variant<Type...>, depth>
    : std::conditional<
          std::conditional<is_choice<Variant<Type...>>::value, are_alternatives<depth + 1, Type...>,
                           std::false_type>::type::value,
          kind_is<kind::variant>, no_kind>::type {};

template <class Type, class = void> struct has_error : std::false_type {};
template <class Type>
struct has_error<Type, void_of<decltype(std::declval<const Type &>().error())>> : std::true_type {};

template <class Type, int depth, class = void> struct as_optional : no_kind {};
template <class Type, int depth>
struct as_optional<Type, depth,
                   void_of<typename Type::value_type,
                           decltype(std::declval<const Type &>().has_value() ? 0 : 1),
                           decltype(*std::declval<const Type &>()),
                           typename std::enable_if<!has_error<Type>::value>::type>>
    : kind_with<kind::optional, depth, plain<typename Type::value_type>> {};

template <class Type, int depth, class = void> struct as_duration : no_kind {};
template <class Type, int depth>
struct as_duration<Type, depth,
                   typename std::enable_if<
                       (Type::period::num > 0 && Type::period::den > 0) &&
                       std::is_same<decltype(std::declval<const Type &>().count()),
                                    typename Type::rep>::value>::type>
    : kind_with<kind::duration, depth, typename Type::rep> {};

template <class Type, int depth, class = void> struct as_time_point : no_kind {};
template <class Type, int depth>
struct as_time_point<
    Type, depth,
    typename std::enable_if<
        std::is_same<decltype(std::declval<const Type &>().time_since_epoch()),
                     typename Type::duration>::value,
        void_of<typename Type::clock>>::type>
    : kind_with<kind::time_point, depth, typename Type::duration> {};

/* Whether iteration leaves the elements in place, unlike with input iterators. */
template <class Iterator, class = void> struct stays : std::false_type {};
template <class Iterator>
struct stays<Iterator,
             void_of<typename std::iterator_traits<Iterator>::iterator_category,
                     decltype(std::declval<Iterator &>() != std::declval<Iterator &>())>>
    : std::is_convertible<typename std::iterator_traits<Iterator>::iterator_category,
                          std::forward_iterator_tag> {};

template <class Type, class = void> struct has_keys : std::false_type {};
template <class Type> struct has_keys<Type, void_of<typename Type::key_type>> : std::true_type {};
template <class Type, class Element, class = void> struct has_mapped : std::false_type {};
template <class Type, class Element>
struct has_mapped<Type, Element,
                  void_of<typename Type::mapped_type, decltype(std::declval<Element>().first),
                          decltype(std::declval<Element>().second)>> : std::true_type {};

/* The elements of a std::filesystem::path are paths: they have no kind, because the recursion would
 * not end. */
template <class Type, int depth, class Element>
using range_of = typename std::conditional<
    std::is_same<Type, Element>::value, no_kind,
    kind_with<has_mapped<Type, Element>::value ? kind::map
              : has_keys<Type>::value          ? kind::set
                                            : kind::list,
              depth, Element>>::type;

template <class Type, int depth, class = void> struct as_range : no_kind {};
template <class Type, int depth>
struct as_range<
    Type, depth,
    void_of<typename std::enable_if<
                stays<decltype(std::declval<const Type &>().begin())>::value>::type,
            decltype(std::declval<const Type &>().begin() != std::declval<const Type &>().end()),
            decltype(*std::declval<const Type &>().begin())>>
    : range_of<Type, depth, plain<decltype(*std::declval<const Type &>().begin())>> {};

template <class Type, size_t count, int depth>
struct are_elements_shown
    : std::conditional<are_shown<depth, plain<typename std::tuple_element<count - 1, Type>::type>>::
                           value,
                       are_elements_shown<Type, count - 1, depth>, std::false_type>::type {};
template <class Type, int depth> struct are_elements_shown<Type, 0, depth> : std::true_type {};

template <class Type, int depth, class = void> struct as_tuple : no_kind {};
template <class Type, int depth>
struct as_tuple<Type, depth,
                typename std::enable_if<(std::tuple_size<Type>::value <= 64)>::type>
    : std::conditional<are_elements_shown<Type, std::tuple_size<Type>::value, depth + 1>::value,
                       kind_is<kind::tuple>, no_kind>::type {};

template <class Type>
struct as_printed
    : std::conditional<own_insertion<const Type &>::value != insertion::none,
                       kind_is<kind::printed>, no_kind>::type {};
template <class Type>
struct as_converted
    : std::conditional<member_insertion<Type>::value != insertion::none, kind_is<kind::printed>,
                       no_kind>::type {};

/* ---- Known by name ---- */

template <class Type> struct as_named : no_kind {};
template <> struct as_named<probity_bytes> : kind_is<kind::bytes> {};

template <class Char> struct text_kind : no_kind {};
template <> struct text_kind<char> : kind_is<kind::text> {};
template <> struct text_kind<wchar_t> : kind_is<kind::wide_text> {};
template <> struct text_kind<char16_t> : kind_is<kind::unicode_text> {};
template <> struct text_kind<char32_t> : kind_is<kind::unicode_text> {};
#ifdef __cpp_char8_t
template <> struct text_kind<char8_t> : kind_is<kind::unicode_text> {};
#endif
template <class Char, class Traits, class Allocator>
struct as_named<std::basic_string<Char, Traits, Allocator>> : text_kind<Char> {};
#if PROBITY_CPLUSPLUS >= 201703L
template <class Char, class Traits>
struct as_named<std::basic_string_view<Char, Traits>> : text_kind<Char> {};
#endif

template <class Type, class Deleter>
struct as_named<std::unique_ptr<Type, Deleter>>
    : first_kind<as_printed<std::unique_ptr<Type, Deleter>>,
                 typename std::conditional<
                     std::is_pointer<typename std::unique_ptr<Type, Deleter>::pointer>::value,
                     kind_is<kind::owner>, no_kind>::type> {};
template <class Type>
struct as_named<std::shared_ptr<Type>>
    : first_kind<as_printed<std::shared_ptr<Type>>, kind_is<kind::owner>> {};
template <class Type>
struct as_named<std::weak_ptr<Type>>
    : first_kind<as_printed<std::weak_ptr<Type>>, kind_is<kind::weak>> {};

/* ---- One kind for each type ---- */

template <class Type, int depth>
struct class_kind
    : first_kind<as_named<Type>, as_printed<Type>, as_owner<Type>, as_atomic<Type, depth>,
                 as_reference<Type, depth>, as_variant<Type, depth>, as_optional<Type, depth>,
                 as_duration<Type, depth>, as_time_point<Type, depth>, as_range<Type, depth>,
                 as_tuple<Type, depth>, as_converted<Type>> {};

template <class Type>
struct pointer_to_class_kind
    : std::conditional<own_insertion<decayed<Type>>::value != insertion::none,
                       kind_is<kind::printed>, kind_is<kind::address>>::type {};

template <class Type>
struct pointer_kind
    : std::conditional<
          std::is_same<element<Type>, char>::value, kind_is<kind::text_at>,
          typename std::conditional<
              std::is_same<element<Type>, wchar_t>::value, kind_is<kind::wide_text_at>,
              typename std::conditional<
                  std::is_same<element<Type>, unsigned char>::value && std::is_array<Type>::value,
                  kind_is<kind::byte_array>,
                  typename std::conditional<std::is_integral<element<Type>>::value,
                                            kind_is<kind::address>, pointer_to_class_kind<Type>>::
                      type>::type>::type>::type {};

/* An enum class with an operator<< is printed by it; any other enum would match the operators for
 * int. */
template <class Type>
struct enum_class_kind
    : std::conditional<any_insertion<Type>::value != insertion::none, kind_is<kind::printed>,
                       kind_is<kind::enumeration>>::type {};
template <class Type>
struct enum_kind
    : std::conditional<std::is_convertible<Type, typename std::underlying_type<Type>::type>::value,
                       kind_is<kind::enumeration>, enum_class_kind<Type>>::type {};

template <class Type> struct number_kind : kind_is<kind::integer> {};
template <> struct number_kind<bool> : kind_is<kind::boolean> {};
template <> struct number_kind<char> : kind_is<kind::character> {};
template <> struct number_kind<wchar_t> : kind_is<kind::wide_character> {};
template <> struct number_kind<char16_t> : kind_is<kind::wide_character> {};
template <> struct number_kind<char32_t> : kind_is<kind::wide_character> {};
template <> struct number_kind<float> : kind_is<kind::floating> {};
template <> struct number_kind<double> : kind_is<kind::floating> {};
template <> struct number_kind<long double> : kind_is<kind::floating> {};

/* The compilers' own floating types are not supported. */
template <class Type>
struct is_number
    : std::integral_constant<bool, std::is_integral<Type>::value ||
                                       number_kind<Type>::value == kind::floating ||
                                       std::is_same<Type, probity_i128>::value ||
                                       std::is_same<Type, probity_u128>::value> {};

/* Type without const, volatile and reference. */
template <class Type, int depth>
struct kind_of
    : std::conditional<
          is_number<Type>::value, number_kind<Type>,
          typename std::conditional<
              std::is_same<Type, std::nullptr_t>::value, kind_is<kind::address>,
              typename std::conditional<
                  std::is_pointer<decayed<Type>>::value, pointer_kind<Type>,
                  typename std::conditional<std::is_enum<Type>::value, enum_kind<Type>,
                                            class_kind<Type, depth>>::type>::type>::type>::type {};

/* Ends the recursion. */
template <class Type> struct kind_of<Type, DEPTH_MAX> : no_kind {};

} // namespace probity_fn

#endif

#endif
