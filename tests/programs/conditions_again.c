/* SPDX-License-Identifier: MIT
 *
 * conditions_again.c: four recordings of one process, each with its own conditions: none; for
 * first(), second() and a signal; for second() only; none. In each, the same calls are made and the
 * same signal arrives, which the first recording ignores.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"
#include "probity.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

static __attribute__((noinline)) void first(void)
{
    FN_FUNC(void, FN_1);
}

static __attribute__((noinline)) void second(void)
{
    FN_FUNC(void, FN_1);
}

/* when: conditions, or NULL. */
static int record(const char *out, const char *when)
{
    const struct probity_options options = {.out = out};

    if ((when != NULL ? setenv("PROBITY_WHEN", when, 1) : unsetenv("PROBITY_WHEN")) != 0 ||
        probity_start(&options) != 0)
        return 0;
    first();
    second();
    raise(SIGUSR2);
    return probity_stop() == 0;
}

int main(void)
{
    if (setenv("PROBITY_RING", "2s,8M", 1) != 0 || signal(SIGUSR2, SIG_IGN) == SIG_ERR ||
        !record("zero.probity", NULL) || signal(SIGUSR2, SIG_DFL) == SIG_ERR)
        return 1;
    return !record("one.probity", "function first > 1ns; function second > 1ns; signal USR2") ||
           !record("two.probity", "function second > 1ns") || !record("three.probity", NULL);
}
