/* SPDX-License-Identifier: MIT
 *
 * durations.h: durations of the last one to two minutes, from which a percentile is taken that is a
 * condition's limit (doc/triggers.md). All functions are async-signal-safe.
 */
#ifndef PROBITY_WRITER_DURATIONS_H
#define PROBITY_WRITER_DURATIONS_H

#include <stdint.h>

enum {
    PROBITY_DURATIONS_OCTAVE = 16, /* buckets to a power of two: 6 % wide */
    PROBITY_DURATIONS_BUCKETS = 60 * PROBITY_DURATIONS_OCTAVE,
    PROBITY_DURATIONS_MIN = 1000 /* needed for a percentile */
};

/* All zero at first. */
struct probity_durations {
    uint32_t turn; /* the generation that is counted, modulo 2 */
    uint32_t bucket[2][PROBITY_DURATIONS_BUCKETS];
};

/* Any thread. */
void probity_durations_add(struct probity_durations *durations, uint64_t ticks);

/* Begins a new generation and forgets the one before the present one. One thread at a time, as
 * the next. */
void probity_durations_turn(struct probity_durations *durations);

/* percentile: see probity_condition. Returns ticks, the longest of the bucket, or UINT64_MAX if
 * there are too few durations. */
uint64_t probity_durations_percentile(const struct probity_durations *durations,
                                      uint32_t percentile);

#endif
