/* SPDX-License-Identifier: MIT
 *
 * fine.h: counts of times in buckets that are less than 1 % wide, for percentiles. Below 256 ns
 * each nanosecond has a bucket; above, each power of two has 128 of equal width, so that the middle
 * of a bucket is within 1/256 of what was counted there. After HdrHistogram (Gil Tene,
 * hdrhistogram.org). Powers of two where nothing was counted take no memory: the usual histogram
 * takes a few KiB.
 */
#ifndef PROBITY_ANALYSIS_FINE_H
#define PROBITY_ANALYSIS_FINE_H

#include <stddef.h>
#include <stdint.h>

enum { PROBITY_FINE_BITS = 7, PROBITY_FINE_PAGES = 64 - PROBITY_FINE_BITS + 1 };

/* All zero: empty. A page is a power of two; the first holds all that is below 128. */
struct probity_fine {
    uint64_t *pages[PROBITY_FINE_PAGES];
    uint64_t count;
};

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_fine_page_make(struct probity_fine *fine, unsigned page);

/* Likewise. */
static inline int probity_fine_add(struct probity_fine *fine, uint64_t value)
{
    /* The bit below makes one octave of all that the first page holds. */
    unsigned octave = 63 - (unsigned)__builtin_clzll(value | 1 << (PROBITY_FINE_BITS - 1));
    unsigned page = octave - (PROBITY_FINE_BITS - 1);
    unsigned shift = page > 0 ? page - 1 : 0;

    if (__builtin_expect(fine->pages[page] == NULL, 0)) {
        int error = probity_fine_page_make(fine, page);
        if (error != 0)
            return error;
    }
    fine->pages[page][value >> shift & ((1 << PROBITY_FINE_BITS) - 1)]++;
    fine->count++;
    return 0;
}

/* The value that `per_mille` of 1000 are not above (the nearest rank), to 1/256; 0 of none. */
uint64_t probity_fine_quantile(const struct probity_fine *fine, unsigned per_mille);

void probity_fine_release(struct probity_fine *fine);

#endif
