/* SPDX-License-Identifier: MIT
 *
 * tree_nodes.h: the nodes of a call tree, and the hash table that finds a child. tree.c fills them
 * from scopes, tree_view.c from another tree.
 */
#ifndef PROBITY_ANSWERS_TREE_TREE_NODES_H
#define PROBITY_ANSWERS_TREE_TREE_NODES_H

#include "answers/tree/tree.h"

struct tree_chunk; /* holds several nodes */

struct probity_tree_nodes {
    struct probity_tree_node root;
    struct tree_chunk *chunks; /* newest first */
    struct probity_hashtable table; /* by parent and function; the root is not in it */
    size_t count, chunk_used;
};

/* Finds or adds a child. Returns NULL if out of memory. */
struct probity_tree_node *probity_tree_child(struct probity_tree_nodes *nodes,
                                             struct probity_tree_node *parent,
                                             const struct probity_same_function *function,
                                             const struct probity_thread_label *thread);

/* Finds a child; returns NULL if there is none. */
struct probity_tree_node *probity_tree_find(const struct probity_tree_nodes *nodes,
                                            const struct probity_tree_node *parent,
                                            const void *key);

void probity_tree_sums_add(struct probity_tree_sums *to, const struct probity_tree_sums *from);

/* Removes nodes whose subtrees have no calls, and computes the sums of the nodes above the
 * outermost functions. */
void probity_tree_tidy(struct probity_tree_nodes *nodes);

void probity_tree_nodes_release(struct probity_tree_nodes *nodes);

#endif
