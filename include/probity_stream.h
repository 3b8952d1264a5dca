/* SPDX-License-Identifier: MIT
 *
 * probity_stream.h: stream messages and stream formatters for FnTrace.h, C++ only. Selects the
 * operator<< to call for a type, narrow or wide, and converts its output to UTF-8; values without
 * one are shown as probity_show.h does. Used only by the macros of FnTrace.h.
 *
 * A stream message is one text. A value that only a wide stream accepts is printed by a wide stream
 * with the same format flags and converted. So a message may mix narrow and wide values in any
 * order, and manipulators work for both.
 */
#ifndef PROBITY_STREAM_H
#define PROBITY_STREAM_H

#include "probity.h"

/* Values and streams are supported. If probity.h has reported an #error, this file is skipped. In C
 * with MSVC, nothing can run when a variable goes out of scope, so FnTrace.h has no scopes
 * there. */
#if !defined(PROBITY_REFUSED) && !(defined(PROBITY_MSVC) && !defined(__cplusplus))
#define PROBITY_HAS_VALUES 1
#endif

#if defined(__cplusplus) && defined(PROBITY_HAS_VALUES)

#include <cerrno>

#include "probity_show.h"

namespace probity_fn {

/* ---- Inserting one value -------------------------------------------------------------------- */

/* Writes text without quotes. */
inline void insert_text(std::ostream &stream, const char *text, size_t length)
{
    stream << std::string(text, length);
}
template <class Char> void insert_text(std::ostream &stream, const Char *text, size_t length)
{
    std::string made;
    char bytes[4];

    for (size_t place = 0; place < length;)
        made.append(bytes, encode_utf8(next_character(text, length, &place), bytes));
    stream << made;
}
#ifdef __cpp_char8_t
inline void insert_text(std::ostream &stream, const char8_t *text, size_t length)
{
    insert_text(stream, reinterpret_cast<const char *>(text), length);
}
#endif

/* Inserts by kind. A value that no stream accepts is shown the same as in a container. */
template <kind which> struct stream_inserter {
    template <class Type> static void insert(std::ostream &stream, const Type &value)
    {
        char text[SHOWN_BYTES];
        shown_text to(text, sizeof text);

        show_or_say(to, value);
        stream << to.made();
    }
};

template <> struct stream_inserter<kind::printed> {
    template <class Type> static void insert(std::ostream &stream, const Type &value)
    {
        inserter<insertion_of<Type>::value>::insert(stream, value);
    }
};

/* Inserts with the stream's own operators, using its format flags. */
struct number_inserter {
    template <class Type> static void insert(std::ostream &stream, const Type &value)
    {
        insert(stream, value, inserts<std::ostream, Type>());
    }
    template <class Type>
    static void insert(std::ostream &stream, const Type &value, std::true_type)
    {
        stream << value;
    }
    template <class Type>
    static void insert(std::ostream &stream, const Type &value, std::false_type)
    {
        stream_inserter<kind::none>::insert(stream, value);
    }
};
template <> struct stream_inserter<kind::boolean> : number_inserter {};
template <> struct stream_inserter<kind::character> : number_inserter {};
template <> struct stream_inserter<kind::integer> : number_inserter {};
template <> struct stream_inserter<kind::floating> : number_inserter {};
template <> struct stream_inserter<kind::enumeration> : number_inserter {};
template <> struct stream_inserter<kind::address> : number_inserter {};
template <> struct stream_inserter<kind::byte_array> : number_inserter {};

template <> struct stream_inserter<kind::wide_character> {
    template <class Type> static void insert(std::ostream &stream, const Type &value)
    {
        const char32_t one[1] = {static_cast<char32_t>(value)};

        insert_text(stream, one, 1);
    }
};

/* Does not read beyond the end of an array. NULL, which would make the stream fail, is shown as
 * text. */
struct text_inserter {
    template <class Type, size_t count>
    static void insert(std::ostream &stream, const Type (&text)[count])
    {
        size_t length = 0;
        while (length < count && text[length] != Type())
            length++;
        insert_text(stream, text, length);
    }
    template <class Type> static void insert(std::ostream &stream, Type *const &pointer)
    {
        const plain<Type> *text = const_cast<const plain<Type> *>(pointer);

        if (text != nullptr)
            insert_text(stream, text, std::char_traits<plain<Type>>::length(text));
        else
            stream << "NULL";
    }
};
template <> struct stream_inserter<kind::text_at> : text_inserter {};
template <> struct stream_inserter<kind::wide_text_at> : text_inserter {};

struct string_inserter {
    template <class Type> static void insert(std::ostream &stream, const Type &text)
    {
        insert_text(stream, text.data(), text.size());
    }
};
template <> struct stream_inserter<kind::text> : string_inserter {};
template <> struct stream_inserter<kind::wide_text> : string_inserter {};
template <> struct stream_inserter<kind::unicode_text> : string_inserter {};

template <> struct stream_inserter<kind::reference> {
    template <class Type> static void insert(std::ostream &stream, const Type &value)
    {
        const auto &one = value.get();
        stream_inserter<kind_of<plain<decltype(one)>>::value>::insert(stream, one);
    }
};
template <> struct stream_inserter<kind::atomic> {
    template <class Type> static void insert(std::ostream &stream, const Type &value)
    {
        const auto one = value.load();
        stream_inserter<kind_of<plain<decltype(one)>>::value>::insert(stream, one);
    }
};

template <class Type> void insert_or_say(std::ostream &stream, const Type &value)
{
    const bool is_inserted = is_done(
        [&stream, &value] { stream_inserter<kind_of<plain<Type>>::value>::insert(stream, value); });

    if (!is_inserted) {
        stream.clear();
        stream << "(operator<< threw)";
    }
}

/* ---- A message ------------------------------------------------------------------------------ */

class text_stream {
public:
    text_stream() : before_(errno) {}
    template <class First, class Second>
    text_stream(const First &value, const Second &second) : text_stream()
    {
        *this << value << second;
    }
    text_stream(const text_stream &) = delete;
    text_stream &operator=(const text_stream &) = delete;
    ~text_stream() { errno = before_; }

    template <class Type> text_stream &operator<<(const Type &value)
    {
        static_assert(is_text_of(kind_of<plain<Type>>::value),
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

    /* Removes one line feed at the end: it is usual in output to std::cout, but not part of a
     * message. */
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
 * FN_OUTPUT(a ? b : c). Values are held by reference: everything must be one full expression. */
template <class Type> struct first {
    const Type &value;

    template <class Second> text_stream operator<<(const Second &second) const
    {
        return {value, second};
    }
    text_stream operator<<(std::ostream &(*manipulator)(std::ostream &)) const
    {
        return {value, manipulator};
    }
    explicit operator bool() const { return static_cast<bool>(value); }
};

struct start {
    template <class Type> first<Type> operator<<(const Type &value) const { return {value}; }
};

/* The warning belongs at the caller's operator, where the compiler gives it for plain values. */
#ifndef PROBITY_MSVC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wfloat-equal"
#endif
#define PROBITY_X_UNWRAP(operation)                                                                \
    template <class Type, class Second>                                                            \
    auto operator operation(const first<Type> &left, Second &&right)                               \
        ->decltype(left.value operation std::forward<Second>(right))                               \
    {                                                                                              \
        return left.value operation std::forward<Second>(right);                                   \
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
#ifndef PROBITY_MSVC
#pragma GCC diagnostic pop
#endif

} // namespace probity_fn

#endif

#endif
