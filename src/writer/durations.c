/* SPDX-License-Identifier: MIT
 *
 * durations.c: counts durations by bucket.
 */
#include "writer/durations.h"

#include <string.h>

#include "base/conditions.h"

enum { OCTAVE = PROBITY_DURATIONS_OCTAVE };

static uint32_t bucket_of(uint64_t ticks)
{
    uint32_t log2 = 63 - (uint32_t)__builtin_clzll(ticks | OCTAVE);
    uint32_t bucket = (log2 - 4) * OCTAVE + (uint32_t)(ticks >> (log2 - 4) & (OCTAVE - 1));

    return bucket < PROBITY_DURATIONS_BUCKETS ? bucket : PROBITY_DURATIONS_BUCKETS - 1;
}

/* Returns the longest duration of the bucket. */
static uint64_t top_of(uint32_t bucket)
{
    uint32_t shift = bucket / OCTAVE;

    return ((uint64_t)(OCTAVE + bucket % OCTAVE + 1) << shift) - 1;
}

static uint64_t count_in(const struct probity_durations *durations, uint32_t bucket)
{
    return (uint64_t)__atomic_load_n(&durations->bucket[0][bucket], __ATOMIC_RELAXED) +
           __atomic_load_n(&durations->bucket[1][bucket], __ATOMIC_RELAXED);
}

void probity_durations_add(struct probity_durations *durations, uint64_t ticks)
{
    uint32_t turn = __atomic_load_n(&durations->turn, __ATOMIC_RELAXED) % 2;

    __atomic_add_fetch(&durations->bucket[turn][bucket_of(ticks)], 1, __ATOMIC_RELAXED);
}

void probity_durations_turn(struct probity_durations *durations)
{
    uint32_t turn = durations->turn + 1;

    __atomic_store_n(&durations->turn, turn, __ATOMIC_RELAXED);
    memset(durations->bucket[turn % 2], 0, sizeof durations->bucket[0]);
}

uint64_t probity_durations_percentile(const struct probity_durations *durations,
                                      uint32_t percentile)
{
    uint64_t count = 0, seen = 0;

    for (uint32_t i = 0; i < PROBITY_DURATIONS_BUCKETS; i++)
        count += count_in(durations, i);
    if (count < PROBITY_DURATIONS_MIN)
        return UINT64_MAX;
    uint64_t below = (uint64_t)((double)count * percentile / PROBITY_CONDITION_PERCENT_UNIT);
    for (uint32_t i = 0; i < PROBITY_DURATIONS_BUCKETS; i++) {
        seen += count_in(durations, i);
        if (seen > below)
            return top_of(i);
    }
    return UINT64_MAX;
}
