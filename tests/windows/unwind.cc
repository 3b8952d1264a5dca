/* SPDX-License-Identifier: MIT
 *
 * unwind.cc: leaves functions in all ways except returning: a C++ exception through three of them,
 * longjmp() over three, and a structured exception whose handler makes records and continues. Each
 * is repeated. Usage: unwind ROUNDS.
 */
#define FN_INSTRUMENT
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <windows.h>

#include "FnTrace.h"
#include "probity.h"

namespace {

enum { FAULT_BYTES = 3 }; /* movb to an address in a register */

jmp_buf back;
int handled;

__attribute__((noinline)) int innermost(int how)
{
    FN_FUNC(int, FN_1);
    PROBITY_PROBE(1);
    if (how == 1)
        throw how;
    if (how == 2)
        longjmp(back, 1);
    return how;
}

__attribute__((noinline)) int inner(int how)
{
    FN_FUNC(int, FN_1);
    return innermost(how) + 1;
}

__attribute__((noinline)) int outer(int how)
{
    FN_FUNC(int, FN_1);
    return inner(how) + 1;
}

int caught()
{
    FN_FUNC(int, FN_1);
    try {
        return outer(1);
    } catch (int how) {
        PROBITY_PROBE(2);
        return how;
    }
}

int jumped()
{
    FN_FUNC(int, FN_1);
    if (setjmp(back) == 0)
        return outer(2);
    PROBITY_PROBE(3);
    return 0;
}

__attribute__((noinline)) int in_handler()
{
    FN_FUNC(int, FN_1);
    return 1;
}

/* Runs on the stack of the thread that faulted, in the middle of it. */
LONG CALLBACK handle(EXCEPTION_POINTERS *exception)
{
    if (exception->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION)
        return EXCEPTION_CONTINUE_SEARCH;
    PROBITY_PROBE(4);
    handled += in_handler();
    exception->ContextRecord->Rip += FAULT_BYTES;
    return EXCEPTION_CONTINUE_EXECUTION;
}

__attribute__((noinline)) int faulting()
{
    FN_FUNC(int, FN_1);
    __asm__ volatile("movb $1, (%0)" : : "a"(nullptr) : "memory");
    PROBITY_PROBE(5);
    return 1;
}

DWORD WINAPI run(void *rounds)
{
    for (intptr_t i = 0; i < (intptr_t)rounds; i++) {
        caught();
        outer(3);
        jumped();
        outer(3);
        faulting();
    }
    return 0;
}

} // namespace

int main(int count, char **arguments)
{
    void *rounds = (void *)(intptr_t)(count > 1 ? atoi(arguments[1]) : 1);

    AddVectoredExceptionHandler(1, handle);
    run(rounds);
    HANDLE thread = CreateThread(NULL, 0, run, rounds, 0, NULL);
    WaitForSingleObject(thread, INFINITE);
    std::printf("%d\n", handled);
    return 0;
}
