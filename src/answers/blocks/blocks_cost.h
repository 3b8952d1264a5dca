/* SPDX-License-Identifier: MIT
 *
 * blocks_cost.h: blocks without the time that recording adds.
 */
#ifndef PROBITY_ANSWERS_BLOCKS_BLOCKS_COST_H
#define PROBITY_ANSWERS_BLOCKS_BLOCKS_COST_H

#include "analysis/correction.h"
#include "answers/blocks/blocks.h"

/* The wall time of all blocks of a pair, minus the cost of one hit for each, because a block
 * extends from within one hit to within the next. Other records in between are not subtracted;
 * readings of the CPU clock in long blocks are. Returns 1, or 0 if a trace lacks the cost of a
 * hit. */
int probity_blocks_corrected(const struct probity_blocks_pair *pair,
                             const struct probity_reader *reader,
                             struct probity_corrected *ret_corrected);

#endif
