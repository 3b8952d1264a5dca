/* SPDX-License-Identifier: MIT
 *
 * same_function.h: one item for all declarations of a function that a user cannot distinguish: from
 * a header that several files include, or from several traces. Memory: functions. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_SAME_FUNCTION_H
#define PROBITY_ANALYSIS_SAME_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* A function as identified by scopes. */
struct probity_function_key {
    const struct probity_function *function; /* NULL: declaration lost */
    uint32_t trace, number;                  /* site number of its enter */
};

/* Compares everything that distinguishes functions for a user: their texts and, for lost
 * declarations, trace and number. Returns as strcmp(). */
int probity_function_compare(const struct probity_function_key *left,
                             const struct probity_function_key *right);

/* First member of a set's items; its address is stable until the set is released. */
struct probity_same_function {
    struct probity_function_key key; /* any of the declarations */
    uint64_t hash;
    struct probity_same_function *next; /* all of a set, newest first */
};

/* Zeroed except item_bytes: an empty set. */
struct probity_same_functions {
    size_t item_bytes; /* of an item, which begins with struct probity_same_function */
    size_t count, capacity;
    struct probity_same_function **places; /* a hash table with open addressing */
    struct probity_same_function *items;
};

/* Finds or adds; a new item is zeroed after its first member. NULL if out of memory. */
struct probity_same_function *probity_same_function_at(struct probity_same_functions *set,
                                                       const struct probity_function_key *key);

/* Frees the items. */
void probity_same_functions_release(struct probity_same_functions *set);

#endif
