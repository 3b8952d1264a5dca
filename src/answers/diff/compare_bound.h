/* SPDX-License-Identifier: MIT
 *
 * compare_bound.h: limits the number of blocks in a comparison.
 */
#ifndef PROBITY_ANSWERS_DIFF_COMPARE_BOUND_H
#define PROBITY_ANSWERS_DIFF_COMPARE_BOUND_H

#include "answers/diff/compare_table.h"

/* The blocks that were left out, as a set of hashes of their keys. */
struct probity_compare_left {
    uint64_t *hashes; /* open addressing, at most half full; 0: free */
    size_t count, room;
};

/* Whether a block has been left out. */
int probity_compare_is_left(const struct probity_compare_left *left,
                            const struct probity_compare_item *item);

/* If there are more than `times` * `most` blocks, leaves out all but `most` of them: those that
 * took the least time in all runs so far. wanted: patterns of blocks to keep before others; NULL:
 * none. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_compare_bound(struct probity_compare_table *table, struct probity_compare_left *left,
                          const char *const *wanted, size_t most, size_t times);

#endif
