/* SPDX-License-Identifier: MIT
 *
 * switched.c: functions that are switched off and on while threads call them. For each line of the
 * input, "NAME TIMES", the main thread makes that number of calls and prints "done"; at the end of
 * the input, the program prints how often each function was called by all threads.
 *
 *     switched THREADS
 *
 * THREADS call busy() continually, at a depth of two. FUNCTION: a macro that records the function,
 * or nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FUNCTION
#define FN_INSTRUMENT
#include "FnTrace.h"
#else
#define FUNCTION
#include "probity.h"
#endif

#include "switched.h"

#define RECORDED __attribute__((noinline))

static uint64_t busy_calls;
static unsigned long early_calls, later_calls;
static __thread volatile unsigned sink;

RECORDED void early(void)
{
    FUNCTION;
    sink += 1;
}

RECORDED void later(void)
{
    FUNCTION;
    sink += 2;
}

RECORDED void busy(int depth)
{
    FUNCTION;
    sink += 3;
    if (depth > 1)
        busy(depth - 1);
    sink += 4;
}

PLAIN static void *work(void *unused)
{
    uint64_t calls = 0;

    while (!threads_end()) {
        busy(2);
        calls += 2;
        for (int i = 0; i < 2000; i++)
            sink += 1;
    }
    __atomic_fetch_add(&busy_calls, calls, __ATOMIC_RELAXED);
    return unused;
}

PLAIN static void call_once(const char *name)
{
    if (strcmp(name, "early") == 0) {
        early();
        early_calls++;
    } else {
        later();
        later_calls++;
    }
}

PLAIN int main(int argc, char **argv)
{
    int threads = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    int status = follow_input(threads, work, call_once);

    if (status == 0)
        printf("busy %llu\nearly %lu\nlater %lu\n", (unsigned long long)busy_calls, early_calls,
               later_calls);
    return status;
}
