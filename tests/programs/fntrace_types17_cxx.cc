/* SPDX-License-Identifier: MIT
 *
 * fntrace_types17_cxx.cc: types that C++17 added to the standard library, as parameters, as return
 * values and in messages. The log must equal the one in tests/golden/log/.
 */
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#define FN_INSTRUMENT
#include <FnTrace.h>

enum class Mode : signed char { off = -1, on };

struct Idle {};
struct Busy {
    int with;
};
static std::ostream &operator<<(std::ostream &os, const Busy &busy)
{
    return os << "busy with " << busy.with;
}

struct Unassignable {
    Unassignable() = default;
    Unassignable(const Unassignable &) { throw 1; }
    Unassignable &operator=(const Unassignable &) { throw 1; }
};

static void optionals()
{
    const std::optional<int> none, seven = 7;
    const std::optional<std::string> text = "nullopt";
    const std::optional<std::vector<std::optional<Mode>>> nested = {{Mode::off, std::nullopt}};
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 4, none, seven, text, nested);

    FN_OUTPUT("stream: " << none << ' ' << seven << ' ' << text);
}

static void variants()
{
    using State = std::variant<std::monostate, Idle, Busy, int, std::string>;
    const State first, idle = Idle(), busy = Busy{3}, number = 4, text = "five";
    std::variant<int, Unassignable> valueless = 1;
    const std::vector<State> all = {first, idle, busy, number, text};
    const std::map<std::string_view, std::variant<int, bool>> settings = {{"a", 1}, {"b", true}};
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 5, first, idle, busy, number, text);

    try {
        valueless = Unassignable();
    } catch (int) {
    }
    FN_PARAM(valueless);
    FN_PARAM(all);
    FN_PARAM(settings);
    FN_OUTPUT("stream: " << number << ' ' << idle);
}

static void texts()
{
    const std::vector<std::string_view> views = {"a", std::string_view("b\0c", 3)};
    const std::filesystem::path path = "/tmp/a b";
    const std::pmr::string pooled = "pooled";
    const std::vector<std::filesystem::path> paths = {path, ""};
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 2, path, views);

    FN_PARAM(paths);
    FN_PARAM(pooled);
    FN_OUTPUT("stream: " << path << ' ' << views);
}

static void others()
{
    const std::byte byte{200};
    const std::vector<std::byte> bytes = {byte, std::byte{0}};
    const std::initializer_list<int> list = {1, 2};
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 3, byte, bytes, list);
}

static std::optional<int> returns()
{
    std::optional<int> result;
    FN_FUNC_RETVAL(std::optional<int>, result, FN_1);
    result = 8;
    return result;
}

int main()
{
    optionals();
    variants();
    texts();
    others();
    returns();
    return 0;
}
