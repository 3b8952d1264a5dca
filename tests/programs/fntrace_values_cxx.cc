/* SPDX-License-Identifier: MIT
 *
 * fntrace_values_cxx.cc: values that only C++ has: strings, classes with and without operator<<,
 * templates, lambdas, members. The log must equal the one in tests/golden/log/.
 */
#include <climits>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <vector>

#define FN_INSTRUMENT
#include <FnTrace.h>

enum class Silent : short { one = -1 };
enum class Named { red };
enum Plain { plain_one = 1 };
enum Small : unsigned char { small_one = 200 };

static std::ostream &operator<<(std::ostream &os, Named)
{
    return os << "red";
}

struct Point {
    int x, y;
};

static std::ostream &operator<<(std::ostream &os, const Point &point)
{
    return os << '(' << point.x << '|' << point.y << ')';
}

struct Thrower {};

static std::ostream &operator<<(std::ostream &, const Thrower &)
{
    throw std::runtime_error("no text");
}

struct Verbose {
    size_t length;
};

static std::ostream &operator<<(std::ostream &os, const Verbose &verbose)
{
    return os << std::string(verbose.length, 'v');
}

struct Copied {
    static int copies;
    Copied() = default;
    Copied(const Copied &) { copies++; }
    Copied &operator=(const Copied &) = default;
    friend std::ostream &operator<<(std::ostream &os, const Copied &) { return os << "copied"; }
};
int Copied::copies;

static void integers()
{
    bool yes = true;
    char letter = '"';
    signed char tiny = SCHAR_MIN;
    unsigned char byte = UCHAR_MAX;
    short small = SHRT_MIN;
    unsigned short usmall = USHRT_MAX;
    long wide = LONG_MIN;
    unsigned long long ulongest = ULLONG_MAX;
    probity_i128 huge = -1;
    probity_u128 uhuge = static_cast<probity_u128>(1) << 127;
    wchar_t wide_letter = L'\u00e4';
    char16_t of_16 = u'x';
    char32_t of_32 = U'\U0001f600';
    const volatile int seen = -5;
    int &reference = *std::make_unique<int>(3).release();
    std::unique_ptr<int> owner(&reference);
    struct {
        unsigned three : 3;
        signed int few : 4;
        bool flag : 1;
    } bits = {5, -8, true};
    FN_FUNC(FN_VOID, FN_0);

    FN_PARAM(yes);
    FN_PARAM(letter);
    FN_PARAM(tiny);
    FN_PARAM(byte);
    FN_PARAM(small);
    FN_PARAM(usmall);
    FN_PARAM(INT_MIN);
    FN_PARAM(wide);
    FN_PARAM(ulongest);
    FN_PARAM(huge);
    FN_PARAM(uhuge);
    FN_PARAM(wide_letter);
    FN_PARAM(of_16);
    FN_PARAM(of_32);
    FN_PARAM(seen);
    FN_PARAM(reference);
    FN_PARAM(bits.three);
    FN_PARAM(bits.few);
    FN_PARAM(bits.flag);
    FN_PARAM(Silent::one);
    FN_PARAM(Named::red);
    FN_PARAM(plain_one);
    FN_PARAM(small_one);
    FN_PARAM(std::byte{7} == std::byte{7});
}

static void numbers()
{
    long double fine = 2.5L;
    std::complex<double> turned(1.5, -2);
    FN_FUNC(FN_VOID, FN_0);

    FN_PARAM(1.0f / 3);
    FN_PARAM(0.1);
    FN_PARAM(fine);
    FN_PARAM(turned);
}

static void pointers()
{
    int *null = nullptr;
    Point point{1, -2};
    const Point *at = reinterpret_cast<const Point *>(0x1234);
    unsigned char bytes[3] = {0, 1, 255};
    int Point::*member = nullptr;
    FN_FUNC(FN_VOID, FN_0);

    FN_PARAM(nullptr);
    FN_PARAM(null);
    FN_PARAM(at);
    FN_PARAM(*&point);
    FN_PARAM(bytes);
    FN_PARAM(FN_BYTES(bytes, 2));
    FN_PARAM(FN_BYTES(nullptr, 2));
    FN_PARAM(member == nullptr);
}

