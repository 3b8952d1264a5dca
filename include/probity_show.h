/* SPDX-License-Identifier: MIT
 *
 * probity_show.h: shows values of all kinds (probity_kinds.h) as text, in the calling thread, C++
 * only. Used only by the other headers of FnTrace.h.
 *
 * Numbers, pointers, characters and strings are written as `probity log` writes those that are
 * recorded in binary. The text is bounded: at most ELEMENTS_MAX elements of each container, and a
 * limit for the whole. Memory is allocated only by an operator<<.
 */
#ifndef PROBITY_SHOW_H
#define PROBITY_SHOW_H

#include "probity_kinds.h"
#include "probity_scope.h"

#if defined(__cplusplus) && !defined(PROBITY_REFUSED)

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <sstream>
#ifdef PROBITY_MSVC
#include <cmath>
#else
#include <cxxabi.h>
#endif

namespace probity_fn {

enum { ELEMENTS_MAX = 16, SHOWN_BYTES = 1000 };

/* ---- Text ----------------------------------------------------------------------------------- */

/* Text of at most `bytes` bytes. If it is longer, used_ is bytes + 1. */
class shown_text {
public:
    shown_text(char *text, size_t bytes) : text_(text), bytes_(bytes), used_(0) {}

    bool is_full() const { return used_ > bytes_; }
    size_t used() const { return used_; }

    void put(char character)
    {
        if (used_ < bytes_)
            text_[used_] = character;
        if (used_ <= bytes_)
            used_++;
    }
    void put(const char *text, size_t bytes)
    {
        for (size_t place = 0; place < bytes && !is_full(); place++)
            put(text[place]);
    }
    void put(const char *text) { put(text, strlen(text)); }

