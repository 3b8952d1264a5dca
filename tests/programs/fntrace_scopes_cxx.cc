/* SPDX-License-Identifier: MIT
 *
 * fntrace_scopes_cxx.cc: scopes left by exceptions, pthread_exit() and pthread_cancel(). Each must
 * be closed by its own record, so that the trace needs no repair.
 *
 *     fntrace_scopes_cxx throw|exit|cancel
 */
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

#define FN_INSTRUMENT
#include <FnTrace.h>

static std::string through(int depth)
{
    std::string result = "unfinished";
    FN_FUNC_PARAMS(std::string, result, FN_1, 1, depth);

    if (depth > 1)
        result = through(depth - 1);
    else
        throw std::runtime_error("thrown");
    return result;
}

struct Member {
    Member() { FN_FUNC(FN_VOID, FN_2); }
    ~Member() { FN_FUNC(FN_VOID, FN_2); }
};

struct Thrower {
    Member member;
    Thrower()
    {
        FN_FUNC(FN_VOID, FN_2);
        throw 7;
    }
};

static void rethrow()
{
    FN_FUNC(FN_VOID, FN_1);
    try {
        through(2);
    } catch (const std::runtime_error &error) {
        FN_OUTPUT("caught ", error.what());
        throw;
    }
}

static void exceptions()
{
    FN_FUNC(FN_VOID, FN_1);
    try {
        through(5);
    } catch (const std::runtime_error &error) {
        FN_OUTPUT("caught ", error.what());
    }
    try {
        rethrow();
    } catch (const std::exception &) {
        FN_OUTPUT("caught again");
    }
    try {
        Thrower thrower;
    } catch (int number) {
        FN_PARAM(number);
    }
}

/* ThreadSanitizer would be confused by a cancelled sleep(). */
static void wait_for_cancel()
{
    for (int i = 0; i < 100000000; i++) {
        pthread_testcancel();
        sched_yield();
    }
}

static void end_deep(int depth, bool is_cancel)
{
    FN_FUNC(FN_VOID, FN_1);
    Member member;

    if (depth > 1)
        end_deep(depth - 1, is_cancel);
    else if (!is_cancel)
        pthread_exit(nullptr);
    else
        wait_for_cancel();
}

static void end_thread(bool is_cancel)
{
    pthread_t thread;

    pthread_create(
        &thread, nullptr,
        [](void *is_cancelled) -> void * {
            end_deep(5, is_cancelled != nullptr);
            return nullptr;
        },
        is_cancel ? &thread : nullptr);
    if (is_cancel) {
        usleep(20000);
        pthread_cancel(thread);
    }
    pthread_join(thread, nullptr);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 99;
    if (strcmp(argv[1], "throw") == 0)
        exceptions();
    else
        end_thread(strcmp(argv[1], "cancel") == 0);
    return 0;
}
