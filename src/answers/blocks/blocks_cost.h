/* SPDX-License-Identifier: MIT
 *
 * blocks_cost.h: blocks without the time that recording adds to them.
 */
#ifndef PROBITY_ANSWERS_BLOCKS_BLOCKS_COST_H
#define PROBITY_ANSWERS_BLOCKS_BLOCKS_COST_H

#include "analysis/correction.h"
#include "answers/blocks/blocks.h"

/* Wall time of all blocks of a pair, less one hit each: a block extends from within a hit to
 * within the next. The cost of other records in between is not subtracted. For long blocks, a
 * reading of the CPU clock is subtracted too. Returns 1, or 0 if a trace does not contain the
 * cost of a hit. */
int probity_blocks_corrected(const struct probity_blocks_pair *pair,
                             const struct probity_reader *reader,
                             struct probity_corrected *ret_corrected);

#endif
