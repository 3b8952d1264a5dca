/* SPDX-License-Identifier: MIT
 *
 * export_names.h: caches a text or number that an exporter computes once per function, probe or
 * site.
 */
#ifndef PROBITY_EXPORTS_EXPORT_NAMES_H
#define PROBITY_EXPORTS_EXPORT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/same_function.h"
#include "analysis/scopes.h"
#include "base/hash.h"
#include "base/hashtable.h"
#include "reader/reader.h"

struct export_name {
    struct probity_link link;
    uint64_t key;
    uint32_t number; /* from 0, in order of appearance */
    uint32_t bytes;
    char *text;      /* belongs to the exporter, freed with free(); NULL: just added */
};

struct export_names {
    struct probity_hashtable table;
};

/* Returns the key of a function: the address of its declaration, if there is one. In addresses, the
 * highest bits are never set. */
static inline uint64_t export_key_of_function(const struct probity_function *function,
                                              uint32_t trace, uint32_t number)
{
    return function != NULL ? (uint64_t)(uintptr_t)function
                            : UINT64_C(1) << 63 | (uint64_t)trace << 32 | number;
}

/* Returns the key of a hit. Probes have the same numbers in all traces, but may have different
 * names in each. */
static inline uint64_t export_key_of_hit(const struct probity_event *event)
{
    return UINT64_C(1) << 62 | (uint64_t)event->is_site << 61 | (uint64_t)event->trace << 32 |
           event->id;
}

/* Returns NULL if there is none. */
static inline struct export_name *export_names_find(const struct export_names *names, uint64_t key)
{
    struct export_name *name = probity_hashtable_at(&names->table, probity_hash(key));

    while (name != NULL && name->key != key)
        name = (struct export_name *)name->link.next;
    return name;
}

/* Adds a name that is not there yet. Returns NULL if out of memory. */
struct export_name *export_names_add(struct export_names *names, uint64_t key);

/* Finds or adds a name. Returns NULL if out of memory. */
static inline struct export_name *export_names_at(struct export_names *names, uint64_t key)
{
    struct export_name *name = export_names_find(names, key);

    return __builtin_expect(name != NULL, 1) ? name : export_names_add(names, key);
}

void export_names_release(struct export_names *names);

/* An element of a set of functions: declarations that a user cannot distinguish are one function
 * with one number, from 0. */
struct export_function {
    struct probity_same_function same; /* must be first */
    uint32_t number;
};

/* Finds or adds a function. Returns NULL if out of memory. */
struct export_function *export_function_add(struct probity_same_functions *set,
                                            const struct probity_function_key *key,
                                            int *ret_is_new);

/* The same for the function of a scope, which caches it. */
static inline struct export_function *export_function_at(struct probity_same_functions *set,
                                                         const struct probity_scope *scope,
                                                         int *ret_is_new)
{
    const struct probity_function_key key = {scope->function, scope->trace, scope->number};

    *ret_is_new = 0;
    if (__builtin_expect(*scope->of_function == NULL, 0))
        *scope->of_function = export_function_add(set, &key, ret_is_new);
    return *scope->of_function;
}

#endif
