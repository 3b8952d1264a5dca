/* SPDX-License-Identifier: MIT
 *
 * blocks_cost.h: blocks less what recording adds to them.
 */
#ifndef PROBITY_ANALYSIS_BLOCKS_COST_H
#define PROBITY_ANALYSIS_BLOCKS_COST_H

#include "analysis/blocks.h"
#include "analysis/correction.h"

/* All wall time of a pair's blocks, each less one hit: its time reaches from within a hit to within
 * the next. What else is recorded in between stays in it. Where a block was long, a reading of the
 * CPU clock may be in it. Returns 1, or 0 where a trace does not know what a hit costs. */
int probity_blocks_corrected(const struct probity_blocks_pair *pair,
                             const struct probity_reader *reader,
                             struct probity_corrected *ret_corrected);

#endif
