/* SPDX-License-Identifier: MIT
 *
 * cost.h: measures what recording calls costs, in the program itself: one in
 * PROBITY_CALLS_COST_EVERY pieces of this library's work is timed, including the part of
 * libprobity, and with whatever the program and the kernel have left in the caches. A piece is one
 * record, or the work for a call that is only counted. May be called in any thread, even in signal
 * handlers.
 *
 *     cost = ticks of the timed pieces × PROBITY_CALLS_COST_EVERY × factor (cost.c)
 */
#ifndef PROBITY_CALLS_COST_H
#define PROBITY_CALLS_COST_H

#include <stdint.h>

#include "calls/calls.h"

/* A prime number, so that a loop of a few calls does not always have the same call timed. */
enum { PROBITY_CALLS_COST_EVERY = 251 };

/* Not cold: otherwise the compiler would move counting out of the usual path, too. */
uint64_t probity_calls_cost_begin_timed(void) __attribute__((visibility("hidden")));
void probity_calls_cost_end_timed(uint64_t since, int is_recorded)
    __attribute__((visibility("hidden")));

/* Begins a piece. Returns 0 if it is not timed. */
static inline __attribute__((always_inline)) uint64_t probity_calls_cost_begin(void)
{
    return __builtin_expect(probity_calls_local.cost_left-- != 0, 1)
               ? 0
               : probity_calls_cost_begin_timed();
}

static inline __attribute__((always_inline)) void probity_calls_cost_end(uint64_t since,
                                                                         int is_recorded)
{
    if (__builtin_expect(since != 0, 0))
        probity_calls_cost_end_timed(since, is_recorded);
}

#endif
