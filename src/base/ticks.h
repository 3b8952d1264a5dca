/* SPDX-License-Identifier: MIT
 *
 * ticks.h: converts ticks to nanoseconds and back, with a rate in ns per tick × 2^32. Products take
 * 128 bits, so that a run of years neither wraps nor loses a nanosecond.
 */
#ifndef PROBITY_BASE_TICKS_H
#define PROBITY_BASE_TICKS_H

#include <stdint.h>

__extension__ typedef __int128 probity_wide;

/* ticks is signed, modulo 2^64. */
static inline uint64_t probity_ns_of_ticks(uint64_t ticks, uint64_t rate)
{
    return (uint64_t)((probity_wide)(int64_t)ticks * (probity_wide)rate >> 32);
}

/* Converts a difference that is negative because the clock went back. */
static inline uint64_t probity_ticks_magnitude(int64_t ticks)
{
    return ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
}

/* Returns 0 if rate is 0. Not inline: no fast path needs it, and the division takes 40 bytes of
 * code. */
uint64_t probity_ticks_of_ns(int64_t ns, uint64_t rate);

#endif
