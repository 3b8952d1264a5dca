/* SPDX-License-Identifier: MIT
 *
 * plain.c: the program of README that is recorded without editing it.
 */
#include <stdio.h>

static unsigned steps(unsigned long n)
{
    unsigned count = 0;
    for (; n != 1; count++)
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return count;
}

static unsigned longest(unsigned limit)
{
    unsigned most = 0;
    for (unsigned n = 1; n < limit; n++)
        most = steps(n) > most ? steps(n) : most;
    return most;
}

int main(void)
{
    printf("%u\n", longest(10000));
    return 0;
}
