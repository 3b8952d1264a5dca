/* SPDX-License-Identifier: MIT
 *
 * msvc.c: probes in C with MSVC's rules, in four threads. MSVC's own libraries are not used.
 */
#include <probity_typed.h>
#include <Logger.h>

enum { THREADS = 4, HITS = 50000 };

typedef unsigned long __stdcall thread_function(void *);
__declspec(dllimport) void *__stdcall CreateThread(void *, size_t, thread_function *, void *,
                                                   unsigned long, unsigned long *);
__declspec(dllimport) unsigned long __stdcall WaitForMultipleObjects(unsigned long, void **, int,
                                                                     unsigned long);

static unsigned long __stdcall run(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < HITS; i++) {
        PROBITY_PROBE(7);
        PROBITY_PROBE_NAMED("named");
        alexta_LogEvent(8);
        PROBITY_PROBE_WITH(9, i);
    }
    return 0;
}

int main(void)
{
    void *threads[THREADS];

    PROBITY_LOCK_HOLD("lock", threads);
    for (int i = 0; i < THREADS; i++)
        threads[i] = CreateThread(NULL, 0, run, NULL, 0, NULL);
    WaitForMultipleObjects(THREADS, threads, 1, 0xffffffff);
    PROBITY_LOCK_RELEASE("lock", threads);
    return 0;
}
