/* SPDX-License-Identifier: MIT
 *
 * fine.h: counts of times in buckets that are less than 1 % wide, for percentiles. Below 256 ns
 * each nanosecond has a bucket; above, each power of two has 128 of equal width, so that the middle
 * of a bucket is within 1/256 of what was counted there. After HdrHistogram (Gil Tene,
 * hdrhistogram.org), but there may be one for each function and thread: a page is a power of two,
 * and holds counts of the few buckets that have any, until these are too many.
 *
 *     pages      ┌──────┬──────┬──────┬──────┐
 *     from first │ few  │ all  │ NULL │ wide │
 *                └──┼───┴──┼───┴──────┴──┼───┘
 *                   ▼      ▼             ▼
 *            7 items of    128 counts    128 counts       an item: count * 128 + bucket; 0: none
 *               64 bits    of 32 bits    of 64 bits
 */
#ifndef PROBITY_ANALYSIS_FINE_H
#define PROBITY_ANALYSIS_FINE_H

#include <stddef.h>
#include <stdint.h>

enum {
    PROBITY_FINE_BITS = 7,
    PROBITY_FINE_PARTS = 1 << PROBITY_FINE_BITS, /* buckets of a page; the first is all below 128 */
    PROBITY_FINE_PAGES = 64 - PROBITY_FINE_BITS + 1
};

/* All zero: empty. */
struct probity_fine {
    void **pages;         /* those of [first, first + room) */
    uint64_t all, wide;   /* bit n: page n has a count for each bucket, of 32 bits or of 64 */
    uint64_t count;       /* of values */
    uint32_t first, room;
};

/* Counts of one bucket: of values from least on, and below least + width. */
struct probity_fine_bucket {
    uint64_t least, width, count;
};

/* On a log scale: 2^bits steps to a power of two, and below 2^bits one to each value. */
static inline uint64_t probity_fine_step(unsigned bits, uint64_t value)
{
    if (value < UINT64_C(1) << bits)
        return value;
    unsigned octave = 63 - (unsigned)__builtin_clzll(value), shift = octave - bits;
    return ((uint64_t)shift << bits) + (value >> shift);
}

/* Of the step behind the last one: UINT64_MAX. */
static inline uint64_t probity_fine_step_least(unsigned bits, uint64_t step)
{
    uint64_t parts = UINT64_C(1) << bits;

    if (step < parts)
        return step;
    uint64_t shift = (step >> bits) - 1;
    return shift + bits > 63 ? UINT64_MAX : (parts + step % parts) << shift;
}

/* Where a value is counted. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_fine_add_slowly(struct probity_fine *fine, unsigned page, unsigned part,
                            uint64_t count);

static inline unsigned probity_fine_page(uint64_t value)
{
    /* The bit below makes one octave of all that the first page holds. */
    unsigned octave = 63 - (unsigned)__builtin_clzll(value | 1 << (PROBITY_FINE_BITS - 1));

    return octave - (PROBITY_FINE_BITS - 1);
}

static inline unsigned probity_fine_part(uint64_t value, unsigned page)
{
    return (unsigned)(value >> (page > 0 ? page - 1 : 0)) & (PROBITY_FINE_PARTS - 1);
}

/* Likewise. */
static inline int probity_fine_add(struct probity_fine *fine, uint64_t value)
{
    unsigned page = probity_fine_page(value), part = probity_fine_part(value, page);

    if (__builtin_expect(fine->all >> page & 1, 1)) {
        uint32_t *counts = fine->pages[page - fine->first];
        if (__builtin_expect(counts[part] < UINT32_MAX, 1)) {
            counts[part]++;
            fine->count++;
            return 0;
        }
    }
    return probity_fine_add_slowly(fine, page, part, 1);
}

/* Adds a value so many times. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_fine_add_times(struct probity_fine *fine, uint64_t value, uint64_t count);

/* Adds all that another one holds. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_fine_merge(struct probity_fine *to, const struct probity_fine *from);

/* Goes over the buckets that have a count, from the least on: start with *at 0. Returns 1 with the
 * next bucket or 0 behind the last. */
int probity_fine_next(const struct probity_fine *fine, size_t *at,
                      struct probity_fine_bucket *ret_bucket);

/* The value that `per_mille` of 1000 are not above (the nearest rank), to 1/256; 0 of none. The
 * least and the largest value are known to the caller. */
uint64_t probity_fine_quantile(const struct probity_fine *fine, unsigned per_mille, uint64_t min,
                               uint64_t max);

void probity_fine_release(struct probity_fine *fine);

#endif
