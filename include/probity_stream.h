/* SPDX-License-Identifier: MIT
 *
 * probity_stream.h: stream messages and stream formatters for FnTrace.h, C++ only. Selects the
 * operator<< to call for a type, narrow or wide, and converts its output to UTF-8. Used only by the
 * macros of FnTrace.h.
 *
 * A stream message is one text. A value that only a wide stream accepts is printed by a wide stream
 * with the same format flags and converted. So a message may mix narrow and wide values in any
 * order, and manipulators work for both.
 */
#ifndef PROBITY_STREAM_H
#define PROBITY_STREAM_H

#include "probity.h"

/* Values and streams are supported. If probity.h has reported an #error, this file is skipped. */
#ifndef PROBITY_REFUSED
#if defined(__cplusplus) && __cplusplus < 201703L
#error "FnTrace.h needs C++17 or newer (-std=c++17)"
#else
#define PROBITY_HAS_VALUES 1
#endif
#endif

#if defined(__cplusplus) && defined(PROBITY_HAS_VALUES)

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <cwchar>
#include <cxxabi.h>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace probity_fn {

template <class T> using plain = std::remove_cv_t<std::remove_reference_t<T>>;
template <class T> using element = std::remove_cv_t<std::remove_pointer_t<std::decay_t<T>>>;

/* ---- Which operator<< ----------------------------------------------------------------------- */

/* Whether `stream << value` compiles. */
template <class Stream, class T, class = void> struct inserts : std::false_type {};
template <class Stream, class T>
struct inserts<Stream, T,
               std::void_t<decltype(std::declval<Stream &>() << std::declval<const T &>())>>
    : std::true_type {};

/* Whether a non-member operator<< takes the value, that is, one written for the type itself. The
 * stream's member operators would take any pointer as an address and anything convertible to a
 * number as a number. */
template <class Stream, class T, class = void> struct inserts_own : std::false_type {};
template <class Stream, class T>
struct inserts_own<
    Stream, T, std::void_t<decltype(operator<<(std::declval<Stream &>(), std::declval<T>()))>>
    : std::true_type {};

enum class insertion { none, narrow, wide };

/* An operator written for the type is preferred to one that needs a conversion. */
template <class T> constexpr insertion insertion_of()
{
    if constexpr (inserts_own<std::ostream, const T &>::value)
        return insertion::narrow;
    else if constexpr (inserts_own<std::wostream, const T &>::value)
        return insertion::wide;
    else if constexpr (inserts<std::ostream, T>::value)
        return insertion::narrow;
    else
        return inserts<std::wostream, T>::value ? insertion::wide : insertion::none;
}

/* The same for pointers to and arrays of a class, which the streams' member operators print as
 * addresses. */
template <class T> constexpr insertion own_insertion_of()
{
    if constexpr (inserts_own<std::ostream, T>::value)
        return insertion::narrow;
    else
        return inserts_own<std::wostream, T>::value ? insertion::wide : insertion::none;
}

template <class T> constexpr bool is_text()
{
    return std::is_same_v<plain<T>, std::string> || std::is_same_v<plain<T>, std::string_view>;
}

template <class T> constexpr bool is_wide_text()
{
    return std::is_same_v<plain<T>, std::wstring> || std::is_same_v<plain<T>, std::wstring_view>;
}

/* ---- UTF-8 ---------------------------------------------------------------------------------- */

inline void append_utf8(std::string &text, uint32_t character)
{
    if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
        character = 0xfffd; /* the replacement character */
    if (character < 0x80) {
        text += static_cast<char>(character);
        return;
    }
    int further = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    text += static_cast<char>((0xff00 >> (further + 1) & 0xff) | character >> 6 * further);
    while (further-- > 0)
        text += static_cast<char>(0x80 | (character >> 6 * further & 0x3f));
}

inline std::string utf8_of(std::wstring_view wide)
{
    std::string text;

    text.reserve(wide.size());
    for (wchar_t character : wide)
        append_utf8(text, static_cast<uint32_t>(character));
    return text;
}

/* ---- Inserting one value -------------------------------------------------------------------- */

template <class T> void insert_wide(std::ostream &stream, const T &value)
{
    std::wostringstream wide;

    wide.flags(stream.flags());
    wide.precision(stream.precision());
    wide.width(stream.width());
    wide.fill(static_cast<wchar_t>(static_cast<unsigned char>(stream.fill())));
    stream.width(0);
    wide << value;
    stream << utf8_of(wide.str());
    stream.flags(wide.flags()); /* keeps changes by manipulators that only wide streams accept */
    stream.precision(wide.precision());
    stream.width(wide.width());
}

/* A view of an array, up to its end at most. NULL, which would put the stream into a failed state,
 * is shown as text. */
template <size_t count> std::string_view view_of(const char (&text)[count])
{
    return {text, strnlen(text, count)};
}
template <size_t count> std::wstring_view view_of(const wchar_t (&text)[count])
{
    return {text, wcsnlen(text, count)};
}
template <class T> auto view_of(const T &text)
{
    if constexpr (std::is_same_v<element<T>, char>)
        return std::string_view(text != nullptr ? const_cast<const char *>(text) : "NULL");
    else
        return std::wstring_view(text != nullptr ? const_cast<const wchar_t *>(text) : L"NULL");
}

