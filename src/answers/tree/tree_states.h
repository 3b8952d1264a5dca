/* SPDX-License-Identifier: MIT
 *
 * tree_states.h: iterates over a call tree together with the trees of times in other states, which
 * have the same nodes in the same order.
 */
#ifndef PROBITY_ANSWERS_TREE_TREE_STATES_H
#define PROBITY_ANSWERS_TREE_TREE_STATES_H

#include "analysis/thread_states.h"
#include "answers/tree/tree_print.h"
#include "print/columns.h"

/* A node, and the same node in the other trees (NULL without states). All zero: before the
 * first. */
struct probity_tree_at {
    const struct probity_tree_node *node, *waiting, *unknown;
    size_t depth, waiting_depth, unknown_depth;
};

/* Advances to the next node in preorder. Returns it, or NULL after the last one. */
const struct probity_tree_node *probity_tree_step(const struct probity_tree_answer *answer,
                                                  struct probity_tree_at *at);

/* Returns the total or self time of a node, split by state. */
struct probity_thread_split probity_tree_split(const struct probity_tree_at *at, int is_self);

/* "total_running_ns" ... "self_unknown_ns"; each row is a struct probity_tree_at. */
enum { PROBITY_TREE_STATES_COLUMNS = 8 };
extern const struct probity_column probity_tree_states_columns[PROBITY_TREE_STATES_COLUMNS];

#endif
