/* SPDX-License-Identifier: MIT
 *
 * seh.c: an access violation two functions below a __try, whose filter makes records and whose
 * block continues. Needs clang: gcc has no __try. Usage: seh ROUNDS.
 */
#define FN_INSTRUMENT
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#include "FnTrace.h"
#include "probity.h"

__attribute__((noinline)) static int deepest(volatile int *nowhere)
{
    FN_FUNC(int, FN_1);
    PROBITY_PROBE(1);
    *nowhere = 1;
    return 1;
}

__attribute__((noinline)) static int deeper(volatile int *nowhere)
{
    FN_FUNC(int, FN_1);
    return deepest(nowhere) + 1;
}

__attribute__((noinline)) static int filter(unsigned long code)
{
    FN_FUNC(int, FN_1);
    return code == EXCEPTION_ACCESS_VIOLATION;
}

__attribute__((noinline)) static int guarded(void)
{
    FN_FUNC(int, FN_1);
    __try {
        return deeper(NULL);
    } __except (filter(GetExceptionCode())) {
        PROBITY_PROBE(2);
    }
    return 0;
}

int main(int count, char **arguments)
{
    int rounds = count > 1 ? atoi(arguments[1]) : 1;

    for (int i = 0; i < rounds; i++)
        guarded();
    printf("done\n");
    return 0;
}