template <class T> void insert(std::ostream &stream, const T &value)
{
    if constexpr (is_wide_text<T>()) {
        stream << utf8_of(value);
    } else if constexpr (std::is_same_v<element<T>, wchar_t> &&
                         std::is_pointer_v<std::decay_t<T>>) {
        stream << utf8_of(view_of(value));
    } else if constexpr (std::is_same_v<element<T>, char> && std::is_pointer_v<std::decay_t<T>>) {
        stream << view_of(value);
    } else if constexpr (std::is_same_v<T, wchar_t> || std::is_same_v<T, char16_t> ||
                         std::is_same_v<T, char32_t>) {
        std::string text;
        append_utf8(text, static_cast<uint32_t>(value));
        stream << text;
    } else if constexpr (std::is_pointer_v<std::decay_t<T>> &&
                         !std::is_function_v<std::remove_pointer_t<std::decay_t<T>>>) {
        if constexpr (own_insertion_of<std::decay_t<T>>() == insertion::wide)
            insert_wide(stream, value);
        else
            stream << value;
    } else if constexpr (insertion_of<T>() == insertion::wide) {
        insert_wide(stream, value);
    } else {
        stream << value;
    }
}

/* Exceptions thrown by an operator<< are caught here, so that they do not affect the program. */
template <class T> void insert_or_say(std::ostream &stream, const T &value)
{
#if __cpp_exceptions
    try {
#endif
        insert(stream, value);
#if __cpp_exceptions
#ifdef __GLIBCXX__
    } catch (abi::__forced_unwind &) {
        throw; /* cancellation of the thread; swallowing it would end the program */
#endif
    } catch (...) {
        stream.clear();
        stream << "(operator<< threw)";
    }
#endif
}

/* ---- A message ------------------------------------------------------------------------------ */

class text_stream {
public:
    text_stream() : before_(errno) {}
    template <class A, class B> text_stream(const A &value, const B &second) : text_stream()
    {
        *this << value << second;
    }
    text_stream(const text_stream &) = delete;
    text_stream &operator=(const text_stream &) = delete;
    ~text_stream() { errno = before_; }

    template <class T> text_stream &operator<<(const T &value)
    {
        static_assert(insertion_of<T>() != insertion::none || is_wide_text<T>() ||
                          std::is_pointer_v<std::decay_t<T>> || std::is_same_v<T, wchar_t> ||
                          std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>,
                      "FnTrace: no operator<<(std::ostream &, ...) or (std::wostream &, ...) for "
                      "the type of a value in a message");
        insert_or_say(stream_, value);
        return *this;
    }
    text_stream &operator<<(std::ostream &(*manipulator)(std::ostream &))
    {
        stream_ << manipulator;
        return *this;
    }
    text_stream &operator<<(std::ios &(*manipulator)(std::ios &))
    {
        stream_ << manipulator;
        return *this;
    }
    text_stream &operator<<(std::ios_base &(*manipulator)(std::ios_base &))
    {
        stream_ << manipulator;
        return *this;
    }

    /* Removes one line feed at the end: usual in output to std::cout, but not part of a message. */
    std::string text() const
    {
        std::string made = stream_.str();
        if (!made.empty() && made.back() == '\n')
            made.pop_back();
        return made;
    }

private:
    std::ostringstream stream_;
    int before_;
};

/* ---- FN_OUTPUT(x): a value or a stream expression ------------------------------------------- */

/* `start() << x` is a `first` if x is one value, and a text_stream if x is a << b. If x contains an
 * operator that binds less tightly than <<, it is the result of that operator: FN_OUTPUT(a == b),
 * FN_OUTPUT(a ? b : c). Values are held by reference: the whole must be one full expression. */
template <class T> struct first {
    const T &value;

    template <class U> text_stream operator<<(const U &second) const { return {value, second}; }
    text_stream operator<<(std::ostream &(*manipulator)(std::ostream &)) const
    {
        return {value, manipulator};
    }
    explicit operator bool() const { return static_cast<bool>(value); }
};

struct start {
    template <class T> first<T> operator<<(const T &value) const { return {value}; }
};

/* The warning belongs at the caller's operator, and the compiler gives it there for plain
 * values. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wfloat-equal"
#define PROBITY_X_UNWRAP(operation)                                                                \
    template <class T, class U>                                                                    \
    auto operator operation(const first<T> &left, U &&right)                                       \
        ->decltype(left.value operation std::forward<U>(right))                                    \
    {                                                                                              \
        return left.value operation std::forward<U>(right);                                        \
    }
PROBITY_X_UNWRAP(==)
PROBITY_X_UNWRAP(!=)
PROBITY_X_UNWRAP(<)
PROBITY_X_UNWRAP(>)
PROBITY_X_UNWRAP(<=)
PROBITY_X_UNWRAP(>=)
PROBITY_X_UNWRAP(&)
PROBITY_X_UNWRAP(^)
PROBITY_X_UNWRAP(|)
PROBITY_X_UNWRAP(>>)
#undef PROBITY_X_UNWRAP
#pragma GCC diagnostic pop

} // namespace probity_fn

#endif

#endif
