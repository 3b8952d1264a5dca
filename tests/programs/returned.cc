/* SPDX-License-Identifier: MIT
 *
 * returned.cc: returns variables whose address takes a call, volatile ones and arrays; functions
 * are left by exceptions in several threads, after the first thread has declared the functions.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <memory>
#include <stdexcept>
#include <thread>

#define NOINLINE __attribute__((noinline))

struct answer {
    int result;
};

static thread_local int last;

NOINLINE int of_thread(int value)
{
    last = 0;
    FN_FUNC_PARAMS(int, last, FN_1, 1, value);
    last = value;
    return last;
}

NOINLINE int of_caller(int value)
{
    int result = 0;
    auto body = [&] {
        FN_FUNC_PARAMS(int, result, FN_1, 1, value);
        result = value;
    };
    body();
    return result;
}

NOINLINE int of_owner(int value)
{
    std::unique_ptr<answer> owner(new answer());
    FN_FUNC_PARAMS(int, owner->result, FN_1, 1, value);
    owner->result = value;
    return owner->result;
}

NOINLINE int of_volatile(int value)
{
    volatile int result = 0;
    FN_FUNC_PARAMS(int, result, FN_1, 1, value);
    result = value;
    return result;
}

/* Both arrays are recorded as addresses: next to a string, which takes a different path, and as the
 * return value. */
NOINLINE const short *of_arrays(int value)
{
    static const short table[] = {0x1234}, other[] = {0x1234};
    FN_FUNC_PARAMS(const short *, table, FN_1, 3, value, other, "some text");
    return value > 0 ? table : other;
}

NOINLINE int throws(int value)
{
    int result = -5;
    FN_FUNC_PARAMS(int, result, FN_1, 1, value);
    if (value != 0)
        throw std::runtime_error("some error");
    return result;
}

NOINLINE void throws_plainly(int value)
{
    FN_FUNC(void, FN_1);
    if (value != 0)
        throw std::runtime_error("some error");
}

static void thread_main()
{
    try {
        throws(1);
    } catch (const std::runtime_error &) {
    }
    try {
        throws_plainly(1);
    } catch (const std::runtime_error &) {
    }
}

int main()
{
    int sum = 0;

    for (int i = 0; i < 3; i++)
        sum += of_thread(77) + of_caller(77) + of_owner(77) + of_volatile(77);
    for (int i = 0; i < 200; i++)
        sum += of_arrays(1) == nullptr;
    thread_main();
    for (int i = 0; i < 2; i++)
        std::thread(thread_main).join();
    return sum == 12 * 77 ? 0 : 1;
}
