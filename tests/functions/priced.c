/* SPDX-License-Identifier: MIT
 *
 * priced.c: prints which hooks would be measured to price a call, "instrument"
 * (-finstrument-functions) or "fentry" (-mfentry): before the program's first recorded call, after
 * it, and after one of a function in a file that may be compiled with other hooks.
 */
#include <signal.h>
#include <stdio.h>

#include "base/hooked.h"
#include "functions/calls.h"

#define NOT_RECORDED __attribute__((noinline, no_instrument_function))

int other_file(int value);

__attribute__((noinline)) static int called(int value)
{
    __asm__ volatile("" : "+r"(value));
    return value + 1;
}

NOT_RECORDED static const char *measured(void)
{
    struct probity_hooked_trial trial;
    const char *kind = "none";
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    if (probity_hooked_price_begin(&trial, 0) == 0) {
        kind = trial.leave == __cyg_profile_func_exit ? "instrument" : "fentry";
        probity_hooked_price_end(&trial);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return kind;
}

NOT_RECORDED int main(void)
{
    printf("%s\n", measured());
    int sum = called(1);
    printf("%s\n", measured());
    sum += other_file(1);
    printf("%s\n", measured());
    return sum != 4;
}
