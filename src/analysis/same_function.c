/* SPDX-License-Identifier: MIT
 *
 * same_function.c: a hash table of functions by their texts, searched once per declaration and
 * thread rather than per call.
 */
#include "analysis/same_function.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "probity.h"

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

int probity_function_compare(const struct probity_function_key *left,
                             const struct probity_function_key *right)
{
    const struct probity_function *a = left->function, *b = right->function;
    int order;

    if (a == NULL || b == NULL) {
        order = (a == NULL) - (b == NULL);
        order = order != 0 ? order : compare_numbers(left->trace, right->trace);
        return order != 0 ? order : compare_numbers(left->number, right->number);
    }
    if (a == b)
        return 0;
    order = strcmp(a->name, b->name);
    order = order != 0 ? order : strcmp(a->signature, b->signature);
    order = order != 0 ? order : strcmp(a->file, b->file);
    order = order != 0 ? order : compare_numbers(a->line, b->line);
    return order != 0 ? order : strcmp(a->object, b->object);
}

/* Hashes everything that is compared, because thousands of functions may share a name. */
static uint64_t hash_of(const struct probity_function_key *key)
{
    const struct probity_function *function = key->function;

    if (function == NULL)
        return probity_hash((uint64_t)key->trace << 32 | key->number);
    uint64_t hash = probity_hash_text(function->line, function->name);
    hash = probity_hash_text(hash, function->signature);
    hash = probity_hash_text(hash, function->file);
    return probity_hash_text(hash, function->object);
}

struct probity_same_function *probity_same_function_at(struct probity_same_functions *set,
                                                       const struct probity_function_key *key)
{
    uint64_t hash = hash_of(key);
    struct probity_same_function *item = probity_hashtable_at(&set->table, hash);

    while (item != NULL &&
           (item->link.hash != hash || probity_function_compare(&item->key, key) != 0))
        item = (struct probity_same_function *)item->link.next;
    if (item != NULL)
        return item;
    item = calloc(1, set->item_bytes);
    if (item == NULL || probity_hashtable_add(&set->table, item, hash) != 0) {
        free(item);
        return NULL;
    }
    item->key = *key;
    item->next = set->items;
    set->items = item;
    return item;
}

void probity_same_functions_release(struct probity_same_functions *set)
{
    struct probity_same_function *item;

    while ((item = set->items) != NULL) {
        set->items = item->next;
        free(item);
    }
    probity_hashtable_release(&set->table);
}
