/* SPDX-License-Identifier: MIT
 *
 * jumped_mixed.c: a jump out of a scope of FN_FUNC into a function with hooks of -mfentry that ends
 * next. Then calls with frames above that of the scope use its place on the stack, so the scope
 * must have been released.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"
#include <setjmp.h>
#include <string.h>

#define APART __attribute__((noipa))
#define BY_MACRO __attribute__((no_instrument_function)) APART

static jmp_buf target;
static volatile int sink;

BY_MACRO static void jumps(void)
{
    FN_FUNC(FN_VOID, FN_1);
    longjmp(target, 1);
}

APART static void wide(void)
{
    char room[2048];

    memset(room, 1, sizeof room);
    if (setjmp(target) == 0)
        jumps();
    sink += room[sink & 1];
}

BY_MACRO static void last(void)
{
    FN_FUNC(FN_VOID, FN_1);
    sink++;
}

APART static void second(void)
{
    last();
    sink++;
}

APART static void first(void)
{
    second();
    sink++;
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        wide();
        first();
    }
    return 0;
}
