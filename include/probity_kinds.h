/* SPDX-License-Identifier: MIT
 *
 * probity_kinds.h: how FnTrace.h determines what a value is, at compile time, C++ only. Used only
 * by the other headers of FnTrace.h.
 *
 * A type with an operator<< is printed by it. Types of the standard library are otherwise known by
 * their members, so that no header of theirs is included here, and types of other libraries with
 * the same members are supported too. Only strings and smart pointers are known by name.
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
#if __cplusplus >= 201703L
#include <string_view>
#endif

__extension__ typedef __int128 probity_i128;
__extension__ typedef unsigned __int128 probity_u128;
struct probity_bytes;

namespace probity_fn {

template <class T>
using plain = typename std::remove_cv<typename std::remove_reference<T>::type>::type;
template <class T> using decayed = typename std::decay<T>::type;
template <class T>
using element =
    typename std::remove_cv<typename std::remove_pointer<typename std::decay<T>::type>::type>::type;

/* std::void_t, which C++11 does not have. */
template <class...> struct void_maker {
    using type = void;
};
template <class... T> using void_of = typename void_maker<T...>::type;

/* ---- Which operator<< ----------------------------------------------------------------------- */

/* Whether `stream << value` compiles. */
template <class Stream, class T, class = void> struct inserts : std::false_type {};
template <class Stream, class T>
struct inserts<Stream, T, void_of<decltype(std::declval<Stream &>() << std::declval<const T &>())>>
    : std::true_type {};

/* Besides operators for the type itself, the library has some that take it by a conversion to a
 * character, and in some standards for its smart pointers, which print the text at an address, or
 * 0. The operators below are at least as good as those: a call is ambiguous or selects one of them,
 * unless the program or the library has a better one. The library's for unique_ptr is constrained
 * in C++20, which these must then be too. */
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
template <class Char, class Traits, class T, class Deleter>
printed operator<<(std::basic_ostream<Char, Traits> &, const std::unique_ptr<T, Deleter> &)
    PROBITY_X_CONSTRAINED;
template <class Char, class Traits, class T>
printed operator<<(std::basic_ostream<Char, Traits> &, const std::shared_ptr<T> &)
    PROBITY_X_CONSTRAINED;
#undef PROBITY_X_CONSTRAINED
} // namespace library

/* Whether a non-member operator<< takes the value, that is, one written for the type itself. The
 * stream's member operators would take any pointer as an address and anything convertible to a
 * number as a number. */
template <class Stream, class T, class = void> struct inserts_own : std::false_type {};
template <class Stream, class T>
struct inserts_own<Stream, T,
                   void_of<decltype(operator<<(std::declval<Stream &>(), std::declval<T>()))>>
    : std::integral_constant<
          bool, !std::is_same<library::printed, decltype(operator<<(std::declval<Stream &>(),
                                                                    std::declval<T>()))>::value> {
};

enum class insertion { none, narrow, wide };
template <insertion which> using insertion_is = std::integral_constant<insertion, which>;

/* An operator written for the type, with T as it is passed: also for pointers to and arrays of a
 * class, which the streams' member operators print as addresses. */
template <class T>
struct own_insertion
    : std::conditional<inserts_own<library::narrow_stream, T>::value,
                       insertion_is<insertion::narrow>,
                       typename std::conditional<inserts_own<library::wide_stream, T>::value,
                                                 insertion_is<insertion::wide>,
                                                 insertion_is<insertion::none>>::type>::type {};

template <class T>
struct member_insertion
    : std::conditional<inserts<std::ostream, T>::value, insertion_is<insertion::narrow>,
                       typename std::conditional<inserts<std::wostream, T>::value,
                                                 insertion_is<insertion::wide>,
                                                 insertion_is<insertion::none>>::type>::type {};

/* An operator written for the type is preferred to one that needs a conversion. */
template <class T> struct any_insertion {
    static constexpr insertion value = own_insertion<const T &>::value != insertion::none
                                           ? own_insertion<const T &>::value
                                           : member_insertion<T>::value;
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
    unicode_text,  /* the same of char8_t, char16_t, char32_t */
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
    set,           /* the same and ::key_type */
    map,           /* the same and ::mapped_type */
    tuple          /* std::tuple_size */
};
template <kind which> using kind_is = std::integral_constant<kind, which>;
using no_kind = kind_is<kind::none>;

