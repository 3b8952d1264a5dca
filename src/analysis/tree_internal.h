/* SPDX-License-Identifier: MIT
 *
 * tree_internal.h: a call tree as its own files see it.
 */
#ifndef PROBITY_ANALYSIS_TREE_INTERNAL_H
#define PROBITY_ANALYSIS_TREE_INTERNAL_H

#include "analysis/tree_nodes.h"

struct tree_thread;

struct probity_tree {
    struct probity_tree_options options;
    struct probity_scopes *scopes;
    struct probity_same_functions functions;
    struct probity_tree_nodes nodes;
    struct tree_thread **threads; /* by slot; NULL: not seen yet */
    uint32_t thread_count;
    uint64_t lost;
    size_t nodes_seen;
    int error; /* of a listener, which cannot return it */
};

#endif
