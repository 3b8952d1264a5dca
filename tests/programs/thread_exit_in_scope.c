/* SPDX-License-Identifier: MIT
 *
 * thread_exit_in_scope.c: threads that exit inside scopes: by pthread_exit(), by cancellation at a
 * cancellation point, or by cancellation at any instruction. Prints the numbers of calls and
 * threads.
 *
 *     thread_exit_in_scope exit|deferred|anywhere THREADS
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <unistd.h>

#include "programs/hits.h"

enum { DEPTH = 5 };

static const char *how;
static uint64_t calls;
static pthread_key_t key;

static __attribute__((noinline)) void deeper(int depth)
{
    FN_FUNC(FN_VOID, FN_1);
    FN_PARAM(depth);
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (depth > 1)
        deeper(depth - 1);
    else if (how[0] == 'e')
        pthread_exit(NULL);
    else if (how[0] == 'd')
        pause();
    __asm__ volatile("");
}

/* Enters one more scope after the thread's own scopes were closed or left open. */
static void destroy(void *unused)
{
    (void)unused;
    FN_FUNC(FN_VOID, FN_1);
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
}

static void *run(void *unused)
{
    pthread_setspecific(key, &key);
    if (how[0] == 'a')
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    do
        deeper(DEPTH);
    while (how[0] == 'a');
    return unused;
}

int main(int argc, char **argv)
{
    uint64_t threads = hits_argument(argc, argv, 2, 10);

    how = argc > 1 ? argv[1] : "exit";
    hits_need(pthread_key_create(&key, destroy) == 0, "key");
    for (uint64_t i = 0; i < threads; i++) {
        uint64_t before = __atomic_load_n(&calls, __ATOMIC_RELAXED);
        uint64_t enough = how[0] == 'a' ? 300 + 7 * (i % 100) : DEPTH;
        pthread_t thread;
        hits_need(pthread_create(&thread, NULL, run, NULL) == 0, "thread");
        while (how[0] != 'e' && __atomic_load_n(&calls, __ATOMIC_RELAXED) - before < enough)
            sched_yield();
        if (how[0] != 'e')
            pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    printf("%llu %llu\n", (unsigned long long)calls, (unsigned long long)threads);
    return 0;
}