/* Types nest to this depth at most, so that types which contain each other end somewhere. */
enum { DEPTH_MAX = 8 };
template <class T, int depth = 0> struct kind_of;

/* Whether it can be shown as text: memory that may be unreadable cannot. */
constexpr bool is_text_of(kind which)
{
    return which != kind::none && which != kind::bytes;
}

template <int depth, class... T> struct are_shown : std::true_type {};
template <int depth, class T, class... More>
struct are_shown<depth, T, More...>
    : std::conditional<is_text_of(kind_of<T, depth>::value), are_shown<depth, More...>,
                       std::false_type>::type {};

/* kind `which` if the types in it are supported. */
template <kind which, int depth, class... T>
using kind_with = typename std::conditional<are_shown<depth + 1, T...>::value, kind_is<which>,
                                            no_kind>::type;

/* The first that is not none. The others are not instantiated. */
template <class... Kinds> struct first_kind : no_kind {};
template <class Kind, class... More>
struct first_kind<Kind, More...>
    : std::conditional<Kind::value != kind::none, Kind, first_kind<More...>>::type {};

/* ---- Known by members ---- */

template <class T, class = void> struct as_owner : no_kind {};
template <class T>
struct as_owner<T, void_of<decltype(std::declval<const T &>().get()),
                           decltype(std::declval<const T &>().operator->())>>
    : std::conditional<
          std::is_pointer<decltype(std::declval<const T &>().get())>::value &&
              std::is_same<decltype(std::declval<const T &>().get()),
                           decltype(std::declval<const T &>().operator->())>::value,
          kind_is<kind::owner>, no_kind>::type {};

template <class T, int depth, class = void> struct as_atomic : no_kind {};
template <class T, int depth>
struct as_atomic<T, depth,
                 void_of<decltype(std::declval<const T &>().load()),
                         decltype(std::declval<const T &>().is_lock_free())>>
    : kind_with<kind::atomic, depth, plain<decltype(std::declval<const T &>().load())>> {};

template <class T, int depth, class = void> struct as_reference : no_kind {};
template <class T, int depth>
struct as_reference<T, depth,
                    typename std::enable_if<
                        std::is_same<decltype(std::declval<const T &>().get()),
                                     typename T::type &>::value &&
                        std::is_convertible<const T &, typename T::type &>::value>::type>
    : kind_with<kind::reference, depth, plain<typename T::type>> {};

template <class T, class = void> struct is_choice : std::false_type {};
template <class T>
struct is_choice<T, void_of<decltype(std::declval<const T &>().index()),
                            decltype(std::declval<const T &>().valueless_by_exception())>>
    : std::true_type {};

/* An alternative without members, as std::monostate, is shown by its name. */
template <class T, int depth>
struct is_alternative
    : std::integral_constant<bool, std::is_empty<T>::value ||
                                       is_text_of(kind_of<plain<T>, depth>::value)> {};
template <int depth, class... T> struct are_alternatives : std::true_type {};
template <int depth, class T, class... More>
struct are_alternatives<depth, T, More...>
    : std::conditional<is_alternative<T, depth>::value, are_alternatives<depth, More...>,
                       std::false_type>::type {};

template <class T, int depth> struct as_variant : no_kind {};
template <template <class...> class Variant, class... T, int depth>
struct as_variant<Variant<T...>, depth>
    : std::conditional<
          std::conditional<is_choice<Variant<T...>>::value, are_alternatives<depth + 1, T...>,
                           std::false_type>::type::value,
          kind_is<kind::variant>, no_kind>::type {};

template <class T, class = void> struct has_error : std::false_type {};
template <class T>
struct has_error<T, void_of<decltype(std::declval<const T &>().error())>> : std::true_type {};

