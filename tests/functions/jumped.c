/* SPDX-License-Identifier: MIT
 *
 * jumped.c: functions that are called after longjmp() has left others, lower on the stack than the
 * frames of the latter: with arguments on the stack, by code that is not recorded, by qsort(), in
 * recursion, and after jumps out of one to eight calls. With FN_FUNC if FN is defined.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#ifdef FN
#define FN_INSTRUMENT
#include "FnTrace.h"
#else
#define FN_FUNC(type, level) (void)0
#endif

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif
#define LEFT_OUT __attribute__((no_instrument_function)) APART

static jmp_buf target;
static volatile int sink;

APART static void lowest(int deep);

APART static void lower(int deep)
{
    FN_FUNC(FN_VOID, FN_1);
    char room[64];

    memset(room, deep, sizeof room);
    lowest(deep);
    sink += room[deep & 7];
}

APART static void lowest(int deep)
{
    FN_FUNC(FN_VOID, FN_1);
    if (deep == 0)
        longjmp(target, 1);
    lower(deep - 1);
    sink++;
}

APART static void jumps(void)
{
    FN_FUNC(FN_VOID, FN_1);
    longjmp(target, 1);
}

APART static void jumps_with(int a, int b, int c, int d, int e, int f, int g, int h)
{
    FN_FUNC(FN_VOID, FN_1);
    sink += a + b + c + d + e + f + g + h;
    longjmp(target, 1);
}

APART static void after(void)
{
    FN_FUNC(FN_VOID, FN_1);
    sink++;
}

APART static void after_with(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j)
{
    FN_FUNC(FN_VOID, FN_1);
    sink += a + b + c + d + e + f + g + h + i + j;
}

APART static void jump_one(void)
{
    FN_FUNC(FN_VOID, FN_1);
    if (setjmp(target) == 0)
        jumps();
    else
        after_with(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    sink++;
}

APART static void jump_wide(void)
{
    FN_FUNC(FN_VOID, FN_1);
    if (setjmp(target) == 0)
        jumps_with(1, 2, 3, 4, 5, 6, 7, 8);
    else
        after();
    sink++;
}

APART static void jump_two(void)
{
    FN_FUNC(FN_VOID, FN_1);
    if (setjmp(target) == 0)
        lower(0);
    else
        after();
    sink++;
}

APART static void jump_four(void)
{
    FN_FUNC(FN_VOID, FN_1);
    if (setjmp(target) == 0)
        lower(1);
    else
        after_with(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    sink++;
}

APART static void jump_eight(void)
{
    FN_FUNC(FN_VOID, FN_1);
    if (setjmp(target) == 0)
        lower(3);
    else
        after();
    sink++;
}

/* Calls from deeper in the stack. */
LEFT_OUT static void call(void (*function)(void))
{
    char room[256];

    memset(room, 3, sizeof room);
    sink = room[7];
    function();
    sink++;
}

APART static void by_pointer(void)
{
    FN_FUNC(FN_VOID, FN_1);
    if (setjmp(target) == 0)
        lower(1);
    else
        call(after);
    sink++;
}

LEFT_OUT static int compare(const void *one, const void *other)
{
    after();
    return *(const int *)one - *(const int *)other;
}

APART static void by_library(void)
{
    FN_FUNC(FN_VOID, FN_1);
    int numbers[2] = {2, 1};

    if (setjmp(target) == 0)
        lower(1);
    else
        qsort(numbers, 2, sizeof *numbers, compare);
    sink++;
}

APART static void catches(void)
{
    FN_FUNC(FN_VOID, FN_1);
    if (setjmp(target) == 0)
        lower(2);
    sink++;
}

APART static void in_callee(void)
{
    FN_FUNC(FN_VOID, FN_1);
    catches();
    after();
    sink++;
}

APART static void twice(void)
{
    FN_FUNC(FN_VOID, FN_1);
    if (setjmp(target) == 0)
        lower(1);
    if (setjmp(target) == 0)
        lower(2);
    after();
    sink++;
}

APART static void recurses(int deep)
{
    FN_FUNC(FN_VOID, FN_1);
    if (deep > 0)
        recurses(deep - 1);
    else if (setjmp(target) == 0)
        lower(2);
    else
        after();
    sink++;
}

/* The second time, the library has already seen all functions: their hooks take the usual path. */
int main(void)
{
    FN_FUNC(int, FN_1);
    for (int i = 0; i < 2; i++) {
        jump_one();
        jump_wide();
        jump_two();
        jump_four();
        jump_eight();
        by_pointer();
        by_library();
        in_callee();
        twice();
        recurses(2);
    }
    if (setjmp(target) == 0)
        lower(2);
    else
        after();
    return 0;
}
