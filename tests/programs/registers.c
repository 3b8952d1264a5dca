/* SPDX-License-Identifier: MIT
 *
 * registers.c: scopes are entered and left by calls that the compiler does not see. Functions that
 * keep values in all registers, and in the red zone below the stack, must compute the same with and
 * without a scope: in first calls, when chunks change, and while a signal handler runs scopes, too.
 * Prints how many calls were compared, or that one was wrong.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { ROUNDS = 20000, WORDS = 12 };

/* Keeps the variables in use before the scope begins, while it is open and after it. */
#define BODY(scope)                                                                                \
    {                                                                                              \
        double w = p * q, x = q + r, y = r - s, z = s * 3 + p;                                     \
        long g = a ^ b << 3, h = c + d * 5, i = e - f, j = a + f;                                  \
        __asm__ volatile("" : "+r"(g), "+r"(h), "+r"(i), "+r"(j));                                 \
        __asm__ volatile("" : "+x"(w), "+x"(x), "+x"(y), "+x"(z));                                 \
        scope;                                                                                     \
        __asm__ volatile("" : "+r"(g), "+r"(h), "+r"(i), "+r"(j));                                 \
        __asm__ volatile("" : "+x"(w), "+x"(x), "+x"(y), "+x"(z));                                 \
        return (double)(g + h * 3 + i * 7 + j * 11) + w + x * 3 + y * 7 + z * 11 +                 \
               (double)(a + b + c + d + e + f) + p + q + r + s;                                    \
    }

#define PARAMETERS                                                                                 \
    long a, long b, long c, long d, long e, long f, double p, double q, double r, double s

__attribute__((noinline)) static double plain(PARAMETERS)
BODY(;)
__attribute__((noinline)) static double scoped(PARAMETERS)
BODY(FN_FUNC(double, FN_1))

/* Values of all kinds of registers, and the return value. */
__attribute__((noinline)) static double with_values(PARAMETERS)
BODY(double result = p + 1;
     FN_FUNC_PARAMS(double, result, FN_1, 8, a, f, p, s, (char)b, (short)c, (float)q, d > e);
     result = q)

/* Without a scope, gcc and clang keep this array below the stack pointer. */
#define LEAF(scope)                                                                                \
    {                                                                                              \
        volatile long word[WORDS];                                                                 \
        for (int i = 0; i < WORDS; i++)                                                            \
            word[i] = seed * (i + 3);                                                              \
        {                                                                                          \
            scope;                                                                                 \
            word[seed & 7] += 5;                                                                   \
        }                                                                                          \
        long sum = 0;                                                                              \
        for (int i = 0; i < WORDS; i++)                                                            \
            sum = sum * 31 + word[i];                                                              \
        return sum;                                                                                \
    }

__attribute__((noinline)) static long plain_leaf(long seed)
LEAF(;)
__attribute__((noinline)) static long scoped_leaf(long seed)
LEAF(FN_FUNC(long, FN_1))

static volatile sig_atomic_t in_handler, wrong;

static void handle(int signal_number)
{
    (void)signal_number;
    in_handler++;
    wrong |= scoped_leaf(in_handler) != plain_leaf(in_handler);
}

int main(void)
{
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = handle};
    long compared = 0;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; i < ROUNDS; i++) {
        double v = (double)(i % 97) / 8;
        wrong |= plain(i, i + 1, i * 3, 7 - i, i ^ 5, i * 2, v, v + 1, v * 2, 3 - v) !=
                 scoped(i, i + 1, i * 3, 7 - i, i ^ 5, i * 2, v, v + 1, v * 2, 3 - v);
        wrong |= plain(i, i + 1, i * 3, 7 - i, i ^ 5, i * 2, v, v + 1, v * 2, 3 - v) !=
                 with_values(i, i + 1, i * 3, 7 - i, i ^ 5, i * 2, v, v + 1, v * 2, 3 - v);
        wrong |= plain_leaf(i) != scoped_leaf(i);
        compared += 3;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    if (wrong)
        printf("another result with a scope\n");
    else
        printf("%ld\n", compared);
    return 0;
}
