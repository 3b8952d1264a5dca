/* SPDX-License-Identifier: MIT
 *
 * same_function.h: combines declarations of a function that look the same to a user, such as those
 * of a header included by several files or those of several traces, into one item. Memory:
 * functions. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_SAME_FUNCTION_H
#define PROBITY_ANALYSIS_SAME_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/hashtable.h"
#include "reader/reader.h"

/* What identifies a function for scopes. */
struct probity_function_key {
    const struct probity_function *function; /* NULL if its declaration was lost */
    uint32_t trace, number;                  /* number of its enter site */
};

/* Compares what distinguishes functions for a user: their texts or, for lost declarations, trace
 * and number. Returns the same as strcmp(). */
int probity_function_compare(const struct probity_function_key *left,
                             const struct probity_function_key *right);

/* First member of a set's items. Its address is stable until the set is released. */
struct probity_same_function {
    struct probity_link link;
    struct probity_function_key key; /* any one of the declarations */
    struct probity_same_function *next; /* all items of a set, newest first */
};

/* All zero except item_bytes: an empty set. */
struct probity_same_functions {
    size_t item_bytes; /* size of an item, which begins with struct probity_same_function */
    struct probity_hashtable table;
    struct probity_same_function *items;
};

/* Finds or adds a function; a new item is zero after its first member. Returns NULL if out of
 * memory. */
struct probity_same_function *probity_same_function_at(struct probity_same_functions *set,
                                                       const struct probity_function_key *key);

/* Frees the items. */
void probity_same_functions_release(struct probity_same_functions *set);

#endif
