/* SPDX-License-Identifier: MIT
 *
 * own_threads.c: the count is one word: process id << 32 | changes << 8 | threads. The number of
 * changes shows whether one of our threads has begun or ended between two readings.
 */
#include "base/own_threads.h"

#include <stddef.h>
#include <unistd.h>

enum { PID_SHIFT = 32, CHANGE = 1 << 8, THREADS = CHANGE - 1 };

static void change(uint64_t *count, int threads)
{
    uint64_t own = (uint64_t)getpid() << PID_SHIFT, now, next;

    if (count == NULL)
        return;
    now = __atomic_load_n(count, __ATOMIC_RELAXED);
    do {
        uint32_t before = now >> PID_SHIFT == own >> PID_SHIFT ? (uint32_t)now : 0;
        uint32_t after = (before & THREADS) + (uint32_t)threads;
        next = own | (uint32_t)((before & ~(uint32_t)THREADS) + CHANGE) | (after & THREADS);
    } while (!__atomic_compare_exchange_n(count, &now, next, 0, __ATOMIC_SEQ_CST,
                                          __ATOMIC_RELAXED));
}

void probity_own_threads_begin(uint64_t *count)
{
    change(count, 1);
}

void probity_own_threads_end(uint64_t *count)
{
    change(count, -1);
}

/* Returns 0 if one of our threads has not yet registered, or is about to exit. */
int probity_own_threads_are_alone(const uint64_t *count, const struct probity_os_threads *threads)
{
    uint64_t before = count != NULL ? __atomic_load_n(count, __ATOMIC_SEQ_CST) : 0;
    uint32_t others = before >> PID_SHIFT == (uint64_t)getpid() && (before & THREADS) != 0
                          ? (uint32_t)(before & THREADS) - 1
                          : 0;

    return probity_os_is_last_thread(threads, others) &&
           (count == NULL || __atomic_load_n(count, __ATOMIC_SEQ_CST) == before);
}
