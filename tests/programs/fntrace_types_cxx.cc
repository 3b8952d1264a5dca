/* SPDX-License-Identifier: MIT
 *
 * fntrace_types_cxx.cc: types that the standard library has in C++11, as parameters, as return
 * values and in messages. The log must equal the one in tests/golden/log/, whatever standard is
 * compiled for.
 */
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <ratio>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#define FN_INSTRUMENT
#include <FnTrace.h>

struct Point {
    int x, y;
};
static std::ostream &operator<<(std::ostream &os, const Point &point)
{
    return os << '(' << point.x << '|' << point.y << ')';
}

enum class Mode { off, on };

struct Thrower {};
static std::ostream &operator<<(std::ostream &, const Thrower &)
{
    throw 1;
}

/* Containers with an output operator. */
struct Bag : std::vector<int> {
    Bag() : std::vector<int>(2, 1) {}
};
static std::ostream &operator<<(std::ostream &os, const Bag &bag)
{
    return os << "a bag of " << bag.size();
}
struct WideBag : std::vector<int> {};
static std::wostream &operator<<(std::wostream &os, const WideBag &)
{
    return os << L"a wide b\u00e4g";
}
static std::ostream &operator<<(std::ostream &os, const std::shared_ptr<Point> &point)
{
    return os << "shared " << *point;
}
static std::ostream &operator<<(std::ostream &os, const std::unique_ptr<Point> &point)
{
    return os << "owned " << *point;
}

/* A container from another library. */
struct Range {
    int numbers[3];
    const int *begin() const { return numbers; }
    const int *end() const { return numbers + 3; }
};

/* Converts to a number, but is recorded as a container. */
struct Convertible : Range {
    operator int() const { return 5; }
};

struct Unreadable {
    const int *begin() const { throw 2; }
    const int *end() const { return nullptr; }
};

static void containers()
{
    const std::vector<int> none, numbers = {1, -2, 3}, many(1000, 7), just(16, 1), over(17, 1);
    const std::vector<bool> flags = {true, false};
    const std::array<unsigned char, 3> bytes = {{0, 9, 255}};
    const std::deque<char> letters = {'a', '\'', '"', '\n'};
    const std::list<double> doubles = {0.1, 2, -0.0, 1e300, 1.0 / 3};
    const std::forward_list<float> floats(17, 0.1f);
    const std::set<std::string> names = {"b", "a"};
    const std::unordered_set<long> one = {1};
    const std::multiset<unsigned> twice = {4000000000u, 4000000000u};
    const std::map<std::string, int> ages = {{"a", 1}, {"b", 2}};
    const std::unordered_map<int, std::vector<Point>> nested = {{1, {{1, 2}, {3, 4}}}};
    const std::map<int, int> empty;
    const Range range = {{1, 2, 3}};
    Convertible convertible;
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 3, none, numbers, ages);

    convertible.numbers[0] = convertible.numbers[1] = convertible.numbers[2] = 8;
    FN_PARAM(many);
    FN_PARAM(just);
    FN_PARAM(over);
    FN_PARAM(flags);
    FN_PARAM(bytes);
    FN_PARAM(letters);
    FN_PARAM(doubles);
    FN_PARAM(floats);
    FN_PARAM(names);
    FN_PARAM(one);
    FN_PARAM(twice);
    FN_PARAM(nested);
    FN_PARAM(empty);
    FN_PARAM(range);
    FN_PARAM(convertible);
    FN_OUTPUT("list: ", numbers, " and ", ages);
    FN_OUTPUT("stream: " << numbers << " and " << ages);
    FN_OUTPUT(numbers);
    FN_STREAM(many);
}

static void texts()
{
    const std::vector<std::string> strings = {"", "a\"b\\c", "t\t\x01", "\xc3\xa4", "it's"};
    const std::vector<std::wstring> wides = {L"w\u00e4\n"};
    const std::vector<std::u16string> of_16 = {u"\u00e4\U0001f600"};
    const std::u32string of_32 = U"\U0001f600";
    const std::vector<const char *> pointers = {"a", nullptr, reinterpret_cast<const char *>(16)};
    const std::vector<wchar_t> letters = {L'\u00e4'};
    const std::vector<std::string> too_long(3, std::string(600, 'x'));
    const std::vector<std::string> umlauts(16, std::string(201, 'x') + "\xc3\xa4\xc3\xa4");
    FN_FUNC(FN_VOID, FN_1);

    FN_PARAM(strings);
    FN_PARAM(wides);
    FN_PARAM(of_16);
    FN_PARAM(of_32);
    FN_PARAM(pointers);
    FN_PARAM(letters);
    FN_PARAM(too_long);
    FN_OUTPUT("cut: " << umlauts);
    FN_OUTPUT("plain: " << of_32 << ' ' << strings[1]);
}

static void tuples()
{
    const std::pair<int, const char *> pair(1, "x");
    const std::tuple<int, std::string, Mode, Point, bool> tuple(1, "x", Mode::on, {1, 2}, true);
    const std::tuple<> none;
    const std::tuple<int> single(1);
    const std::vector<std::pair<int, char>> pairs = {{1, 'a'}, {2, 'b'}};
    const std::pair<probity_i128, probity_u128> wide(-1, ~static_cast<probity_u128>(0));
    FN_FUNC(FN_VOID, FN_1);

    FN_PARAM(pair);
    FN_PARAM(tuple);
    FN_PARAM(none);
    FN_PARAM(single);
    FN_PARAM(pairs);
    FN_PARAM(wide);
}

