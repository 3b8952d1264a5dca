/* SPDX-License-Identifier: MIT
 *
 * first.c: the first program of README: a function that computes, one that waits, then SIGKILL.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <signal.h>
#include <unistd.h>

static unsigned compute(unsigned rounds)
{
    unsigned sum = 0;
    FN_FUNC_PARAMS(unsigned, sum, FN_1, 1, rounds);

    for (unsigned i = 0; i < rounds; i++)
        sum = sum * 31 + i;
    return sum;
}

static void fetch(const char *what)
{
    FN_FUNC_PARAMS(void, FN_VOID, FN_1, 1, what);

    usleep(2000);
}

int main(void)
{
    FN_FUNC(int, FN_1);

    for (unsigned i = 1; i <= 3; i++) {
        compute(i * 1000000);
        fetch("prices");
    }
    return raise(SIGKILL);
}