template <class T, int depth, class = void> struct as_optional : no_kind {};
template <class T, int depth>
struct as_optional<T, depth,
                   void_of<typename T::value_type,
                           decltype(std::declval<const T &>().has_value() ? 0 : 1),
                           decltype(*std::declval<const T &>()),
                           typename std::enable_if<!has_error<T>::value>::type>>
    : kind_with<kind::optional, depth, plain<typename T::value_type>> {};

template <class T, int depth, class = void> struct as_duration : no_kind {};
template <class T, int depth>
struct as_duration<T, depth,
                   typename std::enable_if<(T::period::num > 0 && T::period::den > 0) &&
                                           std::is_same<decltype(std::declval<const T &>().count()),
                                                        typename T::rep>::value>::type>
    : kind_with<kind::duration, depth, typename T::rep> {};

template <class T, int depth, class = void> struct as_time_point : no_kind {};
template <class T, int depth>
struct as_time_point<
    T, depth,
    typename std::enable_if<
        std::is_same<decltype(std::declval<const T &>().time_since_epoch()),
                     typename T::duration>::value,
        void_of<typename T::clock>>::type>
    : kind_with<kind::time_point, depth, typename T::duration> {};

/* Whether an iterator does not use up what it passes over. */
template <class Iterator, class = void> struct stays : std::false_type {};
template <class Iterator>
struct stays<Iterator,
             void_of<typename std::iterator_traits<Iterator>::iterator_category,
                     decltype(std::declval<Iterator &>() != std::declval<Iterator &>())>>
    : std::is_convertible<typename std::iterator_traits<Iterator>::iterator_category,
                          std::forward_iterator_tag> {};

template <class T, class = void> struct has_keys : std::false_type {};
template <class T> struct has_keys<T, void_of<typename T::key_type>> : std::true_type {};
template <class T, class Element, class = void> struct has_mapped : std::false_type {};
template <class T, class Element>
struct has_mapped<T, Element,
                  void_of<typename T::mapped_type, decltype(std::declval<Element>().first),
                          decltype(std::declval<Element>().second)>> : std::true_type {};

/* A path consists of paths: what contains itself has no end. */
template <class T, int depth, class Element>
using range_of = typename std::conditional<
    std::is_same<T, Element>::value, no_kind,
    kind_with<has_mapped<T, Element>::value ? kind::map
              : has_keys<T>::value          ? kind::set
                                            : kind::list,
              depth, Element>>::type;

template <class T, int depth, class = void> struct as_range : no_kind {};
template <class T, int depth>
struct as_range<
    T, depth,
    void_of<typename std::enable_if<
                stays<decltype(std::declval<const T &>().begin())>::value>::type,
            decltype(std::declval<const T &>().begin() != std::declval<const T &>().end()),
            decltype(*std::declval<const T &>().begin())>>
    : range_of<T, depth, plain<decltype(*std::declval<const T &>().begin())>> {};

template <class T, size_t count, int depth>
struct are_elements_shown
    : std::conditional<are_shown<depth, plain<typename std::tuple_element<count - 1, T>::type>>::
                           value,
                       are_elements_shown<T, count - 1, depth>, std::false_type>::type {};
template <class T, int depth> struct are_elements_shown<T, 0, depth> : std::true_type {};

template <class T, int depth, class = void> struct as_tuple : no_kind {};
template <class T, int depth>
struct as_tuple<T, depth,
                typename std::enable_if<(std::tuple_size<T>::value <= 64)>::type>
    : std::conditional<are_elements_shown<T, std::tuple_size<T>::value, depth + 1>::value,
                       kind_is<kind::tuple>, no_kind>::type {};

template <class T>
struct as_printed
    : std::conditional<own_insertion<const T &>::value != insertion::none, kind_is<kind::printed>,
                       no_kind>::type {};
template <class T>
struct as_converted
    : std::conditional<member_insertion<T>::value != insertion::none, kind_is<kind::printed>,
                       no_kind>::type {};

/* ---- Known by name ---- */

template <class T> struct as_named : no_kind {};
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
#if __cplusplus >= 201703L
template <class Char, class Traits>
struct as_named<std::basic_string_view<Char, Traits>> : text_kind<Char> {};
#endif