static void pointers()
{
    static int four = 4;
    void (*const no_deleter)(int *) = [](int *) {};
    std::unique_ptr<int> unique, owner(new int(3));
    std::unique_ptr<int, void (*)(int *)> deleted(&four, no_deleter);
    std::unique_ptr<int[]> owned_array(new int[2]);
    std::shared_ptr<int> shared, at_four(&four, no_deleter);
    std::shared_ptr<char> text(new char('x')); /* not terminated */
    std::weak_ptr<int> weak = at_four, gone;
    const std::vector<std::shared_ptr<int>> several(2);
    const std::shared_ptr<Point> shared_point = std::make_shared<Point>(Point{1, 2});
    const std::unique_ptr<Point> owned_point(new Point{3, 4});
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 2, unique, owner);

    FN_PARAM(deleted);
    FN_PARAM(owned_array);
    FN_PARAM(shared);
    FN_PARAM(at_four);
    FN_PARAM(deleted.get() == &four);
    FN_PARAM(text);
    FN_PARAM(weak);
    FN_PARAM(gone);
    FN_PARAM(several);
    FN_PARAM(shared_point);
    FN_PARAM(owned_point);
    FN_OUTPUT("NULL: " << unique << ' ' << shared);
    FN_OUTPUT("with text: ", unique, ' ', text);
}

static void holders()
{
    int number = 3;
    const int table[2] = {1, 2};
    std::string string = "text";
    std::atomic<int> atomic(5);
    std::atomic<double> real(0.5);
    std::atomic<Mode> mode(Mode::on);
    std::atomic<const void *> pointer(nullptr);
    volatile std::atomic<bool> flag(true);
    const std::reference_wrapper<int> number_of = number;
    const std::reference_wrapper<const std::string> string_of = string;
    const std::vector<std::reference_wrapper<int>> references = {number, number};
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 4, atomic, real, number_of, string_of);

    FN_PARAM(mode);
    FN_PARAM(pointer);
    FN_PARAM(flag);
    FN_PARAM(references);
    FN_PARAM(table[0]);
    FN_OUTPUT(atomic);
    FN_OUTPUT("held: " << atomic << ' ' << number_of << ' ' << string_of << ' ' << Mode::on);
    FN_OUTPUT("held: ", string_of, ' ', real);
}

static void times()
{
    using namespace std::chrono;
    using seconds_point = time_point<system_clock, seconds>;
    using each_day = duration<int, std::ratio<86400>>;
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 3, milliseconds(5), nanoseconds(-7), hours(2));

    FN_PARAM(microseconds(1));
    FN_PARAM(minutes(3));
    FN_PARAM(each_day(4));
    FN_PARAM(duration<double>(1.5));
    FN_PARAM((duration<short, std::ratio<1, 30>>(6)));
    FN_PARAM((duration<int, std::ratio<7>>(6)));
    FN_PARAM(seconds_point(seconds(0)));
    FN_PARAM(seconds_point(seconds(-1)));
    FN_PARAM(seconds_point(seconds(951868799)));
    FN_PARAM(seconds_point(seconds(4107542400)));
    FN_PARAM(seconds_point(seconds(-62135596801)));
    FN_PARAM((time_point<system_clock, milliseconds>(milliseconds(-1))));
    FN_PARAM((time_point<system_clock, nanoseconds>(nanoseconds(1782864000000000001))));
    FN_PARAM((time_point<system_clock, each_day>(each_day(1))));
    FN_PARAM((time_point<steady_clock, nanoseconds>(nanoseconds(77))));
    FN_OUTPUT("waited " << milliseconds(5) << " since " << seconds_point(seconds(1)));
}

static void others()
{
    FN_FUNC(FN_VOID, FN_1);

    FN_PARAM(std::bitset<4>(5));
    FN_PARAM(std::complex<double>(1.5, -2));
    FN_PARAM(std::thread::id());
    FN_PARAM((std::vector<std::complex<float>>{{1, 2}}));
}

static void operators()
{
    const Bag bag;
    const std::vector<Bag> bags(2);
    const std::vector<Thrower> throwers(2);
    FN_FUNC(FN_VOID, FN_1);

    FN_PARAM(bag);
    FN_PARAM(bags);
    FN_PARAM(WideBag());
    FN_PARAM(throwers);
    FN_PARAM(Unreadable());
    FN_OUTPUT("stream: " << bag << ' ' << WideBag() << ' ' << throwers << ' ' << Unreadable());
}

template <class T> static T returns(T value)
{
    T result(std::move(value));
    FN_FUNC_RETVAL(T, result, FN_1);
    return result;
}

static void return_values()
{
    static std::atomic<short> counter(7);
    FN_FUNC(FN_VOID, FN_1);

    returns(std::vector<int>{1, 2});
    returns(std::unique_ptr<int>());
    returns(std::shared_ptr<int>());
    returns(std::map<int, std::string>{{1, "one"}});
    returns(std::ref(counter));
    returns(std::chrono::seconds(1));
}

static int evaluations;
static std::vector<int> counted(int value)
{
    evaluations++;
    return {value};
}

static void count_at(int level)
{
    FN_INSTRUMENT_LEVEL(level, level);
    evaluations = 0;
    {
        FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1, counted(1));
        FN_PARAM(counted(2));
        FN_OUTPUT("counted: " << counted(3));
    }
    std::printf("level %d: %d evaluations\n", level, evaluations);
}

int main()
{
    containers();
    texts();
    tuples();
    pointers();
    holders();
    times();
    others();
    operators();
    return_values();
    count_at(FN_5);
    count_at(FN_0);
    return 0;
}
