/* SPDX-License-Identifier: MIT
 *
 * inflight.c: a hash table with chains, whose items also form an LRU list. Items come from slabs
 * and return to a free list.
 */
#include "analysis/inflight.h"

#include <stdlib.h>

#include "base/hash.h"

enum { SLAB_ITEMS = 256, CHAINS_FIRST = 1024 };

struct probity_inflight_slab {
    struct probity_inflight_slab *next;
    struct probity_inflight_item items[SLAB_ITEMS];
};

static size_t hash_of(const struct probity_inflight_key *key)
{
    uint64_t hash = probity_hash(key->correlation);

    hash = probity_hash(hash ^ key->object);
    return (size_t)probity_hash(hash ^ key->trace ^ (uint64_t)key->kind << 32);
}

static int is_same(const struct probity_inflight_key *a, const struct probity_inflight_key *b)
{
    return a->correlation == b->correlation && a->object == b->object && a->trace == b->trace &&
           a->kind == b->kind;
}

struct probity_inflight_item *probity_inflight_find(const struct probity_inflight *ids,
                                                    const struct probity_inflight_key *key)
{
    if (ids->count == 0)
        return NULL;
    struct probity_inflight_item *item = ids->chains[hash_of(key) & (ids->chain_count - 1)];
    while (item != NULL && !is_same(&item->key, key))
        item = item->chain;
    return item;
}

struct probity_inflight_item *probity_inflight_surplus(const struct probity_inflight *ids)
{
    return ids->count >= PROBITY_INFLIGHT_MAX ? ids->oldest : NULL;
}

/* Keeps as many chains as items. */
static int grow(struct probity_inflight *ids)
{
    size_t count = ids->chain_count > 0 ? 2 * ids->chain_count : CHAINS_FIRST;
    struct probity_inflight_item **chains = calloc(count, sizeof *chains);

    if (chains == NULL)
        return -1;
    for (struct probity_inflight_item *item = ids->oldest; item != NULL; item = item->newer) {
        struct probity_inflight_item **chain = &chains[hash_of(&item->key) & (count - 1)];
        item->chain = *chain;
        *chain = item;
    }
    free(ids->chains);
    ids->chains = chains;
    ids->chain_count = count;
    return 0;
}

static struct probity_inflight_item *take_free(struct probity_inflight *ids)
{
    if (ids->free == NULL) {
        struct probity_inflight_slab *slab = malloc(sizeof *slab);
        if (slab == NULL)
            return NULL;
        slab->next = ids->slabs;
        ids->slabs = slab;
        for (size_t i = 0; i < SLAB_ITEMS; i++) {
            slab->items[i].newer = ids->free;
            ids->free = &slab->items[i];
        }
    }
    struct probity_inflight_item *item = ids->free;
    ids->free = item->newer;
    return item;
}

static void link_newest(struct probity_inflight *ids, struct probity_inflight_item *item)
{
    item->older = ids->newest;
    item->newer = NULL;
    if (ids->newest != NULL)
        ids->newest->newer = item;
    else
        ids->oldest = item;
    ids->newest = item;
}

static void unlink_item(struct probity_inflight *ids, struct probity_inflight_item *item)
{
    if (item->older != NULL)
        item->older->newer = item->newer;
    else
        ids->oldest = item->newer;
    if (item->newer != NULL)
        item->newer->older = item->older;
    else
        ids->newest = item->older;
}

struct probity_inflight_item *probity_inflight_add(struct probity_inflight *ids,
                                                   const struct probity_inflight_key *key)
{
    if (ids->count >= ids->chain_count && grow(ids) != 0)
        return NULL;
    struct probity_inflight_item *item = take_free(ids);
    if (item == NULL)
        return NULL;
    struct probity_inflight_item **chain = &ids->chains[hash_of(key) & (ids->chain_count - 1)];
    *item = (struct probity_inflight_item){.key = *key, .chain = *chain};
    *chain = item;
    link_newest(ids, item);
    ids->count++;
    return item;
}

void probity_inflight_touch(struct probity_inflight *ids, struct probity_inflight_item *item)
{
    if (item == ids->newest)
        return;
    unlink_item(ids, item);
    link_newest(ids, item);
}

void probity_inflight_remove(struct probity_inflight *ids, struct probity_inflight_item *item)
{
    struct probity_inflight_item **place =
        &ids->chains[hash_of(&item->key) & (ids->chain_count - 1)];

    while (*place != item)
        place = &(*place)->chain;
    *place = item->chain;
    unlink_item(ids, item);
    item->newer = ids->free;
    ids->free = item;
    ids->count--;
}

void probity_inflight_release(struct probity_inflight *ids)
{
    while (ids->slabs != NULL) {
        struct probity_inflight_slab *next = ids->slabs->next;
        free(ids->slabs);
        ids->slabs = next;
    }
    free(ids->chains);
    *ids = (struct probity_inflight){.count = 0};
}