static void strings()
{
    char array[8] = "array", full[4] = {'f', 'u', 'l', 'l'};
    const char *null = nullptr, *text = "text";
    std::string string = "string", empty, with_zero("a\0b", 3), longer(1001, 's');
    std::string_view view = std::string_view("a view of it").substr(2, 4), none;
    wchar_t wide_array[4] = L"w\u00e4";
    const wchar_t *wide = L"wide", *no_wide = nullptr;
    std::wstring wide_string = L"wide string", wide_longer(251, L'w');
    std::wstring_view wide_view = std::wstring_view(wide_string).substr(0, 2);
    FN_FUNC(FN_VOID, FN_0);

    FN_PARAM(array);
    FN_PARAM(full);
    FN_PARAM(null);
    FN_PARAM(text);
    FN_PARAM(string);
    FN_PARAM(empty);
    FN_PARAM(with_zero);
    FN_PARAM(longer);
    FN_PARAM(view);
    FN_PARAM(none);
    FN_PARAM(wide_array);
    FN_PARAM(wide);
    FN_PARAM(no_wide);
    FN_PARAM(FN_WIDE(wide));
    FN_PARAM(wide_string);
    FN_PARAM(wide_longer);
    FN_PARAM(wide_view);
    FN_PARAM(string + "!");
    FN_PARAM(string.c_str());
    FN_OUTPUT("of ", string, L" and ", wide_string, ' ', view);
    FN_STREAM("of " << string.size() << ' ' << std::hex << 255);
    FN_PRINTF("%s %d", string.c_str(), 7);
}

static void unreadables()
{
    void *pages = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        exit(99);
    char *closed = static_cast<char *>(pages) + 4096, *into = closed - 4;
    FN_FUNC(FN_VOID, FN_0);

    memcpy(into, "into", 4);
    mprotect(closed, 4096, PROT_NONE);
    FN_PARAM(into);
    FN_PARAM(closed);
    FN_PARAM(reinterpret_cast<wchar_t *>(closed));
    FN_PARAM(FN_BYTES(into, 100));
    FN_PARAM(reinterpret_cast<const char *>(1));
    munmap(pages, 8192);
}

static void classes()
{
    Point point{1, -2};
    const Point &same = point;
    Copied copied;
    FN_FUNC(FN_VOID, FN_0);

    FN_PARAM(point);
    FN_PARAM(same);
    FN_PARAM((Point{3, 4}));
    FN_PARAM(Thrower{});
    FN_PARAM(Verbose{3});
    FN_PARAM(Verbose{5000});
    FN_PARAM(copied);
    FN_PARAM(Copied::copies);
    FN_OUTPUT("point ", point, " thrower ", Thrower{});
}

class Owner {
public:
    explicit Owner(std::unique_ptr<int> value) : value_(std::move(value))
    {
        FN_FUNC_ARGS(FN_VOID, FN_VOID, FN_0, *value_, value_ != nullptr);
    }
    Owner(Owner &&) = default;
    ~Owner() { FN_FUNC(FN_VOID, FN_0); }
    int get() const
    {
        int result = 0;
        FN_FUNC_RETVAL(int, result, FN_0);
        result = *value_;
        return result;
    }
    int operator()(int more)
    {
        int result = 0;
        FN_FUNC_PARAMS(int, result, FN_0, 1, more);
        result = *value_ + more;
        return result;
    }

private:
    std::unique_ptr<int> value_;
};

template <class T, int N> static T twice(const T &value)
{
    T result{};
    FN_FUNC_PARAMS(T, result, FN_0, 2, value, N);
    result = value + value;
    return result;
}

static std::string returns_string(const std::string &text)
{
    std::string result;
    FN_FUNC_PARAMS(std::string, result, FN_0, 1, text);
    result = "<" + text + ">";
    return result;
}

static Point returns_point()
{
    Point result{};
    FN_FUNC_RETVAL(Point, result, FN_0);
    result = {4, 5};
    return result;
}

static std::unique_ptr<int> returns_owner()
{
    std::unique_ptr<int> result;
    const int *raw = nullptr;
    FN_FUNC(std::unique_ptr<int>, FN_0);
    FN_RETVAL(raw);
    result = nullptr;
    return result;
}

static void lambdas()
{
    FN_FUNC(FN_VOID, FN_0);
    auto inner = [](auto value) {
        FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_0, 1, value);
        FN_OUTPUT("inside");
    };

    inner(7);
    inner(std::string("seven"));
    FN_OUTPUT("outside");
}

static int evaluations;

static int once(int value)
{
    evaluations++;
    return value;
}

static void effects(int level)
{
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_2, 1, once(level));

    FN_OUTPUT("value ", once(1), " ", std::string(static_cast<size_t>(once(2)), 'x'));
    FN_STREAM(once(3));
    FN_PARAM(once(4));
    printf("level %d: %d evaluations\n", level, evaluations);
    evaluations = 0;
}

int main()
{
    integers();
    numbers();
    pointers();
    strings();
    unreadables();
    classes();
    {
        Owner owner(std::make_unique<int>(42)), moved(std::move(owner));
        moved.get();
        moved(1);
    }
    twice<int, 3>(4);
    twice<std::string, 4>("ab");
    returns_string("text");
    returns_point();
    returns_owner();
    lambdas();
    effects(5);
    FN_INSTRUMENT_LEVEL(FN_1, FN_1);
    effects(1);
    return 0;
}