    /* Appends whole UTF-8 characters, followed by "..." if the text was truncated. */
    std::string made() const
    {
        size_t length = used_;

        if (!is_full())
            return std::string(text_, length);
        for (length = bytes_; length > 0 && (text_[length - 1] & 0xc0) == 0x80; length--)
            continue;
        if (length > 0 && (text_[length - 1] & 0x80) != 0)
            length--;
        return std::string(text_, length) + "...";
    }

private:
    char *text_;
    size_t bytes_, used_;
};

/* Returns the number of bytes, 1 to 4. */
inline size_t encode_utf8(uint32_t character, char bytes[4])
{
    if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
        character = 0xfffd; /* the replacement character */
    if (character < 0x80) {
        bytes[0] = static_cast<char>(character);
        return 1;
    }
    size_t further = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    bytes[0] = static_cast<char>((0xff00 >> (further + 1) & 0xff) | character >> 6 * further);
    for (size_t place = 1; place <= further; place++)
        bytes[place] = static_cast<char>(0x80 | (character >> 6 * (further - place) & 0x3f));
    return further + 1;
}

/* Appends one character of text in quotes, escaped as in C. An escape sequence that does not fit is
 * left out, and so is all text after it. */
inline void put_escaped(shown_text &to, uint32_t character, char quote)
{
    char bytes[4] = {'\\'};
    size_t count = 2;

    if (character == static_cast<unsigned char>(quote) || character == '\\') {
        bytes[1] = static_cast<char>(character);
    } else if (character >= 7 && character <= 13) {
        bytes[1] = "abtnvfr"[character - 7];
    } else if (character < 0x20 || character == 0x7f) {
        for (count = 1; count < 4; count++)
            bytes[count] = static_cast<char>('0' + (character >> (9 - 3 * count) & 7));
    } else {
        count = encode_utf8(character, bytes);
    }
    to.put(bytes, count);
}

/* Reads the next character, which may be two units of UTF-16. */
template <class Char> uint32_t next_character(const Char *text, size_t length, size_t *at)
{
    uint32_t one = static_cast<uint32_t>(text[(*at)++]);

    if (sizeof(Char) == 2 && one >= 0xd800 && one < 0xdc00 && *at < length &&
        (static_cast<uint32_t>(text[*at]) & 0xfc00) == 0xdc00)
        one = 0x10000 + ((one & 0x3ff) << 10) + (static_cast<uint32_t>(text[(*at)++]) & 0x3ff);
    return one;
}

/* Leaves UTF-8 unchanged. */
inline void put_quoted(shown_text &to, const char *text, size_t length)
{
    to.put('"');
    for (size_t place = 0; place < length && !to.is_full(); place++) {
        unsigned char byte = static_cast<unsigned char>(text[place]);
        if (byte < 0x80)
            put_escaped(to, byte, '"');
        else
            to.put(text[place]);
    }
    to.put('"');
}
template <class Char> void put_quoted(shown_text &to, const Char *text, size_t length)
{
    if (sizeof(Char) == 1) {
        put_quoted(to, reinterpret_cast<const char *>(text), length);
        return;
    }
    to.put('"');
    for (size_t place = 0; place < length && !to.is_full();)
        put_escaped(to, next_character(text, length, &place), '"');
    to.put('"');
}

/* ---- Numbers -------------------------------------------------------------------------------- */

inline void put_unsigned(shown_text &to, probity_u128 value)
{
    char digits[40];
    size_t first = sizeof digits;

    do {
        digits[--first] = static_cast<char>('0' + static_cast<int>(value % 10));
        value /= 10;
    } while (value != 0);
    to.put(digits + first, sizeof digits - first);
}

inline void put_integer(shown_text &to, probity_i128 value)
{
    if (value < 0)
        to.put('-');
    put_unsigned(to, value < 0 ? 0 - static_cast<probity_u128>(value)
                               : static_cast<probity_u128>(value));
}
inline void put_integer(shown_text &to, probity_u128 value)
{
    put_unsigned(to, value);
}

/* Appends a number with leading zeros. */
inline void put_digits(shown_text &to, uint64_t value, int digits)
{
    char text[20];

    for (int place = digits; place-- > 0; value /= 10)
        text[place] = static_cast<char>('0' + static_cast<int>(value % 10));
    to.put(text, static_cast<size_t>(digits));
}

inline void put_address(shown_text &to, const volatile void *address)
{
    uintptr_t value = reinterpret_cast<uintptr_t>(address);
    int shift = 60;

    if (value == 0) {
        to.put("NULL");
        return;
    }
    while (value >> shift == 0)
        shift -= 4;
    to.put("0x");
    for (; shift >= 0; shift -= 4)
        to.put("0123456789abcdef"[value >> shift & 15]);
}

/* Appends text written by snprintf(), with a decimal point in any locale. */
inline void put_printed(shown_text &to, const char *text)
{
    bool in_point = false;

    for (; *text != '\0'; text++) {
        bool is_plain = strchr("0123456789+-einfa", *text) != nullptr;
        if (is_plain || !in_point)
            to.put(is_plain ? *text : '.');
        in_point = !is_plain;
    }
}

/* Appends the fewest digits that round-trip, as in `probity log`. */
#ifdef PROBITY_MSVC
using std::signbit;
using std::trunc;
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"
inline double trunc(double value)
{
    return __builtin_trunc(value);
}
inline bool signbit(double value)
{
    return __builtin_signbit(value) != 0;
}
#endif
inline void put_floating(shown_text &to, float value)
{
    char text[64];

    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
        if (strtof(text, nullptr) == value)
            break;
    }
    put_printed(to, text);
}
inline void put_floating(shown_text &to, double value)
{
    char text[64];

    if (value >= -1e15 && value <= 1e15 && probity_fn::trunc(value) == value &&
        (value != 0 || !probity_fn::signbit(value))) {
        put_integer(to, static_cast<probity_i128>(value));
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, nullptr) == value)
            break;
    }
    put_printed(to, text);
}
inline void put_floating(shown_text &to, long double value)
{
    char text[80];

    for (int digits = 15; digits <= 36; digits++) {
        snprintf(text, sizeof text, "%.*Lg", digits, value);
        if (strtold(text, nullptr) == value)
            break;
    }
    put_printed(to, text);
}
#ifndef PROBITY_MSVC
#pragma GCC diagnostic pop
#endif

/* ---- By operator<< -------------------------------------------------------------------------- */

