/* SPDX-License-Identifier: MIT
 *
 * sparkline.h: reduces counts of values to the few cells of a one-line chart. All charts in a table
 * share a log scale, whose bounds are also bounds of histogram buckets and of the rows of hist.h:
 * powers of two, or equal parts of them. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_SPARKLINE_H
#define PROBITY_ANALYSIS_SPARKLINE_H

#include <stdint.h>

#include "analysis/histogram.h"

enum { PROBITY_SPARKLINE_CELLS = 16, PROBITY_SPARKLINE_BITS_MAX = 3 };

/* A power of two has 2^bits steps; each cell takes `each` of them. */
struct probity_sparkline {
    unsigned bits, each;
    uint64_t first; /* the first step of the scale */
};

/* Returns the finest scale that covers both values. */
struct probity_sparkline probity_sparkline_of(uint64_t least, uint64_t most);

/* Returns the lower bound of a cell; for the cell after the last, the end of the scale, or
 * UINT64_MAX if no value is beyond it. */
uint64_t probity_sparkline_least(const struct probity_sparkline *spread, unsigned cell);

void probity_sparkline_count(const struct probity_sparkline *spread,
                             const struct probity_histogram *fine,
                             uint64_t ret_counts[PROBITY_SPARKLINE_CELLS]);

#endif
