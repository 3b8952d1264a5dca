/* SPDX-License-Identifier: MIT
 *
 * fntrace_streams_cxx.cc: messages as stream expressions, with operators for std::wostream as
 * formatters. The log must equal the one in tests/golden/log/. Prints how often operands were
 * evaluated and operators called.
 */
#include <cerrno>
#include <cstdio>
#include <iomanip>
#include <string>

#define FN_INSTRUMENT
#include <FnTrace.h>

static int evaluations, insertions;

static int evaluated(int value)
{
    evaluations++;
    return value;
}

struct Wide {
    int x;
};
static std::wostream &operator<<(std::wostream &os, const Wide &wide)
{
    insertions++;
    return os << L"W\u00e4" << wide.x;
}

struct Pointed {
    int x;
};
static std::wostream &operator<<(std::wostream &os, const Pointed *pointed)
{
    return pointed == nullptr ? os << L"(null)" : os << L"pointed " << pointed->x;
}

struct Both {};
static std::ostream &operator<<(std::ostream &os, const Both &)
{
    return os << "narrow of both";
}
__attribute__((__unused__)) static std::wostream &operator<<(std::wostream &os, const Both &)
{
    return os << L"wide of both";
}

/* Without this operator, it would convert to a number and be printed as one. */
struct Handle {
    operator bool() const { return true; }
};
static std::wostream &operator<<(std::wostream &os, const Handle &)
{
    return os << L"a handle";
}

enum class Color { red };
static std::wostream &operator<<(std::wostream &os, Color)
{
    return os << L"red";
}

struct Thrower {};
static std::wostream &operator<<(std::wostream &os, const Thrower &)
{
    errno = EDOM;
    throw 1;
    return os;
}

static Wide formatters(const Wide &wide, const Pointed *pointed, Pointed *none, Color color)
{
    Wide result = {7};
    FN_FUNC_PARAMS(Wide, result, FN_1, 4, wide, pointed, none, color);
    Both both;
    Handle handle;
    FN_PARAM(both);
    FN_PARAM(handle);
    FN_PARAM(Thrower());
    FN_OUTPUT("a list: ", wide, L", ", pointed, ", ", handle);
    return result;
}

static void expressions()
{
    FN_FUNC(FN_VOID, FN_1);
    wchar_t name[100] = L"Test \u20ac";
    const wchar_t unended[] = {L'a', L'b'};
    const char bytes[] = {'c', 'd'};
    const wchar_t *pointer = name, *none = nullptr;
    const char *narrow = "narrow", *nothing = nullptr;
    Wide wide = {3};
    Pointed pointed = {4};

    FN_OUTPUT(L"wide first: " << name << narrow << std::string(" s ") << std::wstring(L"\u00e4"));
    FN_OUTPUT("narrow first: " << pointer << L'\u00e4' << 'x' << u'y' << U'\U0001f600');
    FN_OUTPUT("arrays: " << unended << bytes);
    FN_OUTPUT("NULL: " << none << ' ' << nothing << ' ' << static_cast<Pointed *>(nullptr));
    FN_OUTPUT("types: " << wide << ' ' << &pointed << ' ' << Both() << ' ' << Handle() << ' '
                        << Color::red << ' ' << true << ' ' << 1.5);
    FN_OUTPUT("it throws: " << Thrower() << " and goes on");
    FN_OUTPUT(std::hex << 255 << std::setw(6) << std::setfill('.') << wide << std::dec << 10);
    FN_OUTPUT("with a line end" << std::endl);
    FN_OUTPUT("two\nlines\n\n" << 1);
    FN_OUTPUT(1 << 3);
    FN_OUTPUT((1 << 3));
    FN_OUTPUT(std::string(1500, 'v') << 1);
    FN_STREAM(L"FN_STREAM: " << name << std::boolalpha << true);
    FN_STREAM(wide);
}

static void single_values()
{
    FN_FUNC(FN_VOID, FN_1);
    unsigned flags = 6;
    bool is_open = true;
    struct {
        unsigned bits : 3;
    } field = {5};
    wchar_t name[100] = L"Test Application";

    FN_OUTPUT("a literal");
    FN_OUTPUT(L"a wide literal");
    FN_OUTPUT(name);
    FN_OUTPUT(std::string("a temporary"));
    FN_OUTPUT(flags);
    FN_OUTPUT(field.bits);
    FN_OUTPUT(Wide{8});
    FN_OUTPUT(nullptr);
    FN_OUTPUT(flags == 6u);
    FN_OUTPUT(flags | 1u);
    FN_OUTPUT(flags >> 1);
    FN_OUTPUT(is_open && flags > 2u);
    FN_OUTPUT(is_open ? "open" : "closed");
}

static void counted()
{
    FN_FUNC(FN_VOID, FN_1);
    errno = ENOENT;
    FN_OUTPUT("counted: " << evaluated(1) << Wide{evaluated(2)} << Thrower());
    FN_STREAM("counted: " << evaluated(3));
    FN_OUTPUT(evaluated(4));
    FN_PARAM(evaluated(5));
    if (errno != ENOENT)
        std::printf("errno changed\n");
}

static void count_at(int level)
{
    FN_INSTRUMENT_LEVEL(level, level);
    evaluations = insertions = 0;
    counted();
    std::printf("level %d: %d evaluations, %d insertions\n", level, evaluations, insertions);
}

int main()
{
    Wide wide = {1};
    Pointed pointed = {2};

    formatters(wide, &pointed, nullptr, Color::red);
    expressions();
    single_values();
    count_at(FN_5);
    count_at(FN_0);
    return 0;
}
