/* SPDX-License-Identifier: MIT
 *
 * durations.h: durations of the last one to two minutes, for percentiles that are limits of
 * conditions (doc/triggers.md). All functions are async-signal-safe.
 */
#ifndef PROBITY_WRITER_DURATIONS_H
#define PROBITY_WRITER_DURATIONS_H

#include <stdint.h>

enum {
    PROBITY_DURATIONS_OCTAVE = 16, /* buckets per power of two: 6 % wide */
    PROBITY_DURATIONS_BUCKETS = 60 * PROBITY_DURATIONS_OCTAVE,
    PROBITY_DURATIONS_MIN = 1000 /* minimum number for a percentile */
};

/* All zeros initially. */
struct probity_durations {
    uint32_t turn; /* the current generation, modulo 2 */
    uint32_t bucket[2][PROBITY_DURATIONS_BUCKETS];
};

/* Adds a duration. Any thread. */
void probity_durations_add(struct probity_durations *durations, uint64_t ticks);

/* Begins a new generation and discards the one before the current one. One thread at a time, as for
 * the next function. */
void probity_durations_turn(struct probity_durations *durations);

/* percentile: see probity_condition. Returns the longest duration of the bucket in ticks, or
 * UINT64_MAX if there are too few durations. */
uint64_t probity_durations_percentile(const struct probity_durations *durations,
                                      uint32_t percentile);

#endif
