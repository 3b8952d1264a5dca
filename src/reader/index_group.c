/* SPDX-License-Identifier: MIT
 *
 * index_group.c: sorts blocks, and finds positions for marks that do not separate blocks out of
 * order: all later blocks of each thread begin after all earlier ones.
 */
#include "reader/index_group.h"

#include <stdlib.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

struct probity_index_group_thread {
    uint64_t least_after, most_before; /* first tick of later blocks, last tick of earlier ones */
    int is_split;
};

int probity_index_group_add(struct probity_index_group *group,
                            const struct probity_index_group_block *block)
{
    void *blocks =
        probity_array_room(group->blocks, sizeof *group->blocks, group->count, &group->capacity);
    if (blocks == NULL)
        return PROBITY_ERROR_MEMORY;
    group->blocks = blocks;
    probity_assert(group->count < group->capacity);
    group->blocks[group->count++] = *block;
    return 0;
}

/* Makes an entry for each thread, with no blocks before or after it. */
static int clear_threads(struct probity_index_group *group)
{
    static const struct probity_index_group_thread none = {UINT64_MAX, 0, 0};

    for (size_t i = 0; i < group->count; i++) {
        uint32_t slot = group->blocks[i].slot;
        if (slot >= group->thread_capacity) {
            void *threads = probity_array_grow(group->threads, sizeof *group->threads, slot,
                                               &group->thread_capacity);
            if (threads == NULL)
                return PROBITY_ERROR_MEMORY;
            group->threads = threads;
        }
        group->threads[slot] = none;
        probity_assert(slot < group->thread_capacity);
    }
    return 0;
}

int probity_index_group_find_splits(struct probity_index_group *group)
{
    struct probity_index_group_block *blocks = group->blocks;
    size_t split = 0;

    if (clear_threads(group) != 0)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = group->count; i-- > 0;) {
        uint64_t *least = &group->threads[blocks[i].slot].least_after;
        blocks[i].least_after = *least;
        if (blocks[i].data.first_tick < *least)
            *least = blocks[i].data.first_tick;
    }
    for (size_t i = 0; i < group->count; i++) {
        struct probity_index_group_thread *thread = &group->threads[blocks[i].slot];
        if (blocks[i].data.last_tick > thread->most_before)
            thread->most_before = blocks[i].data.last_tick;
        split -= (size_t)thread->is_split;
        thread->is_split = thread->most_before > blocks[i].least_after;
        split += (size_t)thread->is_split;
        blocks[i].is_split = split > 0;
        probity_assert(split <= group->count);
    }
    return 0;
}

static int compare_blocks(const void *left, const void *right)
{
    const struct probity_index_group_block *a = left, *b = right;

    if (a->data.first_tick != b->data.first_tick)
        return a->data.first_tick < b->data.first_tick ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

void probity_index_group_sort(struct probity_index_group_block *blocks, size_t count)
{
    if (count > 1)
        qsort(blocks, count, sizeof *blocks, compare_blocks);
}

void probity_index_group_release(struct probity_index_group *group)
{
    free(group->blocks);
    free(group->threads);
    *group = (struct probity_index_group){0};
}
