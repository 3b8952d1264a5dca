/* SPDX-License-Identifier: MIT
 *
 * fntrace_scopes.c: scopes that end in every unusual way. Prints nothing; the expected contents of
 * the trace are in tests/fntrace/fntrace.sh.
 *
 *     fntrace_scopes WHAT [COUNT]     WHAT: see the table at the end
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FN_INSTRUMENT
#include <FnTrace.h>

enum { THREADS = 8, DEEP = 10 };

static jmp_buf back;
static int count = 1;

/* ---- longjmp ------------------------------------------------------------------------------------
 */

/* If functions are inlined into one another, their nesting after a jump is known only if the
 * compiler has reused a variable's location. */
#define NOINLINE __attribute__((noinline))

static NOINLINE void jump_inner(void)
{
    FN_FUNC(FN_VOID, FN_1);
    longjmp(back, 1);
}

static NOINLINE void jump_middle(void)
{
    FN_FUNC(FN_VOID, FN_1);
    jump_inner();
}

static NOINLINE void jump_outer(void)
{
    FN_FUNC(FN_VOID, FN_1);
    jump_middle();
}

static NOINLINE void after_jump(void)
{
    FN_FUNC(FN_VOID, FN_1);
}

static void over_three(void)
{
    FN_FUNC(FN_VOID, FN_1);
    if (setjmp(back) == 0)
        jump_outer();
    after_jump();
}

static void jump(void)
{
    for (int i = 0; i < count; i++)
        over_three();
}

static void recurse_and_jump(int depth)
{
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1, depth);
    if (depth > 0)
        recurse_and_jump(depth - 1);
    if (count > 0) /* always true, but prevents a warning about infinite recursion */
        longjmp(back, 1);
}

static void jump_recursion(void)
{
    FN_FUNC(FN_VOID, FN_1);
    if (setjmp(back) == 0)
        recurse_and_jump(DEEP - 1);
}

/* Jumps from a call of a function to an earlier call of the same function. */
static void jump_into_itself(int depth)
{
    FN_FUNC_ARGS(FN_VOID, FN_VOID, FN_1, depth);
    if (depth == 3 && setjmp(back) == 0)
        jump_into_itself(2);
    else if (depth > 0 && depth < 3)
        jump_into_itself(depth - 1);
    else if (depth == 0)
        longjmp(back, 1);
}

static void jump_itself(void)
{
    jump_into_itself(3);
}

/* ---- Leaving in the middle ---------------------------------------------------------------------
 */

static int leave_middle(int at)
{
    int result = at;
    FN_FUNC_PARAMS(int, result, FN_1, 1, at);

    if (at == 0)
        return result;
    for (;;) {
        FN_FUNC(FN_VOID, FN_2); /* scope in a block */
        if (at == 1)
            goto out;
        if (at == 2)
            return result;
        if (--at > 3)
            continue;
        break;
    }
out:
    result = -1;
    return result;
}

static void leave(void)
{
    for (int at = 0; at < 6; at++)
        leave_middle(at);
}

/* ---- Threads that end inside scopes ------------------------------------------------------------
 */

/* ThreadSanitizer would be confused by a cancelled sleep(). */
static void wait_for_cancel(void)
{
    for (int i = 0; i < 100000000; i++) {
        pthread_testcancel();
        sched_yield();
    }
}

static void end_deep(int depth, int is_cancel)
{
    FN_FUNC(FN_VOID, FN_1);
    if (depth > 1)
        end_deep(depth - 1, is_cancel);
    else if (!is_cancel)
        pthread_exit(NULL);
    else
        wait_for_cancel();
}

static void *exit_inside(void *unused)
{
    (void)unused;
    FN_INSTRUMENT_THREAD();
    end_deep(5, 0);
    return NULL;
}

static void *wait_inside(void *unused)
{
    (void)unused;
    end_deep(5, 1);
    return NULL;
}

static void thread_exits(void)
{
    pthread_t thread;

    for (int i = 0; i < count; i++) {
        pthread_create(&thread, NULL, exit_inside, NULL);
        pthread_join(thread, NULL);
    }
}

static void thread_cancelled(void)
{
    pthread_t thread;

    for (int i = 0; i < count; i++) {
        pthread_create(&thread, NULL, wait_inside, NULL);
        usleep(20000);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
}

static void killed(int depth)
{
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1, depth);
    if (depth < DEEP)
        killed(depth + 1);
    else
        kill(getpid(), SIGKILL);
    sleep(100);
}

static void *killed_thread(void *unused)
{
    (void)unused;
    killed(1);
    return NULL;
}

static void kill_deep(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, killed_thread, NULL);
    pthread_join(thread, NULL);
}

/* ---- Pauses, levels, profiling -----------------------------------------------------------------
 */

static void pauses(void)
{
    FN_FUNC(FN_VOID, FN_1);
    FN_RESUME();
    FN_PAUSE();
    FN_PAUSE();
    FN_RESUME();
    FN_RESUME();
    FN_PAUSE();
}

