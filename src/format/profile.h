/* SPDX-License-Identifier: MIT
 *
 * profile.h: the PROFILE block (doc/trace-format.md): the counts of profile mode per function and
 * thread. Pure functions on memory; used by the writer, by recover and by the reader.
 */
#ifndef PROBITY_FORMAT_PROFILE_H
#define PROBITY_FORMAT_PROFILE_H

#include <stddef.h>
#include <stdint.h>

enum {
    PROBITY_PROFILE_BUCKETS = 160,    /* for durations: four per octave */
    PROBITY_PROFILE_FIRST_LOG2 = 4,   /* durations below 2^4 ticks share the first bucket */
    PROBITY_PROFILE_FIXED_BYTES = 32, /* size of the fixed part of the payload */
    /* Size of a row of 18 numbers and all buckets, two numbers each, plus the bytes after it that a
     * put may overwrite. */
    PROBITY_PROFILE_ROW_BYTES_MAX = (18 + 2 * PROBITY_PROFILE_BUCKETS) * 9 + 64
};

enum { PROBITY_PROFILE_LAST = 1 }; /* flags: this is the last part of the profile */

/* Precedes the rows in a block. */
struct probity_profile_part {
    uint32_t part, flags, rows; /* part: starts at 0 */
    uint64_t tick;              /* when the profile was read; the same in all its parts */
    uint64_t rate;              /* ns per tick × 2^32, the latest estimate at that tick */
};

/* One function in the threads that used the same set of cells. Times in ticks. */
struct probity_profile_row {
    uint32_t set, thread, tid, threads; /* number of the set, its latest thread, its number of
                                         * threads */
    uint32_t site;                      /* number of the function's enter */
    uint64_t calls, untimed; /* with and without times */
    uint64_t unwound;        /* timed calls that were left by a jump */
    uint64_t total, self, min, max, paused;
    uint64_t open_since; /* tick; 0: no call is in progress */
    uint64_t durations; /* sum; exceeds the total time if the function was recursive */
    int64_t off_total, off_self; /* time off the CPU in the total and self times */
    uint64_t histogram[PROBITY_PROFILE_BUCKETS]; /* histogram of durations */
};

/* Returns the bucket of a duration. */
static inline uint32_t probity_profile_bucket(uint64_t ticks)
{
    uint64_t least = UINT64_C(1) << PROBITY_PROFILE_FIRST_LOG2;
    uint64_t taken = ticks > least ? ticks : least;
    uint32_t log2 = 63u ^ (uint32_t)__builtin_clzll(taken);
    uint32_t bucket =
        4 * log2 + (uint32_t)(taken >> (log2 - 2)) - 4 * (PROBITY_PROFILE_FIRST_LOG2 + 1);

    return bucket < PROBITY_PROFILE_BUCKETS ? bucket : PROBITY_PROFILE_BUCKETS - 1;
}

/* Returns the shortest duration in a bucket, except for the first, which begins at 0. */
static inline uint64_t probity_profile_bucket_start(uint32_t bucket)
{
    return (uint64_t)(4 + bucket % 4) << (PROBITY_PROFILE_FIRST_LOG2 - 2 + bucket / 4);
}

/* The fixed part. get: returns 0 or PROBITY_ERROR_DAMAGED. */
void probity_profile_part_put(uint8_t *payload, const struct probity_profile_part *part);
int probity_profile_part_get(const uint8_t *payload, size_t bytes,
                             struct probity_profile_part *ret_part);

/* put: PROBITY_PROFILE_ROW_BYTES_MAX bytes must be writable; returns the end. get: reads the row at
 * `at`; returns its end, or NULL if the row is damaged. */
uint8_t *probity_profile_row_put(uint8_t *at, const struct probity_profile_row *row);
const uint8_t *probity_profile_row_get(const uint8_t *at, const uint8_t *end,
                                       struct probity_profile_row *ret_row);

#endif
