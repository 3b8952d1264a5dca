/* SPDX-License-Identifier: MIT
 *
 * histogram.h: buckets of durations, four to each power of two: the bounds of a bucket are less
 * than 25 % apart. Below 8 ns each nanosecond has its own.
 *
 *     bucket   0 .. 3      4 5 6 7       8    9     10 ...       251
 *     ns       0 1 2 3     4 5 6 7      8-9 10-11 12-13 ...    7*2^61 ..
 */
#ifndef PROBITY_BASE_HISTOGRAM_H
#define PROBITY_BASE_HISTOGRAM_H

#include <stdint.h>

enum { PROBITY_HISTOGRAM_BUCKETS = 252 };

static inline unsigned probity_histogram_bucket(uint64_t ns)
{
    if (ns < 4)
        return (unsigned)ns;
    unsigned octave = 63 - (unsigned)__builtin_clzll(ns);
    return 4 * (octave - 1) + (unsigned)(ns >> (octave - 2) & 3);
}

/* The least duration of a bucket; that of PROBITY_HISTOGRAM_BUCKETS is UINT64_MAX. */
static inline uint64_t probity_histogram_least_ns(unsigned bucket)
{
    if (bucket >= PROBITY_HISTOGRAM_BUCKETS)
        return UINT64_MAX;
    return bucket < 4 ? bucket : (uint64_t)(4 + bucket % 4) << (bucket / 4 - 1);
}

#endif
