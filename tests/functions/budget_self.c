/* SPDX-License-Identifier: MIT
 *
 * budget_self.c ROUNDS: a function that calls a short one very often, and one that calls nothing.
 * Prints the CPU time in ns that the program itself has measured in each of the two.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))
#ifdef __clang__
#define NOT_RECORDED __attribute__((noinline, no_instrument_function, xray_never_instrument))
#else
#define NOT_RECORDED __attribute__((noinline, no_instrument_function))
#endif

static uint64_t in_caller, in_alone;

NOT_RECORDED static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

NOINLINE static unsigned often(unsigned x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 31 + 1;
}

NOINLINE static unsigned caller(unsigned x)
{
    uint64_t start = now_ns();

    for (int i = 0; i < 200000; i++)
        x = often(x);
    for (volatile int i = 0; i < 1000000; i++)
        x += i & 1;
    in_caller += now_ns() - start;
    return x;
}

NOINLINE static unsigned alone(unsigned x)
{
    uint64_t start = now_ns();

    for (volatile int i = 0; i < 2000000; i++)
        x += i & 1;
    in_alone += now_ns() - start;
    return x;
}

int main(int argc, char **argv)
{
    unsigned sum = 0;

    for (long i = argc > 1 ? strtol(argv[1], NULL, 10) : 100; i > 0; i--)
        sum += caller((unsigned)i) + alone((unsigned)i);
    fprintf(stderr, "%llu %llu\n", (unsigned long long)in_caller, (unsigned long long)in_alone);
    return sum == 1;
}
