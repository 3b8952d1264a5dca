/* SPDX-License-Identifier: MIT
 *
 * ways_out.cc WAY: scopes that do not simply return. "throw" leaves some by an exception, and runs
 * others while the exception is in flight; "pauses" pauses in functions with FN_ENTRY before their
 * checkpoints, and calls functions in pauses; "killed" is killed in a call of a function of which
 * an earlier call has returned.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* CPU time, which a busy machine does not prolong. */
static NOINLINE void spin_ms(long ms)
{
    timespec start, now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < ms * 1000000);
}

static NOINLINE int tidies()
{
    int result = 3;
    FN_FUNC_RETVAL(int, result, FN_1);
    return result;
}

struct tidy {
    ~tidy() { tidies(); }
};

static NOINLINE int raises()
{
    int result = 7;
    FN_FUNC_RETVAL(int, result, FN_1);
    tidy on_the_way;
    throw std::runtime_error("thrown");
    return result;
}

static NOINLINE void passes_on()
{
    FN_FUNC(FN_VOID, FN_1);
    raises();
}

static NOINLINE int catches()
{
    int result = 1;
    FN_FUNC_RETVAL(int, result, FN_1);
    try {
        passes_on();
    } catch (const std::exception &) {
        result = 2;
    }
    return result;
}

static NOINLINE void callee()
{
    FN_FUNC(FN_VOID, FN_1);
    spin_ms(10);
}

static NOINLINE void reported()
{
    FN_ENTRY(FN_1);
    spin_ms(20);
    callee();
    FN_PAUSE();
    callee();
    spin_ms(40);
    FN_RESUME();
    FN_CHECKPOINT("here", FN_1, 0);
    spin_ms(5);
}

static NOINLINE void not_reported()
{
    FN_ENTRY(FN_1);
    callee();
    if (getpid() == 0)
        FN_CHECKPOINT("never", FN_1, 0);
}

static NOINLINE void comes_back(int depth)
{
    FN_FUNC(FN_VOID, FN_1);
    spin_ms(5);
    FN_PAUSE();
    if (depth > 0)
        comes_back(depth - 1);
    FN_RESUME();
}

static NOINLINE void pauses()
{
    FN_FUNC(FN_VOID, FN_1);
    FN_PAUSE();
    callee();
    spin_ms(20);
    FN_RESUME();
    callee();
    spin_ms(5);
}

static NOINLINE void dies(bool is_last)
{
    FN_FUNC(FN_VOID, FN_1);
    spin_ms(2);
    if (is_last)
        raise(SIGKILL);
}

int main(int, char **argv)
{
    FN_FUNC(int, FN_0);
    if (std::strcmp(argv[1], "throw") == 0) {
        catches();
    } else if (std::strcmp(argv[1], "killed") == 0) {
        dies(false);
        dies(true);
    } else {
        reported();
        not_reported();
        comes_back(3);
        pauses();
    }
    return 0;
}
