/* SPDX-License-Identifier: MIT
 *
 * jumps.c WAY N: scopes left by longjmp, and scopes that only look as if they had been. "loop"
 * jumps N times from three nested scopes to the outermost one, "far" jumps once out of N scopes;
 * "inlined" has scopes of several functions in one frame; "handlers" has scopes in signal handlers
 * whose stack is above the functions that they interrupt; "turns" has scopes in coroutines; "off"
 * calls a function that is off at the place of one that was left N times. Prints the number of
 * calls.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))

static jmp_buf back;
static volatile int is_failing = 1;
static long calls;

static void spin_ms(long ms)
{
    struct timespec start, now;

    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < ms * 1000000);
}

static NOINLINE void fails(void)
{
    FN_FUNC(FN_VOID, FN_1);
    calls++;
    if (is_failing)
        longjmp(back, 1);
}

static NOINLINE void parses(int depth)
{
    FN_FUNC(FN_VOID, FN_1);
    calls++;
    if (depth > 1)
        parses(depth - 1);
    else
        fails();
    __asm__ volatile("");
}

static NOINLINE void handles(void)
{
    FN_FUNC(FN_VOID, FN_1);
    calls++;
    parses(1);
    __asm__ volatile("");
}

static NOINLINE void succeeds(void)
{
    FN_FUNC(FN_VOID, FN_1);
    calls++;
}

static NOINLINE void serves(long count, int is_far)
{
    volatile long done = 0;
    FN_FUNC(FN_VOID, FN_1);

    calls++;
    while (done < count) {
        if (setjmp(back) == 0) {
            if (is_far)
                parses((int)count);
            else
                handles();
        }
        done = is_far ? count : done + 1;
        succeeds();
    }
    spin_ms(20);
}

static inline __attribute__((always_inline)) int innermost(int n)
{
    int result = 0;
    FN_FUNC_RETVAL(int, result, FN_1);

    calls++;
    result = n + 1;
    return result;
}

static inline __attribute__((always_inline)) int inner(int n)
{
    int result = 0;
    FN_FUNC_PARAMS(int, result, FN_1, 1, n);

    calls++;
    result = innermost(n) + innermost(n);
    return result;
}

static NOINLINE int outer(int n)
{
    int result = 0;
    FN_FUNC_ARGS(int, result, FN_1, n);

    calls++;
    result = inner(n) + inner(n);
    succeeds();
    return result;
}

static void on_signal(int number)
{
    FN_FUNC(FN_VOID, FN_1);
    (void)number;
    calls++;
    outer(1);
    succeeds();
}

static NOINLINE void interrupted(long count)
{
    FN_FUNC(FN_VOID, FN_1);
    calls++;
    for (long i = 0; i < count; i++)
        raise(SIGUSR1);
    succeeds();
}

/* The handler's stack is part of this frame, so it is above the frames of functions called from
 * here. */
static NOINLINE void with_stack_above(long count)
{
    static struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    char memory[65536];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory}, none = {.ss_flags = SS_DISABLE};
    FN_FUNC(FN_VOID, FN_1);

    calls++;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    interrupted(count);
    sigaltstack(&none, NULL);
}

static ucontext_t here, there;

static void coroutine(void)
{
    for (;;) {
        succeeds();
        swapcontext(&there, &here);
        outer(2);
        swapcontext(&there, &here);
    }
}

static NOINLINE void takes_turns(long count)
{
    char *stack = malloc(65536);
    FN_FUNC(FN_VOID, FN_1);

    calls++;
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = 65536;
    makecontext(&there, coroutine, 0);
    for (long i = 0; i < count; i++) {
        swapcontext(&here, &there);
        outer(3);
    }
    free(stack);
}

/* The second function, which is off, has its scope at the same address as the first one's. */
static NOINLINE void is_left(void)
{
    FN_FUNC(FN_VOID, FN_1);
    calls++;
    longjmp(back, 1);
}

static NOINLINE void is_off(void)
{
    FN_FUNC(FN_VOID, FN_3);
    __asm__ volatile("");
}

static void leaves(long count)
{
    FN_FUNC(FN_VOID, FN_1);
    calls++;
    for (volatile long i = 0; i < count; i++) {
        if (setjmp(back) == 0)
            is_left();
        is_off();
    }
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "loop";
    long count = argc > 2 ? atol(argv[2]) : 10;

    if (strcmp(way, "inlined") == 0) {
        for (long i = 0; i < count; i++)
            outer((int)i);
    } else if (strcmp(way, "handlers") == 0) {
        with_stack_above(count);
    } else if (strcmp(way, "turns") == 0) {
        takes_turns(count);
    } else if (strcmp(way, "off") == 0) {
        leaves(count);
    } else {
        serves(count, strcmp(way, "far") == 0);
    }
    printf("%ld\n", calls);
    return 0;
}
