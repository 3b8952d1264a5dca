/* SPDX-License-Identifier: MIT
 *
 * inflight.c: a hash table whose items also form an LRU list. Items come from slabs
 * and return to a free list.
 */
#include "analysis/inflight.h"

#include <stdlib.h>

#include "base/hash.h"

enum { SLAB_ITEMS = 256 };

struct probity_inflight_slab {
    struct probity_inflight_slab *next;
    struct probity_inflight_item items[SLAB_ITEMS];
};

static uint64_t hash_of(const struct probity_inflight_key *key)
{
    uint64_t hash = probity_hash(key->correlation);

    hash = probity_hash(hash ^ key->object);
    return probity_hash(hash ^ key->trace ^ (uint64_t)key->kind << 32);
}

static int is_same(const struct probity_inflight_key *a, const struct probity_inflight_key *b)
{
    return a->correlation == b->correlation && a->object == b->object && a->trace == b->trace &&
           a->kind == b->kind;
}

struct probity_inflight_item *probity_inflight_find(const struct probity_inflight *ids,
                                                    const struct probity_inflight_key *key)
{
    struct probity_inflight_item *item = probity_hashtable_at(&ids->table, hash_of(key));

    while (item != NULL && !is_same(&item->key, key))
        item = (void *)item->link.next;
    return item;
}

struct probity_inflight_item *probity_inflight_surplus(const struct probity_inflight *ids)
{
    return ids->table.items >= PROBITY_INFLIGHT_MAX ? ids->oldest : NULL;
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

static void give_back(struct probity_inflight *ids, struct probity_inflight_item *item)
{
    item->newer = ids->free;
    ids->free = item;
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
    struct probity_inflight_item *item = take_free(ids);

    if (item == NULL)
        return NULL;
    *item = (struct probity_inflight_item){.key = *key};
    if (probity_hashtable_add(&ids->table, item, hash_of(key)) != 0) {
        give_back(ids, item);
        return NULL;
    }
    link_newest(ids, item);
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
    probity_hashtable_remove(&ids->table, item);
    unlink_item(ids, item);
    give_back(ids, item);
}

void probity_inflight_forget(struct probity_inflight *ids, uint32_t trace)
{
    struct probity_inflight_item *item = ids->oldest;

    while (item != NULL) {
        struct probity_inflight_item *newer = item->newer;
        if (item->key.trace == trace)
            probity_inflight_remove(ids, item);
        item = newer;
    }
}

void probity_inflight_release(struct probity_inflight *ids)
{
    while (ids->slabs != NULL) {
        struct probity_inflight_slab *next = ids->slabs->next;
        free(ids->slabs);
        ids->slabs = next;
    }
    probity_hashtable_release(&ids->table);
    *ids = (struct probity_inflight){.forgotten = 0};
}