template <class T, class Deleter>
struct as_named<std::unique_ptr<T, Deleter>>
    : first_kind<as_printed<std::unique_ptr<T, Deleter>>,
                 typename std::conditional<
                     std::is_pointer<typename std::unique_ptr<T, Deleter>::pointer>::value,
                     kind_is<kind::owner>, no_kind>::type> {};
template <class T>
struct as_named<std::shared_ptr<T>>
    : first_kind<as_printed<std::shared_ptr<T>>, kind_is<kind::owner>> {};
template <class T>
struct as_named<std::weak_ptr<T>> : first_kind<as_printed<std::weak_ptr<T>>, kind_is<kind::weak>> {
};

/* ---- One kind for each type ---- */

template <class T, int depth>
struct class_kind
    : first_kind<as_named<T>, as_printed<T>, as_owner<T>, as_atomic<T, depth>,
                 as_reference<T, depth>, as_variant<T, depth>, as_optional<T, depth>,
                 as_duration<T, depth>, as_time_point<T, depth>, as_range<T, depth>,
                 as_tuple<T, depth>, as_converted<T>> {};

template <class T>
struct pointer_to_class_kind
    : std::conditional<own_insertion<decayed<T>>::value != insertion::none,
                       kind_is<kind::printed>, kind_is<kind::address>>::type {};

template <class T>
struct pointer_kind
    : std::conditional<
          std::is_same<element<T>, char>::value, kind_is<kind::text_at>,
          typename std::conditional<
              std::is_same<element<T>, wchar_t>::value, kind_is<kind::wide_text_at>,
              typename std::conditional<
                  std::is_same<element<T>, unsigned char>::value && std::is_array<T>::value,
                  kind_is<kind::byte_array>,
                  typename std::conditional<std::is_integral<element<T>>::value,
                                            kind_is<kind::address>, pointer_to_class_kind<T>>::
                      type>::type>::type>::type {};

/* An enum class with an operator<< is printed by it; any other enum would match the operators of
 * int. */
template <class T>
struct enum_class_kind
    : std::conditional<any_insertion<T>::value != insertion::none, kind_is<kind::printed>,
                       kind_is<kind::enumeration>>::type {};
template <class T>
struct enum_kind
    : std::conditional<std::is_convertible<T, typename std::underlying_type<T>::type>::value,
                       kind_is<kind::enumeration>, enum_class_kind<T>>::type {};

template <class T> struct number_kind : kind_is<kind::integer> {};
template <> struct number_kind<bool> : kind_is<kind::boolean> {};
template <> struct number_kind<char> : kind_is<kind::character> {};
template <> struct number_kind<wchar_t> : kind_is<kind::wide_character> {};
template <> struct number_kind<char16_t> : kind_is<kind::wide_character> {};
template <> struct number_kind<char32_t> : kind_is<kind::wide_character> {};
template <> struct number_kind<float> : kind_is<kind::floating> {};
template <> struct number_kind<double> : kind_is<kind::floating> {};
template <> struct number_kind<long double> : kind_is<kind::floating> {};

/* The compilers' own floating types are not supported. */
template <class T>
struct is_number
    : std::integral_constant<bool, std::is_integral<T>::value ||
                                       number_kind<T>::value == kind::floating ||
                                       std::is_same<T, probity_i128>::value ||
                                       std::is_same<T, probity_u128>::value> {};

/* T without const, volatile and reference. */
template <class T, int depth>
struct kind_of
    : std::conditional<
          is_number<T>::value, number_kind<T>,
          typename std::conditional<
              std::is_same<T, std::nullptr_t>::value, kind_is<kind::address>,
              typename std::conditional<
                  std::is_pointer<decayed<T>>::value, pointer_kind<T>,
                  typename std::conditional<std::is_enum<T>::value, enum_kind<T>,
                                            class_kind<T, depth>>::type>::type>::type>::type {};

/* Instead of an endless nesting. */
template <class T> struct kind_of<T, DEPTH_MAX> : no_kind {};

} // namespace probity_fn

#endif

#endif
