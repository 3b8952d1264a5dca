/* SPDX-License-Identifier: MIT
 *
 * patched_running.c: a library whose constructor starts threads that call its functions
 * continually, so that its sleds, or with PATCHABLE its entries, are replaced while they run.
 * finish() waits until each thread has made some thousand more calls, ends them, and returns the
 * total number of calls.
 */
#include <pthread.h>

#ifdef PATCHABLE
#define NOT_INSTRUMENTED patchable_function_entry(0, 0)
#else
#define NOT_INSTRUMENTED xray_never_instrument
#endif

enum { THREADS = 3, MORE = 20000 };

static pthread_t threads[THREADS];
static unsigned long calls[THREADS];
static int is_over;

__attribute__((noinline)) static int called(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

/* The function ends with a jump to another one. */
__attribute__((noinline)) static int jumping(int x)
{
    __asm__ volatile("" : "+r"(x));
    return called(x + 1);
}

__attribute__((NOT_INSTRUMENTED)) static void *run(void *argument)
{
    unsigned long *own = argument;

    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        if (jumping(1) != 3)
            __builtin_trap();
        __atomic_store_n(own, *own + 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

__attribute__((constructor, NOT_INSTRUMENTED)) static void start(void)
{
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, &calls[i]);
    for (int i = 0; i < THREADS; i++) {
        while (__atomic_load_n(&calls[i], __ATOMIC_RELAXED) < MORE)
            continue;
    }
}

unsigned long finish(void);
__attribute__((NOT_INSTRUMENTED)) unsigned long finish(void)
{
    unsigned long all = 0;

    for (int i = 0; i < THREADS; i++) {
        unsigned long from = __atomic_load_n(&calls[i], __ATOMIC_RELAXED);
        while (__atomic_load_n(&calls[i], __ATOMIC_RELAXED) < from + MORE)
            continue;
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all += calls[i];
    }
    return all;
}
