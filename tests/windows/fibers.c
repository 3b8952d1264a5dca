/* SPDX-License-Identifier: MIT
 *
 * fibers.c: two threads, each with two fibers that pass probes in turn, one of them in a scope that
 * is open while the other runs; the fiber that passed its thread's first probe is deleted before
 * the last probes. Prints the number of hits.
 */
#define FN_INSTRUMENT
#include <stdio.h>
#include <windows.h>

#include "FnTrace.h"

enum { ROUNDS = 1000, THREADS = 2 };

static void pass(void *thread)
{
    FN_FUNC(FN_VOID, FN_1);
    PROBITY_PROBE(1);
    SwitchToFiber(thread);
}

static void WINAPI run_fiber(void *thread)
{
    for (;;)
        pass(thread);
}

static void answer(void)
{
    FN_FUNC(FN_VOID, FN_1);
    PROBITY_PROBE(2);
}

static DWORD WINAPI run(void *unused)
{
    void *thread = ConvertThreadToFiber(NULL), *other = CreateFiber(0, run_fiber, thread);

    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        SwitchToFiber(other);
        answer();
    }
    DeleteFiber(other);
    for (int i = 0; i < ROUNDS; i++)
        PROBITY_PROBE(3);
    ConvertFiberToThread();
    return 0;
}

int main(void)
{
    HANDLE threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        threads[i] = CreateThread(NULL, 0, run, NULL, 0, NULL);
    WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
    printf("%d\n", 3 * THREADS * ROUNDS);
    return 0;
}
