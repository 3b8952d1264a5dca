/* SPDX-License-Identifier: MIT
 *
 * tree.c [kill]: known calls for `probity report`: recursion, a pause, longjmp, deferred scopes, a
 * second thread, calls with profiling off. With "kill", it is killed at a depth of ten calls.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static jmp_buf back;
static volatile int is_jumping = 1;

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static NOINLINE int fibonacci(int n)
{
    int result = n;

    FN_FUNC_PARAMS(int, result, FN_1, 1, n);
    if (n > 1)
        result = fibonacci(n - 1) + fibonacci(n - 2);
    return result;
}

static NOINLINE void pausing(void)
{
    FN_FUNC(FN_VOID, FN_1);
    sleep_ms(10);
    FN_PAUSE();
    sleep_ms(30);
    FN_RESUME();
}

static NOINLINE void jumping(int depth)
{
    FN_FUNC(FN_VOID, FN_1);
    if (depth > 0)
        jumping(depth - 1);
    if (is_jumping)
        longjmp(back, 1);
}

static NOINLINE void landing(void)
{
    FN_FUNC(FN_VOID, FN_1);
    if (setjmp(back) == 0)
        jumping(2);
}

static NOINLINE void leaf(void)
{
    FN_FUNC(FN_VOID, FN_1);
    sleep_ms(1);
}

static NOINLINE void deferred(int i)
{
    FN_ENTRY(FN_1);
    leaf();
    if (i % 2 == 0)
        FN_CHECKPOINT("even", FN_1, 1, i);
}

static void *thread_main(void *argument)
{
    FN_FUNC(FN_VOID, FN_1);
    for (int i = 0; i < 7; i++)
        leaf();
    return argument;
}

static NOINLINE void deep(int depth)
{
    FN_FUNC(FN_VOID, FN_1);
    if (depth == 1)
        raise(SIGKILL);
    else
        deep(depth - 1);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    FN_FUNC(int, FN_1);

    if (argc > 1 && strcmp(argv[1], "kill") == 0)
        deep(10);
    fibonacci(10);
    pausing();
    landing();
    for (int i = 0; i < 10; i++)
        deferred(i);
    FN_PROFILE(0);
    for (int i = 0; i < 3; i++)
        landing();
    FN_PROFILE(1);
    if (pthread_create(&thread, NULL, thread_main, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    return 0;
}
