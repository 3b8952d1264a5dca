/* SPDX-License-Identifier: MIT
 *
 * compare_bound.c: limits the number of blocks. A program whose probes follow each other in any
 * order has a block for every pair of probes, most of which take too little time to be worth a
 * test. A block that is left out stays out in later runs, because its earlier values are gone.
 *
 * Only the hashes of these blocks are kept. There may be millions, and in base/hashtable.h each
 * would take five times the memory, so they have their own table.
 */
#include "answers/diff/compare_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "probity.h"

/* Returns the hash of a block's key, never 0. */
static uint64_t hash_of(const struct probity_compare_item *item)
{
    return probity_hash_text(item->instance, item->name) | 1;
}

static size_t place_of(const struct probity_compare_left *left, uint64_t hash)
{
    size_t place = (size_t)(hash >> 20) & (left->room - 1);

    while (left->hashes[place] != 0 && left->hashes[place] != hash)
        place = (place + 1) & (left->room - 1);
    return place;
}

static int grow(struct probity_compare_left *left)
{
    struct probity_compare_left larger = {.room = left->room > 0 ? 2 * left->room : 1 << 16,
                                          .count = left->count};

    larger.hashes = calloc(larger.room, sizeof *larger.hashes);
    if (larger.hashes == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < left->room; i++) {
        if (left->hashes[i] != 0)
            larger.hashes[place_of(&larger, left->hashes[i])] = left->hashes[i];
    }
    free(left->hashes);
    *left = larger;
    return 0;
}

static int leave_out(struct probity_compare_left *left, const struct probity_compare_item *item)
{
    uint64_t hash = hash_of(item);

    if (2 * left->count >= left->room && grow(left) != 0)
        return PROBITY_ERROR_MEMORY;
    size_t place = place_of(left, hash);
    left->count += left->hashes[place] == 0;
    left->hashes[place] = hash;
    return 0;
}

int probity_compare_is_left(const struct probity_compare_left *left,
                            const struct probity_compare_item *item)
{
    return item->kind == PROBITY_COMPARE_BLOCK && left->count > 0 &&
           left->hashes[place_of(left, hash_of(item))] != 0;
}

/* ---- Selection ---------------------------------------------------------------------------------
 */

struct candidate {
    struct probity_compare_row *row;
    double total;
    size_t place;  /* among the blocks */
    int is_wanted; /* a pattern matches it */
};

static double total_of(const struct probity_compare_row *row)
{
    const struct probity_compare_result *result = &row->results[PROBITY_COMPARE_TOTAL];
    double total = 0;

    for (int side = 0; side < PROBITY_COMPARE_SIDES; side++) {
        for (size_t i = 0; i < result->runs[side]; i++)
            total += isnan(result->values[side][i]) ? 0 : result->values[side][i];
    }
    return total;
}

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    if (a->is_wanted != b->is_wanted)
        return b->is_wanted - a->is_wanted;
    if (a->total < b->total || a->total > b->total)
        return a->total < b->total ? 1 : -1;
    int order = strcmp(a->row->item.name, b->row->item.name);
    return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

/* Separates the blocks from the other rows, which come first and keep their order. */
static void split(struct probity_compare_table *table, const char *const *wanted,
                  struct candidate *ret_blocks)
{
    size_t kept = 0, blocks = 0;

    for (size_t i = 0; i < table->count; i++) {
        struct probity_compare_row *row = table->all[i];
        if (row->item.kind != PROBITY_COMPARE_BLOCK) {
            table->all[kept++] = row;
            continue;
        }
        int is_wanted = wanted != NULL && probity_compare_is_like_any(row, wanted);
        ret_blocks[blocks] = (struct candidate){row, total_of(row), blocks, is_wanted};
        blocks++;
    }
    table->count = kept;
    table->block_count = blocks;
}

int probity_compare_bound(struct probity_compare_table *table, struct probity_compare_left *left,
                          const char *const *wanted, size_t most, size_t times)
{
    int error = 0;

    if (table->block_count <= times * most)
        return 0;
    struct candidate *blocks = calloc(table->block_count, sizeof *blocks);
    if (blocks == NULL)
        return PROBITY_ERROR_MEMORY;
    split(table, wanted, blocks);
    qsort(blocks, table->block_count, sizeof *blocks, compare_candidates);
    for (size_t i = 0; i < table->block_count; i++) {
        if (i < most || error != 0) {
            table->all[table->count++] = blocks[i].row;
            continue;
        }
        error = leave_out(left, &blocks[i].row->item);
        probity_compare_table_forget(table, blocks[i].row);
    }
    table->block_count = table->block_count < most ? table->block_count : most;
    free(blocks);
    return error;
}
