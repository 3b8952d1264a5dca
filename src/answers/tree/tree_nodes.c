/* SPDX-License-Identifier: MIT
 *
 * tree_nodes.c: nodes are allocated in chunks and never move, because scopes point to them.
 */
#include "answers/tree/tree_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "probity.h"

enum { CHUNK_NODES = 1024 };

struct tree_chunk {
    struct tree_chunk *next;
    struct probity_tree_node nodes[CHUNK_NODES];
};

/* A child is identified by its function or, above functions, by its thread. */
static inline const void *key_of(const struct probity_tree_node *node)
{
    return node->function != NULL ? (const void *)node->function : (const void *)node->thread;
}

static uint64_t hash_of(const struct probity_tree_node *parent, const void *key)
{
    return probity_hash((uint64_t)(uintptr_t)parent * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                        (uint64_t)(uintptr_t)key);
}

static struct probity_tree_node *find(const struct probity_tree_nodes *nodes, uint64_t hash,
                                      const struct probity_tree_node *parent, const void *key)
{
    struct probity_tree_node *node = probity_hashtable_at(&nodes->table, hash);

    while (node != NULL && (node->parent != parent || key_of(node) != key))
        node = (struct probity_tree_node *)node->link.next;
    return node;
}

static struct probity_tree_node *new_node(struct probity_tree_nodes *nodes)
{
    if (nodes->chunks == NULL || nodes->chunk_used == CHUNK_NODES) {
        struct tree_chunk *chunk = calloc(1, sizeof *chunk);
        if (chunk == NULL)
            return NULL;
        chunk->next = nodes->chunks;
        nodes->chunks = chunk;
        nodes->chunk_used = 0;
    }
    return &nodes->chunks->nodes[nodes->chunk_used++];
}

struct probity_tree_node *probity_tree_find(const struct probity_tree_nodes *nodes,
                                            const struct probity_tree_node *parent,
                                            const void *key)
{
    return find(nodes, hash_of(parent, key), parent, key);
}

struct probity_tree_node *probity_tree_child(struct probity_tree_nodes *nodes,
                                             struct probity_tree_node *parent,
                                             const struct probity_same_function *function,
                                             const struct probity_thread_label *thread)
{
    const void *key = function != NULL ? (const void *)function : (const void *)thread;
    uint64_t hash = hash_of(parent, key);
    struct probity_tree_node *node = find(nodes, hash, parent, key);

    if (node != NULL)
        return node;
    node = new_node(nodes);
    if (node == NULL || probity_hashtable_add(&nodes->table, node, hash) != 0)
        return NULL;
    node->function = function;
    node->thread = thread;
    node->parent = parent;
    node->outermost = parent->outermost != NULL ? parent->outermost
                      : function != NULL        ? node
                                                : NULL;
    node->next = parent->child;
    parent->child = node;
    nodes->count++;
    return node;
}

void probity_tree_sums_add(struct probity_tree_sums *to, const struct probity_tree_sums *from)
{
    to->calls += from->calls;
    to->untimed += from->untimed;
    to->repaired += from->repaired;
    probity_scope_time_add(&to->total, from->total);
    probity_scope_time_add(&to->self, from->self);
    probity_scope_time_add(&to->paused, from->paused);
    probity_cost_join(&to->total_cost, &from->total_cost);
    probity_cost_join(&to->self_cost, &from->self_cost);
    to->uncosted += from->uncosted;
}

void probity_tree_nodes_release(struct probity_tree_nodes *nodes)
{
    struct tree_chunk *chunk;

    while ((chunk = nodes->chunks) != NULL) {
        nodes->chunks = chunk->next;
        free(chunk);
    }
    probity_hashtable_release(&nodes->table);
    *nodes = (struct probity_tree_nodes){0};
}

struct probity_tree_node *probity_tree_next(const struct probity_tree_node *node,
                                            const struct probity_tree_node *top, size_t *depth)
{
    if (node->child != NULL) {
        ++*depth;
        return node->child;
    }
    while (node != top && node->next == NULL) {
        node = node->parent;
        --*depth;
    }
    return node != top ? node->next : NULL;
}

/* Marks nodes that have calls, or whose descendants do, by setting `recent`, which is otherwise
 * unused once the tree is finished. */
static void mark_called(struct probity_tree_nodes *nodes)
{
    size_t depth = 0;

    for (struct probity_tree_node *node = &nodes->root; node != NULL;
         node = probity_tree_next(node, &nodes->root, &depth))
        node->recent = NULL;
    depth = 0;
    for (struct probity_tree_node *node = &nodes->root; node != NULL;
         node = probity_tree_next(node, &nodes->root, &depth)) {
        struct probity_tree_node *up = node->sums.calls > 0 ? node : NULL;
        for (; up != NULL && up->recent == NULL; up = up->parent)
            up->recent = node;
    }
}

static void sum_children(struct probity_tree_node *node)
{
    node->sums = (struct probity_tree_sums){0};
    for (const struct probity_tree_node *child = node->child; child != NULL; child = child->next) {
        node->sums.calls += child->sums.calls;
        node->sums.untimed += child->sums.untimed;
        probity_scope_time_add(&node->sums.total, child->sums.total);
        probity_cost_join(&node->sums.total_cost, &child->sums.total_cost);
        node->sums.uncosted += child->sums.uncosted;
    }
}

/* Unlinks unmarked children. */
static void drop_unmarked(struct probity_tree_node *node)
{
    struct probity_tree_node **link = &node->child;

    while (*link != NULL) {
        if ((*link)->recent != NULL)
            link = &(*link)->next;
        else
            *link = (*link)->next;
    }
}

void probity_tree_tidy(struct probity_tree_nodes *nodes)
{
    size_t depth = 0;

    mark_called(nodes);
    for (struct probity_tree_node *node = &nodes->root; node != NULL;
         node = probity_tree_next(node, &nodes->root, &depth))
        drop_unmarked(node);
    for (struct probity_tree_node *node = nodes->root.child; node != NULL; node = node->next) {
        if (node->function == NULL)
            sum_children(node);
    }
    sum_children(&nodes->root);
}
