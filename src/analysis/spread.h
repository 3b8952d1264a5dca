/* SPDX-License-Identifier: MIT
 *
 * spread.h: counts of values to the few cells of a picture in one line. All pictures beside each
 * other have one log scale, whose bounds are bounds of fine buckets and of the rows of hist.h:
 * powers of two, or even parts of what lies between them. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_SPREAD_H
#define PROBITY_ANALYSIS_SPREAD_H

#include <stdint.h>

#include "analysis/fine.h"

enum { PROBITY_SPREAD_CELLS = 16, PROBITY_SPREAD_BITS_MAX = 3 };

/* A power of two has 2^bits steps; a cell, `each` of them. */
struct probity_spread {
    unsigned bits, each;
    uint64_t first; /* the step in which the scale begins */
};

/* The finest scale that has a cell for both. */
struct probity_spread probity_spread_of(uint64_t least, uint64_t most);

/* The least value of a cell; of the one behind the last, of all that is beyond: UINT64_MAX where
 * there is none. */
uint64_t probity_spread_least(const struct probity_spread *spread, unsigned cell);

void probity_spread_count(const struct probity_spread *spread, const struct probity_fine *fine,
                          uint64_t ret_counts[PROBITY_SPREAD_CELLS]);

#endif