inline std::string utf8_of(const wchar_t *wide, size_t length)
{
    std::string text;
    char bytes[4];

    text.reserve(length);
    for (size_t place = 0; place < length; place++)
        text.append(bytes, encode_utf8(static_cast<uint32_t>(wide[place]), bytes));
    return text;
}

template <class Type> void insert_wide(std::ostream &stream, const Type &value)
{
    std::wostringstream wide;

    wide.flags(stream.flags());
    wide.precision(stream.precision());
    wide.width(stream.width());
    wide.fill(static_cast<wchar_t>(static_cast<unsigned char>(stream.fill())));
    stream.width(0);
    wide << value;
    const std::wstring made = wide.str();
    stream << utf8_of(made.data(), made.size());
    stream.flags(wide.flags()); /* keeps changes made by manipulators that only wide streams
                                 * accept */
    stream.precision(wide.precision());
    stream.width(wide.width());
}

/* Selects the operator: for a pointer or an array, only one for exactly that type. */
template <class Type>
struct insertion_of
    : std::conditional<std::is_pointer<decayed<Type>>::value, own_insertion<decayed<Type>>,
                       any_insertion<Type>>::type {};

template <insertion which> struct inserter {
    template <class Type> static void insert(std::ostream &stream, const Type &value)
    {
        stream << value;
    }
};
template <> struct inserter<insertion::wide> {
    template <class Type> static void insert(std::ostream &stream, const Type &value)
    {
        insert_wide(stream, value);
    }
};

/* Calls `action`. Catches exceptions, so that they do not affect the program. Returns whether there
 * were none. */
template <class Action> bool is_done(const Action &action)
{
#if __cpp_exceptions
    try {
#endif
        action();
        return true;
#if __cpp_exceptions
#if defined(__GLIBCXX__) && !defined(PROBITY_MSVC)
    } catch (abi::__forced_unwind &) {
        throw; /* cancellation of the thread; catching it would end the program */
#endif
    } catch (...) {
        return false;
    }
#endif
}

/* ---- One value of each kind ----------------------------------------------------------------- */

template <kind which> struct shower;

template <class Type> void show(shown_text &to, const Type &value)
{
    shower<kind_of<plain<Type>>::value>::show(to, value);
}

/* The same, and catches exceptions from anything except an operator<<. */
template <class Type> void show_or_say(shown_text &to, const Type &value)
{
    if (!is_done([&to, &value] { show(to, value); }))
        to.put("(formatting threw)");
}

template <> struct shower<kind::boolean> {
    static void show(shown_text &to, bool value) { to.put(value ? "true" : "false"); }
};

template <> struct shower<kind::character> {
    static void show(shown_text &to, char value)
    {
        to.put('\'');
        put_escaped(to, static_cast<unsigned char>(value), '\'');
        to.put('\'');
    }
};

template <> struct shower<kind::wide_character> {
    static void show(shown_text &to, char32_t value)
    {
        to.put('\'');
        put_escaped(to, static_cast<uint32_t>(value), '\'');
        to.put('\'');
    }
};

template <> struct shower<kind::integer> {
    template <class Type> static void show(shown_text &to, Type value)
    {
        put_integer(to, static_cast<typename std::conditional<
                            std::is_same<plain<Type>, probity_u128>::value, probity_u128,
                            probity_i128>::type>(value));
    }
};

template <> struct shower<kind::enumeration> {
    template <class Type> static void show(shown_text &to, Type value)
    {
        put_integer(to, static_cast<probity_i128>(
                            static_cast<typename std::underlying_type<Type>::type>(value)));
    }
};

template <> struct shower<kind::floating> {
    template <class Type> static void show(shown_text &to, Type value) { put_floating(to, value); }
};

template <> struct shower<kind::address> {
    static void show(shown_text &to, std::nullptr_t) { put_address(to, nullptr); }
    static void show(shown_text &to, const volatile void *value) { put_address(to, value); }
    template <class Result, class... Given>
    static void show(shown_text &to, Result (*value)(Given...))
    {
        put_address(to, reinterpret_cast<const volatile void *>(value));
    }
};