static void level_0(void)
{
    FN_FUNC(FN_VOID, FN_0);
}

static void level_3(int x)
{
    FN_FUNC(FN_VOID, FN_3);
    FN_PARAM(x);
    FN_OUTPUT("message ", x);
}

/* Lowers the level while scopes are open: they stay open, and their leaves are recorded. */
static void level_falls(void)
{
    FN_FUNC(FN_VOID, FN_2);
    FN_INSTRUMENT_LEVEL(FN_0, FN_0);
    level_3(1);
    level_0();
}

static void level_rises(void)
{
    FN_FUNC(FN_VOID, FN_5);
    FN_INSTRUMENT_LEVEL(FN_5, FN_5);
    level_3(2);
}

static void levels(void)
{
    level_falls();
    level_rises();
    level_3(3);
    FN_INSTRUMENT_LEVEL(FN_2, FN_3);
    level_3(4);
    level_0();
}

static void profiling(void)
{
    FN_FUNC(FN_VOID, FN_1);
    FN_PROFILE(0);
    level_0();
    level_3(1);
    FN_PROFILE(1);
    level_0();
}

#define POSITION (at + 0) /* values are named as written, macros unexpanded */

static void checkpoints(int at)
{
    FN_ENTRY(FN_2);
    level_0();
    if (at >= 1)
        FN_CHECKPOINT("first", FN_2, 1, POSITION);
    if (at >= 2)
        FN_CHECKPOINT("second", FN_3, 0);
    FN_PAUSE();
    FN_RESUME();
}

static void entries(void)
{
    checkpoints(0);
    checkpoints(1);
    checkpoints(2);
    FN_INSTRUMENT_LEVEL(FN_2, FN_2);
    checkpoints(2);
}

/* A function that is first called, and so declared, right after a sleep. */
static void first_call(void)
{
    FN_FUNC(FN_VOID, FN_1);
}

static void asleep(void)
{
    FN_FUNC(FN_VOID, FN_1);
    usleep(100000);
    first_call();
}

/* A child forked inside scopes has its own trace, in which it leaves scopes that it never
 * entered. */
static void forked(void)
{
    FN_FUNC(FN_VOID, FN_1);
    level_0();
    pid_t child = fork();
    if (child == 0)
        level_0();
    else
        waitpid(child, NULL, 0);
}

/* ---- Disorder ----------------------------------------------------------------------------------
 */

static void disorder_inner(unsigned *seed, int depth)
{
    int result = depth;
    FN_FUNC_PARAMS(int, result, FN_1, 1, depth);

    if (rand_r(seed) % 4 == 0)
        sched_yield();
    if (depth > 0)
        disorder_inner(seed, depth - 1);
    if (rand_r(seed) % 8 == 0)
        FN_OUTPUT("at ", depth, " of ", seed);
}

static void *disorder_thread(void *number)
{
    unsigned seed = (unsigned)(size_t)number;
    FN_FUNC(void *, FN_1);

    for (int i = 0; i < count; i++)
        disorder_inner(&seed, i % 7);
    return NULL;
}

static void disorder(void)
{
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, disorder_thread, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static unsigned handled;

static void handler_inner(int signal_number)
{
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1, signal_number);
}

static void handler(int signal_number)
{
    FN_FUNC(FN_VOID, FN_1);
    handled++;
    handler_inner(signal_number);
    FN_OUTPUT("handled ", handled);
}

static void interrupted(int i)
{
    int result = i;
    FN_FUNC_PARAMS(int, result, FN_1, 1, i);
    after_jump();
}

/* Signals come from another thread, so they interrupt scopes at any instruction. */
static void *send_signals(void *target)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (int i = 0; i < count; i++) {
        pthread_kill(*(pthread_t *)target, SIGUSR1);
        usleep(50);
    }
    return NULL;
}

static void signals(void)
{
    struct sigaction action;
    pthread_t sender, self = pthread_self();
    unsigned calls = 0;
    int is_over = 0;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&sender, NULL, send_signals, &self);
    while (!is_over) {
        interrupted((int)calls++);
        is_over = calls % 64 == 0 && pthread_tryjoin_np(sender, NULL) == 0;
    }
    printf("%u %u\n", handled, calls);
}

static const struct {
    const char *name;
    void (*run)(void);
} table[] = {
    {"jump", jump},           {"recursion", jump_recursion}, {"itself", jump_itself},
    {"leave", leave},         {"exit", thread_exits},        {"cancel", thread_cancelled},
    {"kill", kill_deep},      {"pauses", pauses},            {"levels", levels},
    {"profile", profiling},   {"entries", entries},          {"disorder", disorder},
    {"signals", signals},     {"asleep", asleep},            {"fork", forked},
};

int main(int argc, char **argv)
{
    if (argc > 2)
        count = atoi(argv[2]);
    for (size_t i = 0; argc > 1 && i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, argv[1]) == 0) {
            table[i].run();
            return 0;
        }
    }
    return 99;
}
