/* SPDX-License-Identifier: MIT
 *
 * chains.h: a hash table of items that begin with their link. There are at least as many chains as
 * items, so that a look-up costs the same however many different things a trace holds.
 */
#ifndef PROBITY_BASE_CHAINS_H
#define PROBITY_BASE_CHAINS_H

#include <stddef.h>
#include <stdint.h>

/* First member of an item. */
struct probity_link {
    struct probity_link *next; /* of its chain */
    uint64_t hash;
};

/* All zero: empty. Items are their user's: whoever ends a table takes each out and frees it. */
struct probity_chains {
    struct probity_link **first; /* by hash */
    size_t chains;               /* a power of two, or 0 */
    size_t items;
};

/* The chain in which an item of this hash is, if it is there. */
static inline void *probity_chains_at(const struct probity_chains *table, uint64_t hash)
{
    return table->chains != 0 ? table->first[hash & (table->chains - 1)] : NULL;
}

/* Puts an item in front of its chain. Returns 0 or PROBITY_ERROR_MEMORY, and then did not. */
int probity_chains_add(struct probity_chains *table, void *item, uint64_t hash);

/* Takes out any item; NULL from an empty table, which then holds no memory. */
void *probity_chains_take(struct probity_chains *table);

#endif