/* Text at a pointer that may be invalid. */
template <class Char> void show_text_at(shown_text &to, const volatile Char *text)
{
    int is_whole = 0;
    const Char *at = const_cast<const Char *>(text);
    size_t length = at != nullptr ? probity_text_length(at, sizeof *at, SHOWN_BYTES, &is_whole) : 0;

    if (length == 0 && !is_whole) {
        if (at != nullptr)
            to.put("unreadable ");
        put_address(to, at);
        return;
    }
    put_quoted(to, at, length);
    if (!is_whole)
        to.put("...");
}

template <> struct shower<kind::text_at> {
    static void show(shown_text &to, const volatile char *text) { show_text_at(to, text); }
    template <size_t count> static void show(shown_text &to, const char (&text)[count])
    {
        put_quoted(to, text, strnlen(text, count));
    }
};

template <> struct shower<kind::wide_text_at> {
    static void show(shown_text &to, const volatile wchar_t *text) { show_text_at(to, text); }
    template <size_t count> static void show(shown_text &to, const wchar_t (&text)[count])
    {
        put_quoted(to, text, wcsnlen(text, count));
    }
};

/* Text of char, wchar_t, char8_t, char16_t or char32_t. */
template <> struct shower<kind::text> {
    template <class Type> static void show(shown_text &to, const Type &text)
    {
        put_quoted(to, text.data(), text.size());
    }
};
template <> struct shower<kind::wide_text> : shower<kind::text> {};
template <> struct shower<kind::unicode_text> : shower<kind::text> {};

template <> struct shower<kind::byte_array> {
    template <size_t count> static void show(shown_text &to, const unsigned char (&bytes)[count])
    {
        for (size_t place = 0; place < count && !to.is_full(); place++) {
            if (place > 0)
                to.put(' ');
            to.put("0123456789abcdef"[bytes[place] >> 4]);
            to.put("0123456789abcdef"[bytes[place] & 15]);
        }
    }
};

template <> struct shower<kind::printed> {
    template <class Type> static void show(shown_text &to, const Type &value)
    {
        const bool is_shown = is_done([&to, &value] {
            std::ostringstream stream;
            inserter<insertion_of<plain<Type>>::value>::insert(stream, value);
            const std::string made = stream.str();
            to.put(made.data(), made.size());
        });
        if (!is_shown)
            to.put("(operator<< threw)");
    }
};

/* ---- Pointers and wrappers of one value ---- */

template <> struct shower<kind::owner> {
    template <class Type> static void show(shown_text &to, const Type &owner)
    {
        put_address(to, owner.get());
    }
};

template <> struct shower<kind::weak> {
    template <class Type> static void show(shown_text &to, const Type &weak)
    {
        const auto owner = weak.lock();
        if (weak.expired())
            to.put("expired");
        else
            put_address(to, owner.get());
    }
};

template <> struct shower<kind::atomic> {
    template <class Type> static void show(shown_text &to, const Type &value)
    {
        probity_fn::show(to, value.load());
    }
};

template <> struct shower<kind::reference> {
    template <class Type> static void show(shown_text &to, const Type &value)
    {
        probity_fn::show(to, value.get());
    }
};

template <> struct shower<kind::optional> {
    template <class Type> static void show(shown_text &to, const Type &value)
    {
        if (value.has_value())
            probity_fn::show(to, *value);
        else
            to.put("nullopt");
    }
};

/* ---- Variants ---- */

/* The name of a type as the compiler writes it: "... [with Type = NAME]",
 * "... [Type = NAME]". */
template <class Type> void put_type(shown_text &to)
{
#ifdef PROBITY_MSVC /* "... probity_fn::put_type<NAME>(...)" */
    const char *name = strstr(__FUNCSIG__, "put_type<") + strlen("put_type<");

    to.put(name, static_cast<size_t>(strstr(name, ">(") - name));
#else
    const char *name = strstr(__PRETTY_FUNCTION__, "Type = ") + strlen("Type = ");

    to.put(name, strcspn(name, ";]"));
#endif
}

template <class Type>
using has_text = std::integral_constant<bool, is_text_of(kind_of<plain<Type>>::value)>;

struct alternative_shower {
    shown_text &to;

