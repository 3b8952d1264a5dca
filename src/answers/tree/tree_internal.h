/* SPDX-License-Identifier: MIT
 *
 * tree_internal.h: the state of a call tree, for its implementation files.
 */
#ifndef PROBITY_ANSWERS_TREE_TREE_INTERNAL_H
#define PROBITY_ANSWERS_TREE_TREE_INTERNAL_H

#include "answers/tree/tree_nodes.h"

struct tree_thread;

struct probity_tree {
    struct probity_tree_options options;
    const struct probity_scopes *scopes;
    struct probity_scopes *own_scopes; /* NULL: uses those of another analysis */
    struct probity_same_functions functions;
    struct probity_tree_nodes nodes;
    struct tree_thread **threads; /* by slot; NULL: not seen yet */
    uint32_t thread_count;
    struct probity_scopes_repairs repairs; /* those of added trees; after finish: all */
    uint64_t lost;
    size_t nodes_seen;
    struct probity_scopes_listener listener;
    int error; /* set by a listener, which cannot return errors */
};

/* Closes open scopes, at the last record of their thread. */
void probity_tree_close_scopes(struct probity_tree *tree);

#endif
