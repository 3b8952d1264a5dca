/* SPDX-License-Identifier: MIT
 *
 * same_function.h: one item for all declarations of a function that are alike to a user: those of a
 * header that several files include, and those of several traces. Memory: functions. Prints
 * nothing.
 */
#ifndef PROBITY_ANALYSIS_SAME_FUNCTION_H
#define PROBITY_ANALYSIS_SAME_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* A function as scopes tell it. */
struct probity_function_key {
    const struct probity_function *function; /* NULL: its declaration is lost */
    uint32_t trace, number;                  /* site number of its enter */
};

/* Below, equal to and above 0, by all that tells functions apart for a user: their texts, and of
 * lost declarations trace and number. */
int probity_function_compare(const struct probity_function_key *left,
                             const struct probity_function_key *right);

/* First member of what a set holds; stays where it is until the set is released. */
struct probity_same_function {
    struct probity_function_key key; /* any of the declarations */
    uint64_t hash;
    struct probity_same_function *next; /* all of a set, newest first */
};

/* Zeroed but for item_bytes: an empty set. */
struct probity_same_functions {
    size_t item_bytes; /* of an item, which begins with struct probity_same_function */
    size_t count, capacity;
    struct probity_same_function **places; /* a hash table with open addressing */
    struct probity_same_function *items;
};

/* Finds or adds; what is added is zeroed behind its first member. NULL without memory. */
struct probity_same_function *probity_same_function_at(struct probity_same_functions *set,
                                                       const struct probity_function_key *key);

/* Frees the items themselves. */
void probity_same_functions_release(struct probity_same_functions *set);

#endif