    template <class Type> void operator()(const Type &value) const
    {
        show(value, has_text<Type>());
    }
    template <class Type> void show(const Type &value, std::true_type) const
    {
        probity_fn::show(to, value);
    }
    template <class Type> void show(const Type &, std::false_type) const { put_type<Type>(to); }
};

template <> struct shower<kind::variant> {
    template <class Type> static void show(shown_text &to, const Type &value)
    {
        if (value.valueless_by_exception())
            to.put("valueless");
        else
            visit(alternative_shower{to}, value);
    }
};

/* ---- Times ---- */

/* The standard's suffix for a unit of num/den seconds. */
inline void put_unit(shown_text &to, intmax_t num, intmax_t den)
{
    static const struct {
        intmax_t above, below;
        const char *suffix;
    } units[] = {{1, 1000000000000000000, "as"}, {1, 1000000000000000, "fs"},
                 {1, 1000000000000, "ps"},       {1, 1000000000, "ns"},
                 {1, 1000000, "\xc2\xb5s"},            {1, 1000, "ms"},
                 {1, 100, "cs"},                 {1, 10, "ds"},
                 {1, 1, "s"},                    {10, 1, "das"},
                 {100, 1, "hs"},                 {1000, 1, "ks"},
                 {1000000, 1, "Ms"},             {1000000000, 1, "Gs"},
                 {60, 1, "min"},                 {3600, 1, "h"},
                 {86400, 1, "d"}};

    for (const auto &unit : units) {
        if (unit.above == num && unit.below == den) {
            to.put(unit.suffix);
            return;
        }
    }
    to.put('[');
    put_integer(to, static_cast<probity_i128>(num));
    if (den != 1) {
        to.put('/');
        put_integer(to, static_cast<probity_i128>(den));
    }
    to.put("]s");
}

template <> struct shower<kind::duration> {
    template <class Type> static void show(shown_text &to, const Type &value)
    {
        probity_fn::show(to, value.count());
        put_unit(to, Type::period::num, Type::period::den);
    }
};

/* Gregorian date of a day since 1970-01-01, with years from March to February, in which the leap
 * day is the last one; 400 of them have 146,097 days. */
inline void put_date(shown_text &to, int64_t day)
{
    day += 719468; /* from 0000-03-01 */
    const int64_t era = (day >= 0 ? day : day - 146096) / 146097;
    const int64_t of_era = day - era * 146097;
    const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const int64_t month = (5 * of_year + 2) / 153; /* from March */
    const int64_t written = year + era * 400 + (month >= 10);

    if (written >= 0 && written <= 9999)
        put_digits(to, static_cast<uint64_t>(written), 4);
    else
        put_integer(to, static_cast<probity_i128>(written));
    to.put('-');
    put_digits(to, static_cast<uint64_t>(month < 10 ? month + 3 : month - 9), 2);
    to.put('-');
    put_digits(to, static_cast<uint64_t>(of_year - (153 * month + 2) / 5 + 1), 2);
}

/* Appends ISO 8601, UTC. fraction: that of the second, with `digits` digits. */
inline void put_moment(shown_text &to, int64_t seconds, uint64_t fraction, int digits)
{
    const int64_t day = (seconds >= 0 ? seconds : seconds - 86399) / 86400;
    const uint64_t second = static_cast<uint64_t>(seconds - day * 86400);

    put_date(to, day);
    to.put('T');
    put_digits(to, second / 3600, 2);
    to.put(':');
    put_digits(to, second / 60 % 60, 2);
    to.put(':');
    put_digits(to, second % 60, 2);
    if (digits > 0) {
        to.put('.');
        put_digits(to, fraction, digits);
    }
    to.put('Z');
}

/* Returns the number of decimals of 1/den; 6 if it does not terminate. */
constexpr int decimals_of(intmax_t den, int decimals = 0)
{
    return den == 1              ? decimals
           : decimals == 18      ? 6
           : den % 10 == 0       ? decimals_of(den / 10, decimals + 1)
           : 10 % den == 0       ? decimals + 1
                                 : 6;
}
constexpr int64_t power_of_10(int exponent)
{
    return exponent == 0 ? 1 : 10 * power_of_10(exponent - 1);
}

