/* SPDX-License-Identifier: MIT
 *
 * hashtable.h: a hash table of items that begin with their link. There are at least as many chains
 * as items, so the cost of a lookup does not depend on the number of items.
 */
#ifndef PROBITY_BASE_HASHTABLE_H
#define PROBITY_BASE_HASHTABLE_H

#include <stddef.h>
#include <stdint.h>

/* First member of an item. */
struct probity_link {
    struct probity_link *next; /* next item in the chain */
    uint64_t hash;
};

/* All zero: empty. The caller owns the items. */
struct probity_hashtable {
    struct probity_link **first; /* by hash */
    size_t chains;               /* a power of two, or 0 */
    size_t items;
};

/* Returns the chain that would hold an item with this hash. */
static inline void *probity_hashtable_at(const struct probity_hashtable *table, uint64_t hash)
{
    return table->chains != 0 ? table->first[hash & (table->chains - 1)] : NULL;
}

/* Whether the number of chains is a power of two, or 0 if there are none. */
static inline int probity_hashtable_is_valid(const struct probity_hashtable *table)
{
    return (table->chains & (table->chains - 1)) == 0 &&
           (table->chains == 0) == (table->first == NULL);
}

/* Inserts an item at the head of its chain. Returns 0, or PROBITY_ERROR_MEMORY if it was not
 * inserted. */
int probity_hashtable_add(struct probity_hashtable *table, void *item, uint64_t hash);

/* Removes an item that is in the table. */
void probity_hashtable_remove(struct probity_hashtable *table, const void *item);

/* Iterates over all items, in no particular order: the one after `item`, or the first for NULL.
 * Returns NULL after the last. The table must not change meanwhile. */
void *probity_hashtable_next(const struct probity_hashtable *table, const void *item);

/* Releases the chains; the caller frees the items. */
void probity_hashtable_release(struct probity_hashtable *table);

/* Removes any item. Returns NULL if the table is empty: it then uses no memory. */
void *probity_hashtable_take(struct probity_hashtable *table);

#endif
