/* SPDX-License-Identifier: MIT
 *
 * hashtable.c: doubles the number of chains when there are as many items as chains. If out of
 * memory, chains get longer.
 */
#include "base/hashtable.h"

#include <stdlib.h>

#include "base/assert.h"
#include "probity.h"

enum { CHAINS_FIRST = 16 };

static void put(struct probity_link **first, size_t chains, struct probity_link *link)
{
    struct probity_link **chain = &first[link->hash & (chains - 1)];

    probity_assert((chains & (chains - 1)) == 0 && chains > 0);
    link->next = *chain;
    *chain = link;
}

static void grow(struct probity_hashtable *table)
{
    size_t chains = table->chains != 0 ? 2 * table->chains : CHAINS_FIRST;
    struct probity_link **first = calloc(chains, sizeof *first);

    probity_assert(table->items >= table->chains);
    if (first == NULL)
        return;
    for (size_t chain = 0; chain < table->chains; chain++) {
        for (struct probity_link *link = table->first[chain], *next; link != NULL; link = next) {
            next = link->next;
            put(first, chains, link);
        }
    }
    free(table->first);
    table->first = first;
    table->chains = chains;
}

int probity_hashtable_add(struct probity_hashtable *table, void *item, uint64_t hash)
{
    struct probity_link *link = item;

    probity_assert(item != NULL);
    if (table->items >= table->chains)
        grow(table);
    if (table->chains == 0)
        return PROBITY_ERROR_MEMORY;
    probity_assert(probity_hashtable_is_valid(table));
    link->hash = hash;
    put(table->first, table->chains, link);
    table->items++;
    return 0;
}

void probity_hashtable_remove(struct probity_hashtable *table, const void *item)
{
    const struct probity_link *link = item;
    struct probity_link **at = &table->first[link->hash & (table->chains - 1)];

    probity_assert(table->items > 0 && probity_hashtable_is_valid(table));
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    table->items--;
}

void *probity_hashtable_next(const struct probity_hashtable *table, const void *item)
{
    const struct probity_link *link = item;
    size_t chain = 0;

    if (link != NULL && link->next != NULL)
        return link->next;
    if (link != NULL)
        chain = (link->hash & (table->chains - 1)) + 1;
    while (chain < table->chains && table->first[chain] == NULL)
        chain++;
    return chain < table->chains ? table->first[chain] : NULL;
}

void *probity_hashtable_take(struct probity_hashtable *table)
{
    probity_assert(table->items == 0 || table->chains > 0);
    while (table->items > 0 && table->chains > 0) {
        struct probity_link *link = table->first[table->chains - 1];
        if (link != NULL) {
            table->first[table->chains - 1] = link->next;
            table->items--;
            return link;
        }
        table->chains--;
    }
    probity_hashtable_release(table);
    return NULL;
}

void probity_hashtable_release(struct probity_hashtable *table)
{
    free(table->first);
    *table = (struct probity_hashtable){0};
}
