// SPDX-License-Identifier: MIT
//
// left.cc: functions that are left by exceptions, longjmp(), tail calls, pthread_exit() and
// switches of coroutines; prints "NAME CALLS" as counted by the functions. Nothing is inlined, so
// that hooks of -finstrument-functions and of -pg -mfentry report the same calls.
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <pthread.h>
#include <stdexcept>
#include <ucontext.h>

#define FUNCTIONS(X)                                                                               \
    X(main) X(throws) X(passes) X(catches) X(rethrows) X(destroyed) X(after) X(ends_in_call)       \
    X(last) X(last_of_two) X(turns) X(leaves_thread) X(in_thread) X(jumps) X(jumps_over)           \
    X(jumps_back)

#define OWN __attribute__((noinline, noclone, noipa)) static
#define WITHOUT_HOOKS __attribute__((no_instrument_function, noinline))

enum {
#define NUMBER(name) number_##name,
    FUNCTIONS(NUMBER) COUNT
};

static const char *const names[] = {
#define NAME(name) #name,
    FUNCTIONS(NAME)};

static std::atomic<unsigned> counts[COUNT];
static volatile int sink;
static std::jmp_buf target;
static ucontext_t outside, inside;

#define COUNT_CALL(name) counts[number_##name]++

OWN void destroyed()
{
    COUNT_CALL(destroyed);
    sink++;
}

struct guard {
    WITHOUT_HOOKS ~guard()
    {
        destroyed();
    }
};

OWN int throws(int depth)
{
    COUNT_CALL(throws);
    if (depth == 0)
        throw std::runtime_error("0");
    sink = throws(depth - 1);
    return sink + 1;
}

OWN int passes(int depth)
{
    COUNT_CALL(passes);
    guard here;
    return throws(depth) + sink;
}

OWN void after()
{
    COUNT_CALL(after);
    sink++;
}

OWN int rethrows(int depth)
{
    COUNT_CALL(rethrows);
    try {
        return passes(depth) + 1;
    } catch (const std::exception &) {
        after();
        throw;
    }
}

OWN int catches(int depth)
{
    COUNT_CALL(catches);
    try {
        return rethrows(depth) + 1;
    } catch (const std::exception &) {
        after();
        return 2;
    }
}

OWN int last(int a)
{
    COUNT_CALL(last);
    return a + sink;
}

OWN int last_of_two(int a)
{
    COUNT_CALL(last_of_two);
    return last(a * 2);
}

OWN int ends_in_call(int a)
{
    COUNT_CALL(ends_in_call);
    return a > 2 ? last_of_two(a + 1) : last(a);
}

OWN void jumps(int depth)
{
    COUNT_CALL(jumps);
    if (depth <= 0)
        std::longjmp(target, 1);
    jumps(depth - 1);
    sink++;
}

OWN void jumps_over(int depth)
{
    COUNT_CALL(jumps_over);
    if (setjmp(target) == 0)
        jumps(depth);
    after();
}

// Ends without another call after the jump.
OWN void jumps_back(int depth)
{
    COUNT_CALL(jumps_back);
    if (setjmp(target) == 0)
        jumps(depth);
}

// A coroutine: its calls and those outside alternate.
OWN void turns()
{
    COUNT_CALL(turns);
    for (int i = 0; i < 10; i++) {
        last(i);
        swapcontext(&inside, &outside);
    }
}

WITHOUT_HOOKS static void run_coroutine()
{
    static char stack[1 << 17];

    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, turns, 0);
    for (int i = 0; i < 11; i++) {
        swapcontext(&outside, &inside);
        after();
    }
}

OWN void leaves_thread(int depth)
{
    COUNT_CALL(leaves_thread);
    if (depth == 0)
        pthread_exit(nullptr);
    leaves_thread(depth - 1);
    sink++;
}

OWN void *in_thread(void *argument)
{
    COUNT_CALL(in_thread);
    after();
    leaves_thread(3);
    return argument;
}

WITHOUT_HOOKS static void run_thread()
{
    pthread_t thread;

    pthread_create(&thread, nullptr, in_thread, nullptr);
    pthread_join(thread, nullptr);
}

WITHOUT_HOOKS static void print_counts()
{
    for (int i = 0; i < COUNT; i++)
        std::printf("%s %u\n", names[i], counts[i].load());
}

int main()
{
    COUNT_CALL(main);
    for (int i = 0; i < 5; i++) {
        catches(i);
        ends_in_call(i);
        jumps_over(i);
        jumps_back(i);
    }
    run_coroutine();
    run_thread();
    print_counts();
}
