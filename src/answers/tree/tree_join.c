/* SPDX-License-Identifier: MIT
 *
 * tree_join.c: adds one call tree to another: trees of different threads of the same traces.
 */
#include "answers/tree/tree_internal.h"
#include "probity.h"

/* Returns the node in `tree` for a node of another tree, or NULL if out of memory. */
static struct probity_tree_node *same_node(struct probity_tree *tree,
                                           struct probity_tree_node *parent,
                                           const struct probity_tree_node *node)
{
    if (node->function == NULL)
        return probity_tree_child(&tree->nodes, parent, NULL, node->thread);
    const struct probity_same_function *function =
        probity_same_function_at(&tree->functions, &node->function->key);
    return function != NULL ? probity_tree_child(&tree->nodes, parent, function, NULL) : NULL;
}

int probity_tree_join(struct probity_tree *tree, struct probity_tree *part)
{
    size_t depth = 0;

    probity_tree_close_scopes(part);
    probity_scopes_repairs_add(&tree->repairs, probity_scopes_repairs(part->scopes));
    tree->lost += part->lost;
    /* A node's `recent`, which is no longer needed, points to its node in the other tree. */
    part->nodes.root.recent = &tree->nodes.root;
    for (struct probity_tree_node *node = part->nodes.root.child; node != NULL && part->error == 0;
         node = probity_tree_next(node, &part->nodes.root, &depth)) {
        node->recent = same_node(tree, node->parent->recent, node);
        if (node->recent == NULL)
            return PROBITY_ERROR_MEMORY;
        probity_tree_sums_add(&node->recent->sums, &node->sums);
    }
    return part->error;
}

struct probity_tree_node *probity_tree_reach(struct probity_tree *tree,
                                             struct probity_tree_node *parent,
                                             const struct probity_function_key *function,
                                             const struct probity_thread_label *thread)
{
    const struct probity_same_function *same =
        function != NULL ? probity_same_function_at(&tree->functions, function) : NULL;

    if (function != NULL && same == NULL)
        return NULL;
    return probity_tree_child(&tree->nodes, parent != NULL ? parent : &tree->nodes.root, same,
                              thread);
}

void probity_tree_add(struct probity_tree_node *node, const struct probity_tree_sums *sums)
{
    probity_tree_sums_add(&node->sums, sums);
}

void probity_tree_add_repairs(struct probity_tree *tree,
                              const struct probity_scopes_repairs *repairs, uint64_t lost)
{
    probity_scopes_repairs_add(&tree->repairs, repairs);
    tree->lost += lost;
}

int probity_tree_fits(const struct probity_tree *left, const struct probity_tree *right)
{
    return left->nodes.count + right->nodes.count < left->options.nodes_max;
}
