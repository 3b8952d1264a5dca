/* SPDX-License-Identifier: MIT
 *
 * sparkline.h: reduces counts of values to the few cells of a one-line picture. Pictures of a table
 * share one log scale, whose bounds coincide with bounds of histogram buckets and of the rows of
 * hist.h: powers of two, or equal parts between them. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_SPARKLINE_H
#define PROBITY_ANALYSIS_SPARKLINE_H

#include <stdint.h>

#include "analysis/histogram.h"

enum { PROBITY_SPARKLINE_CELLS = 16, PROBITY_SPARKLINE_BITS_MAX = 3 };

/* A power of two has 2^bits steps; a cell has `each` of them. */
struct probity_sparkline {
    unsigned bits, each;
    uint64_t first; /* the step at which the scale begins */
};

/* The finest scale that includes both values. */
struct probity_sparkline probity_sparkline_of(uint64_t least, uint64_t most);

/* The lower bound of a cell; for the cell after the last, the end of the scale, UINT64_MAX if there
 * are no values beyond it. */
uint64_t probity_sparkline_least(const struct probity_sparkline *spread, unsigned cell);

void probity_sparkline_count(const struct probity_sparkline *spread,
                             const struct probity_histogram *fine,
                             uint64_t ret_counts[PROBITY_SPARKLINE_CELLS]);

#endif
