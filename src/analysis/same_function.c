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

static size_t place_of(const struct probity_same_functions *set, uint64_t hash,
                       const struct probity_function_key *key)
{
    size_t mask = set->capacity - 1, place = (size_t)hash & mask;

    while (set->places[place] != NULL &&
           (set->places[place]->hash != hash ||
            probity_function_compare(&set->places[place]->key, key) != 0))
        place = (place + 1) & mask;
    return place;
}

static int grow(struct probity_same_functions *set)
{
    size_t capacity = set->capacity > 0 ? 2 * set->capacity : 64;
    struct probity_same_function **places = calloc(capacity, sizeof *places);

    if (places == NULL)
        return PROBITY_ERROR_MEMORY;
    free(set->places);
    set->places = places;
    set->capacity = capacity;
    for (struct probity_same_function *item = set->items; item != NULL; item = item->next)
        places[place_of(set, item->hash, &item->key)] = item;
    return 0;
}

struct probity_same_function *probity_same_function_at(struct probity_same_functions *set,
                                                       const struct probity_function_key *key)
{
    uint64_t hash = hash_of(key);

    if (2 * set->count >= set->capacity && grow(set) != 0)
        return NULL;
    struct probity_same_function **place = &set->places[place_of(set, hash, key)];
    if (*place != NULL)
        return *place;
    struct probity_same_function *item = calloc(1, set->item_bytes);
    if (item == NULL)
        return NULL;
    *item = (struct probity_same_function){*key, hash, set->items};
    set->items = item;
    set->count++;
    *place = item;
    return item;
}

void probity_same_functions_release(struct probity_same_functions *set)
{
    struct probity_same_function *item;

    while ((item = set->items) != NULL) {
        set->items = item->next;
        free(item);
    }
    free(set->places);
}
