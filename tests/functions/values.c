/* SPDX-License-Identifier: MIT
 *
 * values.c: calls functions with arguments and results in registers and on the stack, of all
 * classes, and prints the results, which must be the same with and without hooks.
 */
#include <complex.h>
#include <errno.h>
#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct small {
    int a;
    double b;
};
struct two_doubles {
    double a, b;
};
struct large {
    long words[9];
};
typedef float vector __attribute__((vector_size(16)));
/* -DWIDE: the number of ints in the widest registers for which this is compiled. */
typedef int wide __attribute__((vector_size(4 * (WIDE))));

#define OWN __attribute__((noinline, noclone))

OWN static double sum(int count, ...)
{
    va_list list;
    double total = 0;

    va_start(list, count);
    for (int i = 0; i < count; i++)
        total += va_arg(list, double);
    va_end(list);
    return total;
}

OWN static long double longer(long double a, int b)
{
    return a / b;
}

OWN static long double complex turned(long double complex a)
{
    return a * I;
}

OWN static double complex twice(double complex a)
{
    return a + a;
}

OWN static struct small make_small(int a, double b)
{
    return (struct small){a + 1, b / 3};
}

OWN static struct two_doubles make_doubles(double a)
{
    return (struct two_doubles){a, -a};
}

OWN static struct large make_large(long a)
{
    struct large made;

    for (int i = 0; i < 9; i++)
        made.words[i] = a + i;
    return made;
}

OWN static vector add(vector a, vector b)
{
    return a + b;
}

OWN static wide shuffled(wide a)
{
    return a ^ 0x5a5a;
}

OWN static __int128 product(long a, long b)
{
    return (__int128)a * b;
}

OWN static double many(int a, long b, short c, char d, unsigned e, int f, int g, double h, float i,
                       double j, double k, double l, double m, double n, double o, double p)
{
    return a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p;
}

OWN static int keeps_errno(int number)
{
    errno = number;
    return make_small(1, 2).a == 2 ? errno : -1;
}

/* The frame of a nested function is passed in a register. */
OWN static int nested(int a)
{
    int total = a;
    __extension__ OWN int inside(int b)
    {
        total += b;
        return total;
    }

    return inside(1) + inside(2);
}

int main(void)
{
    union {
        wide all;
        int parts[WIDE];
    } shuffle;

    for (int round = 0; round < 200; round++) {
        vector added = add((vector){1, 2, 3, round}, (vector){4, 5, 6, 7});
        long double complex turn = turned(round + 2.5L * I);
        struct large large = make_large(round);
        struct two_doubles doubles = make_doubles(round / 7.0);
        for (int i = 0; i < WIDE; i++)
            shuffle.parts[i] = round + i;
        shuffle.all = shuffled(shuffle.all);
        fesetround(round % 2 ? FE_DOWNWARD : FE_UPWARD);
        feraiseexcept(FE_DIVBYZERO);
        printf("%g %Lg %Lg %Lg ", sum(9, 1., 2., 3., 4., 5., 6., 7., 8., round / 3.),
               longer(round, 3), creall(turn), cimagl(turn));
        printf("%g %d %g %g %ld ", creal(twice(round + I)), make_small(round, 1).a,
               make_small(1, round).b, doubles.b, large.words[8]);
        printf("%g %d %d %lld ", added[3], shuffle.parts[0], shuffle.parts[WIDE - 1],
               (long long)(product(round, 1L << 62) >> 20));
        printf("%g %d %d %d %d\n",
               many(1, 2, 3, 4, 5, 6, round, 8, 9, 10, 11, 12, 13, 14, 15, 1.0 / round),
               keeps_errno(round), nested(round), fegetround(), fetestexcept(FE_DIVBYZERO) != 0);
    }
    return 0;
}
