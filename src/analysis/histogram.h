/* SPDX-License-Identifier: MIT
 *
 * histogram.h: counts of times in buckets that are less than 1 % wide, for percentiles. Below 256
 * ns each nanosecond has a bucket; above, each power of two has 128 of equal width, so that the
 * middle of a bucket is within 1/256 of its values. After HdrHistogram (Gil Tene,
 * hdrhistogram.org), made for one histogram per function and thread: a page covers a power of two,
 * and is sparse while few of its buckets have counts.
 *
 *     pages      ┌──────┬──────┬──────┬──────┐
 *     from first │ few  │ all  │ NULL │ wide │
 *                └──┼───┴──┼───┴──────┴──┼───┘
 *                   ▼      ▼             ▼
 *            7 items of    128 counts    128 counts       an item: count * 128 + bucket; 0: none
 *               64 bits    of 32 bits    of 64 bits
 */
#ifndef PROBITY_ANALYSIS_HISTOGRAM_H
#define PROBITY_ANALYSIS_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
    PROBITY_HISTOGRAM_BITS = 7,
    /* buckets of a page; the first is all below 128 */
    PROBITY_HISTOGRAM_PARTS = 1 << PROBITY_HISTOGRAM_BITS,
    PROBITY_HISTOGRAM_PAGES = 64 - PROBITY_HISTOGRAM_BITS + 1
};

/* All zero: empty. */
struct probity_histogram {
    void **pages;         /* pages for [first, first + room) */
    uint64_t all, wide;   /* bit n: page n has a count for every bucket, of 32 or of 64 bits */
    uint64_t count;       /* number of values */
    uint32_t first, room;
};

/* A bucket: the number of values in [least, least + width). */
struct probity_histogram_bucket {
    uint64_t least, width, count;
};

/* Returns the step of a value on a log scale: 2^bits steps per power of two, and one per value
 * below 2^bits. */
static inline uint64_t probity_histogram_step(unsigned bits, uint64_t value)
{
    if (value < UINT64_C(1) << bits)
        return value;
    unsigned octave = 63 - (unsigned)__builtin_clzll(value), shift = octave - bits;
    return ((uint64_t)shift << bits) + (value >> shift);
}

/* Returns the least value of a step; UINT64_MAX for the step after the last one. */
static inline uint64_t probity_histogram_step_least(unsigned bits, uint64_t step)
{
    uint64_t parts = UINT64_C(1) << bits;

    if (step < parts)
        return step;
    uint64_t shift = (step >> bits) - 1;
    return shift + bits > 63 ? UINT64_MAX : (parts + step % parts) << shift;
}

/* The slow path of counting a value. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_histogram_add_slowly(struct probity_histogram *fine, unsigned page, unsigned part,
                                 uint64_t count);

static inline unsigned probity_histogram_page(uint64_t value)
{
    /* With this bit set, all values of the first page are in one octave. */
    unsigned octave = 63 - (unsigned)__builtin_clzll(value | 1 << (PROBITY_HISTOGRAM_BITS - 1));

    return octave - (PROBITY_HISTOGRAM_BITS - 1);
}

static inline unsigned probity_histogram_part(uint64_t value, unsigned page)
{
    return (unsigned)(value >> (page > 0 ? page - 1 : 0)) & (PROBITY_HISTOGRAM_PARTS - 1);
}

/* Counts a value. Returns 0 or PROBITY_ERROR_MEMORY. */
static inline int probity_histogram_add(struct probity_histogram *fine, uint64_t value)
{
    unsigned page = probity_histogram_page(value), part = probity_histogram_part(value, page);

    if (__builtin_expect(fine->all >> page & 1, 1)) {
        uint32_t *counts = fine->pages[page - fine->first];
        if (__builtin_expect(counts[part] < UINT32_MAX, 1)) {
            counts[part]++;
            fine->count++;
            return 0;
        }
    }
    return probity_histogram_add_slowly(fine, page, part, 1);
}

/* Counts a value `times` times. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_histogram_add_times(struct probity_histogram *fine, uint64_t value, uint64_t count);

/* Adds another histogram. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_histogram_merge(struct probity_histogram *to, const struct probity_histogram *from);

/* Iterates over the non-empty buckets in ascending order, starting with *at = 0. Returns 1 with the
 * next bucket or 0 after the last. */
int probity_histogram_next(const struct probity_histogram *fine, size_t *at,
                           struct probity_histogram_bucket *ret_bucket);

/* Returns the value that per_mille of 1000 values do not exceed (nearest rank), exact to 1/256; 0
 * if empty. The caller passes the minimum and maximum of the values. */
uint64_t probity_histogram_quantile(const struct probity_histogram *fine, unsigned per_mille,
                                    uint64_t min, uint64_t max);

void probity_histogram_release(struct probity_histogram *fine);

#endif
