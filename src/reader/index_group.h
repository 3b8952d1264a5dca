/* SPDX-License-Identifier: MIT
 *
 * index_group.h: the DATA blocks between two SYNCs of a trace. One drain of the spool may write a
 * thread's newest block before an older one; an index processes them in order of time.
 */
#ifndef PROBITY_READER_INDEX_GROUP_H
#define PROBITY_READER_INDEX_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"

struct probity_index_group_block {
    uint64_t offset, serial, bytes;
    struct probity_data data;
    uint64_t least_after; /* first tick of the thread's later blocks in the group */
    uint32_t slot;        /* dense number of the thread */
    int is_split; /* a mark before the next block would separate blocks that are out of order */
};

/* All zero: empty. */
struct probity_index_group {
    struct probity_index_group_block *blocks;
    size_t count, capacity;
    struct probity_index_group_thread *threads; /* by slot */
    uint32_t thread_capacity;
};

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_index_group_add(struct probity_index_group *group,
                            const struct probity_index_group_block *block);

/* Finds the positions at which no mark is possible. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_index_group_find_splits(struct probity_index_group *group);

/* Sorts some of the blocks by time. */
void probity_index_group_sort(struct probity_index_group_block *blocks, size_t count);

void probity_index_group_release(struct probity_index_group *group);

#endif
