/* SPDX-License-Identifier: MIT
 *
 * unwind.c: executes the hooks of -pg -mfentry -minstrument-return=call instruction by instruction,
 * and unwinds the stack at each: every walk must reach main. The first calls, which block signals,
 * are not stepped. Prints the number of steps, and of walks that did not reach it. With SCOPES,
 * does the same for the hooks of patched sites, in their first 256 bytes.
 */
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#ifdef SCOPES
#include <ucontext.h>

#define FN_INSTRUMENT
#include <FnTrace.h>
#define SCOPE(type) FN_FUNC(type, FN_1)
#else
#define SCOPE(type) (void)0
#endif

enum { CALLS = 6, STEPPED_FROM = 3, FRAMES = 64 };

#define WITHOUT_HOOKS __attribute__((no_instrument_function, noinline))

static long steps, lost;
static uintptr_t own_from, own_to;

/* The code that leads from a site to its hook has no unwind information. */
WITHOUT_HOOKS static int is_in_hook(const void *context)
{
#ifdef SCOPES
    const ucontext_t *at = context;
    uintptr_t pc = (uintptr_t)at->uc_mcontext.gregs[REG_RIP];

    return pc - (uintptr_t)probity_scope_site_enter_hook < 256 ||
           pc - (uintptr_t)probity_scope_site_leave_hook < 256;
#else
    return context != NULL;
#endif
}

WITHOUT_HOOKS static void on_step(int number, siginfo_t *info, void *context)
{
    void *frames[FRAMES];
    int is_found = 0;

    (void)number;
    (void)info;
    if (!is_in_hook(context))
        return;
    int count = backtrace(frames, FRAMES);
    for (int i = 0; i < count; i++)
        is_found |= (uintptr_t)frames[i] >= own_from && (uintptr_t)frames[i] < own_to;
    steps++;
    lost += !is_found;
}

__attribute__((noinline)) long double longer(int a, double b)
{
    SCOPE(long double);
    return a + b;
}

__attribute__((noinline)) double twice(double b)
{
    SCOPE(double);
    return b * 2;
}

/* Sets or clears the CPU's trap flag. */
#define STEP(how) __asm__ volatile("pushfq\n\t" how ", (%%rsp)\n\tpopfq" : : : "memory", "cc")

WITHOUT_HOOKS static long double run(void)
{
    long double sum = 0;

    for (int i = 0; i < CALLS; i++) {
        if (i == STEPPED_FROM)
            STEP("orq $0x100");
        sum += longer(i, 2) + twice(i);
    }
    STEP("andq $~0x100");
    return sum;
}

WITHOUT_HOOKS static void after_run(void)
{
    __asm__ volatile("");
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    void *frames[FRAMES];

    /* In the order of the source (-fno-toplevel-reorder). The first walk loads a library. */
    own_from = (uintptr_t)run;
    own_to = (uintptr_t)after_run;
    backtrace(frames, FRAMES);
    sigaction(SIGTRAP, &action, NULL);
    long double sum = run();
    printf("%.0Lf %ld %ld\n", sum, steps, lost);
    return 0;
}