/* A time of the system clock, whose epoch is 1970. */
template <class Duration> void show_time(shown_text &to, const Duration &since, std::true_type)
{
    enum : int { DIGITS = decimals_of(Duration::period::den) };
    constexpr probity_i128 scale = power_of_10(DIGITS), den = Duration::period::den;
    const probity_i128 units = static_cast<probity_i128>(since.count()) * Duration::period::num;
    /* Rounded toward the past. */
    probity_i128 seconds = units / den, rest = units % den;
    if (rest < 0) {
        seconds--;
        rest += den;
    }
    put_moment(to, static_cast<int64_t>(seconds),
               static_cast<uint64_t>(rest * scale / den), DIGITS);
}
template <class Duration> void show_time(shown_text &to, const Duration &since, std::false_type)
{
    show(to, since);
}

template <class Clock, class = void> struct is_system_clock : std::false_type {};
template <class Clock>
struct is_system_clock<Clock, void_of<decltype(Clock::to_time_t(
                                  std::declval<const typename Clock::time_point &>()))>>
    : std::true_type {};

template <> struct shower<kind::time_point> {
    template <class Type> static void show(shown_text &to, const Type &value)
    {
        show_time(to, value.time_since_epoch(),
                  std::integral_constant<
                      bool, is_system_clock<typename Type::clock>::value &&
                                std::is_integral<typename Type::duration::rep>::value>());
    }
};

/* ---- Containers and tuples ---- */

/* Prints how many more elements a container has, if this is known without counting. */
template <class Type>
auto put_more(shown_text &to, const Type &value, size_t shown, int)
    -> void_of<decltype(static_cast<size_t>(value.size()))>
{
    to.put(", ... ");
    put_unsigned(to, static_cast<size_t>(value.size()) - shown);
    to.put(" more");
}
template <class Type> void put_more(shown_text &to, const Type &, size_t, long)
{
    to.put(", ...");
}

struct element_shower {
    template <class Type> static void show(shown_text &to, const Type &one)
    {
        probity_fn::show(to, one);
    }
};
struct pair_shower {
    template <class Type> static void show(shown_text &to, const Type &pair)
    {
        probity_fn::show(to, pair.first);
        to.put(": ");
        probity_fn::show(to, pair.second);
    }
};

template <class Shower, class Type>
void show_range(shown_text &to, const Type &range, char open, char close)
{
    auto at = range.begin();
    const auto end = range.end();
    size_t shown = 0;

    to.put(open);
    for (; at != end && shown < ELEMENTS_MAX && !to.is_full(); ++at, ++shown) {
        if (shown > 0)
            to.put(", ");
        const auto &one = *at;
        Shower::show(to, one);
    }
    if (at != end)
        put_more(to, range, shown, 0);
    to.put(close);
}

template <> struct shower<kind::list> {
    template <class Type> static void show(shown_text &to, const Type &range)
    {
        show_range<element_shower>(to, range, '[', ']');
    }
};
template <> struct shower<kind::set> {
    template <class Type> static void show(shown_text &to, const Type &range)
    {
        show_range<element_shower>(to, range, '{', '}');
    }
};
template <> struct shower<kind::map> {
    template <class Type> static void show(shown_text &to, const Type &range)
    {
        show_range<pair_shower>(to, range, '{', '}');
    }
};

template <size_t at, size_t count> struct tuple_shower {
    template <class Type> static void show(shown_text &to, const Type &tuple)
    {
        using std::get;
        if (at > 0)
            to.put(", ");
        probity_fn::show(to, get<at>(tuple));
        tuple_shower<at + 1, count>::show(to, tuple);
    }
};
template <size_t count> struct tuple_shower<count, count> {
    template <class Type> static void show(shown_text &, const Type &) {}
};

template <> struct shower<kind::tuple> {
    template <class Type> static void show(shown_text &to, const Type &tuple)
    {
        to.put('(');
        tuple_shower<0, std::tuple_size<Type>::value>::show(to, tuple);
        to.put(')');
    }
};

} // namespace probity_fn

#endif

#endif
