/* SPDX-License-Identifier: MIT
 *
 * tree_view.c: views of a finished tree: below a function, its callers, its callees; pruning;
 * sorting. Nothing here recurses, because a path may be as long as the number of nodes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/tree/tree_internal.h"
#include "probity.h"

/* Maximum number of levels of callers. */
enum { CALLERS_MAX = 1000 };

/* ---- Views -------------------------------------------------------------------------------------
 */

struct view {
    struct probity_tree_nodes fresh;
    struct probity_tree_node *root; /* of the current thread, or of all threads */
    size_t nodes_max;
    probity_tree_match *match;
    void *context;
};

static int matches(const struct view *view, const struct probity_tree_node *node)
{
    if (node == NULL || node->function == NULL)
        return 0;
    if (view->match == NULL)
        return 1;
    const struct probity_function *function = node->function->key.function;
    return function != NULL && view->match(view->context, function);
}

static struct probity_tree_node *fresh_child(struct view *view, struct probity_tree_node *parent,
                                             const struct probity_tree_node *like)
{
    return probity_tree_child(&view->fresh, parent, like->function, NULL);
}

/* Whether no ancestor has the same function or, if with_caller, the same function and caller. */
static int is_outermost(const struct probity_tree_node *node, int with_caller)
{
    for (const struct probity_tree_node *up = node->parent; up != NULL; up = up->parent) {
        if (up->function == node->function &&
            (!with_caller || up->parent->function == node->parent->function))
            return 0;
    }
    return 1;
}

static struct probity_tree_sums sums_of(const struct probity_tree_node *node, int has_total)
{
    struct probity_tree_sums sums = node->sums;

    if (!has_total)
        sums.total = (struct probity_scope_time){0, 0};
    if (!has_total)
        sums.total_cost = (struct probity_cost_sum){0};
    return sums;
}

/* The `recent` of an old node points to its new node, if any. */
static int add_below(struct view *view, struct probity_tree_node *node)
{
    struct probity_tree_node *parent = node->parent->recent;

    node->recent = NULL;
    if (parent == NULL && !matches(view, node))
        return 0;
    node->recent = fresh_child(view, parent != NULL ? parent : view->root, node);
    if (node->recent == NULL)
        return PROBITY_ERROR_MEMORY;
    probity_tree_sums_add(&node->recent->sums, &node->sums);
    return 0;
}

static int add_callers(struct view *view, struct probity_tree_node *node)
{
    struct probity_tree_node *to = view->root;

    if (!matches(view, node))
        return 0;
    struct probity_tree_sums sums = sums_of(node, is_outermost(node, 0));
    const struct probity_tree_node *from = node;
    for (int i = 0; i < CALLERS_MAX && from->function != NULL; i++, from = from->parent) {
        if (view->fresh.count >= view->nodes_max)
            return 0;
        to = fresh_child(view, to, from);
        if (to == NULL)
            return PROBITY_ERROR_MEMORY;
        probity_tree_sums_add(&to->sums, &sums);
    }
    return 0;
}

static int add_callees(struct view *view, struct probity_tree_node *node)
{
    struct probity_tree_sums sums;

    if (matches(view, node)) {
        struct probity_tree_node *to = fresh_child(view, view->root, node);
        if (to == NULL)
            return PROBITY_ERROR_MEMORY;
        sums = sums_of(node, is_outermost(node, 0));
        probity_tree_sums_add(&to->sums, &sums);
    }
    if (matches(view, node->parent)) {
        struct probity_tree_node *caller = fresh_child(view, view->root, node->parent);
        struct probity_tree_node *to = caller != NULL ? fresh_child(view, caller, node) : NULL;
        if (to == NULL)
            return PROBITY_ERROR_MEMORY;
        sums = sums_of(node, is_outermost(node, 1));
        probity_tree_sums_add(&to->sums, &sums);
    }
    return 0;
}

static int add_thread(struct view *view, struct probity_tree_node *node)
{
    node->recent = NULL;
    view->root = probity_tree_child(&view->fresh, &view->fresh.root, NULL, node->thread);
    return view->root != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

int probity_tree_view(struct probity_tree *tree, enum probity_tree_view kind,
                      probity_tree_match *match, void *context)
{
    static int (*const adders[])(struct view *, struct probity_tree_node *) = {
        [PROBITY_TREE_BELOW] = add_below,
        [PROBITY_TREE_CALLERS] = add_callers,
        [PROBITY_TREE_CALLEES] = add_callees};
    struct view view = {.nodes_max = 2 * tree->options.nodes_max, .match = match,
                        .context = context};
    struct probity_tree_node *top = &tree->nodes.root, *node = top;
    size_t depth = 0;
    int error = 0;

    view.root = &view.fresh.root;
    top->recent = NULL;
    while (error == 0 && (node = probity_tree_next(node, top, &depth)) != NULL)
        error = node->function == NULL ? add_thread(&view, node) : adders[kind](&view, node);
    probity_tree_tidy(&view.fresh);
    probity_tree_nodes_release(&tree->nodes);
    tree->nodes = view.fresh;
    for (node = top->child; node != NULL; node = node->next)
        node->parent = top;
    return error;
}

/* ---- Pruning -----------------------------------------------------------------------------------
 */

static size_t nodes_from(const struct probity_tree_node *top)
{
    size_t count = 0, depth = 0;

    for (const struct probity_tree_node *node = top; node != NULL;
         node = probity_tree_next(node, top, &depth))
        count++;
    return count;
}

static int is_small(const struct probity_tree_node *node, double share_min)
{
    return share_min > 0 && node->parent->function != NULL &&
           probity_tree_share(node) < share_min;
}

/* The time of the removed children stays with their parent. */
static size_t prune_children(struct probity_tree_node *node, int is_deep, double share_min)
{
    struct probity_tree_node **link = &node->child, *child;
    size_t count = 0;

    while ((child = *link) != NULL) {
        if (child->function == NULL || (!is_deep && !is_small(child, share_min))) {
            link = &child->next;
            continue;
        }
        count += nodes_from(child);
        probity_scope_time_add(&node->pruned, child->sums.total);
        *link = child->next;
    }
    return count;
}

size_t probity_tree_prune(struct probity_tree *tree, const struct probity_tree_limits *limits)
{
    struct probity_tree_node *top = &tree->nodes.root;
    size_t count = 0, depth = 0, above = tree->options.by_thread ? 1 : 0;

    for (struct probity_tree_node *node = top; node != NULL;
         node = probity_tree_next(node, top, &depth))
        count += prune_children(node, limits->depth > 0 && depth >= limits->depth + above,
                                limits->share_min);
    return count;
}

size_t probity_tree_prune_to(struct probity_tree *tree, size_t nodes_max, size_t depth)
{
    struct probity_tree_limits limits = {.depth = depth};
    size_t nodes = probity_tree_nodes(tree), pruned = probity_tree_prune(tree, &limits);

    limits.share_min = 1e-6;
    while (nodes - pruned > nodes_max && limits.share_min < 1) {
        pruned += probity_tree_prune(tree, &limits);
        limits.share_min *= 2;
    }
    return pruned;
}

static int compare_totals(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a > b ? -1 : a < b;
}

/* Returns the totals of all functions, largest first, or NULL if out of memory. */
static uint64_t *sorted_totals(struct probity_tree *tree, size_t *ret_count)
{
    struct probity_tree_node *top = &tree->nodes.root;
    size_t depth = 0, count = 0;
    /* A view may have more nodes than the tree from which it was made. */
    uint64_t *totals = calloc(tree->nodes.count + 1, sizeof *totals);

    for (struct probity_tree_node *node = top; node != NULL && totals != NULL;
         node = probity_tree_next(node, top, &depth)) {
        if (node->function != NULL)
            totals[count++] = node->sums.total.wall_ns;
    }
    if (count > 1)
        qsort(totals, count, sizeof *totals, compare_totals);
    *ret_count = count;
    return totals;
}

/* least_ns: total of the last node to keep; *equals: number of nodes with that total that may be
 * kept. */
static size_t prune_smaller(struct probity_tree_node *node, uint64_t least_ns, size_t *equals)
{
    struct probity_tree_node **link = &node->child, *child;
    size_t count = 0;

    while ((child = *link) != NULL) {
        uint64_t ns = child->sums.total.wall_ns;
        if (child->function == NULL || ns > least_ns || (ns == least_ns && *equals > 0)) {
            *equals -= child->function != NULL && ns == least_ns;
            link = &child->next;
            continue;
        }
        count += nodes_from(child);
        probity_scope_time_add(&node->pruned, child->sums.total);
        *link = child->next;
    }
    return count;
}

int64_t probity_tree_prune_rest(struct probity_tree *tree, size_t nodes_max)
{
    struct probity_tree_node *top = &tree->nodes.root;
    size_t depth = 0, count, equals = 0, removed = 0;
    uint64_t *totals = sorted_totals(tree, &count);

    if (totals == NULL)
        return PROBITY_ERROR_MEMORY;
    if (nodes_max > 0 && nodes_max < count) {
        uint64_t least_ns = totals[nodes_max - 1];
        for (size_t i = nodes_max; i > 0 && totals[i - 1] == least_ns; i--)
            equals++;
        for (struct probity_tree_node *node = top; node != NULL;
             node = probity_tree_next(node, top, &depth))
            removed += prune_smaller(node, least_ns, &equals);
    }
    free(totals);
    return (int64_t)removed;
}

/* ---- Sorting -----------------------------------------------------------------------------------
 */

static const char *const key_names[PROBITY_TREE_KEYS] = {
    "calls", "total", "self", "cpu-total", "cpu-self", "off-total", "off-self", "paused", "name"};

const char *probity_tree_key_name(enum probity_tree_key key)
{
    return key_names[key];
}

enum probity_tree_key probity_tree_key_parse(const char *name)
{
    int key = 0;

    while (key < PROBITY_TREE_KEYS && strcmp(name, key_names[key]) != 0)
        key++;
    return (enum probity_tree_key)key;
}

static uint64_t off_of(struct probity_scope_time time)
{
    return time.wall_ns > time.cpu_ns ? time.wall_ns - time.cpu_ns : 0;
}

int probity_tree_corrected(const struct probity_tree_sums *sums, int is_self,
                           struct probity_corrected *ret_corrected)
{
    if (sums->uncosted > 0 || sums->total_cost.most == 0 || sums->calls <= sums->untimed)
        return 0;
    *ret_corrected = is_self ? probity_correct(sums->self.wall_ns, &sums->self_cost)
                             : probity_correct(sums->total.wall_ns, &sums->total_cost);
    return 1;
}

uint64_t probity_tree_value(const struct probity_tree_sums *sums, enum probity_tree_key key)
{
    switch (key) {
    case PROBITY_TREE_CALLS: return sums->calls;
    case PROBITY_TREE_TOTAL: return sums->total.wall_ns;
    case PROBITY_TREE_SELF: return sums->self.wall_ns;
    case PROBITY_TREE_CPU_TOTAL: return sums->total.cpu_ns;
    case PROBITY_TREE_CPU_SELF: return sums->self.cpu_ns;
    case PROBITY_TREE_OFF_TOTAL: return off_of(sums->total);
    case PROBITY_TREE_OFF_SELF: return off_of(sums->self);
    case PROBITY_TREE_PAUSED: return sums->paused.wall_ns;
    default: return 0;
    }
}

struct sort_item {
    struct probity_tree_node *node;
    uint64_t value;
};

/* Lost declarations come last. Threads are sorted by number. */
static int compare_items(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;

    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    if (a->node->function != NULL && b->node->function != NULL)
        return probity_function_compare(&a->node->function->key, &b->node->function->key);
    if (a->node->thread == NULL || b->node->thread == NULL)
        return 0;
    const struct probity_thread_label *one = a->node->thread, *other = b->node->thread;
    if (one->trace != other->trace)
        return one->trace < other->trace ? -1 : 1;
    return one->thread < other->thread ? -1 : one->thread > other->thread;
}

static void sort_children(struct probity_tree_node *node, struct sort_item *items,
                          enum probity_tree_key key)
{
    struct probity_tree_node **link = &node->child;
    size_t count = 0;

    for (struct probity_tree_node *child = node->child; child != NULL; child = child->next)
        items[count++] = (struct sort_item){child, probity_tree_value(&child->sums, key)};
    qsort(items, count, sizeof *items, compare_items);
    for (size_t i = 0; i < count; i++) {
        *link = items[i].node;
        link = &items[i].node->next;
    }
    *link = NULL;
}

int probity_tree_sort(struct probity_tree *tree, enum probity_tree_key key)
{
    struct probity_tree_node *top = &tree->nodes.root;
    struct sort_item *items = calloc(tree->nodes.count + 1, sizeof *items);
    size_t depth = 0;

    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    for (struct probity_tree_node *node = top; node != NULL;
         node = probity_tree_next(node, top, &depth))
        sort_children(node, items, key);
    free(items);
    return 0;
}

/* ---- Access ------------------------------------------------------------------------------------
 */

double probity_tree_share(const struct probity_tree_node *node)
{
    const struct probity_tree_node *outermost = node->outermost;

    if (outermost == NULL || outermost->sums.total.wall_ns == 0)
        return -1;
    return (double)node->sums.total.wall_ns / (double)outermost->sums.total.wall_ns;
}

const char *probity_tree_name(const struct probity_tree_node *node, char ret_text[32])
{
    const struct probity_function_key *key = &node->function->key;

    if (key->function != NULL)
        return key->function->name;
    snprintf(ret_text, 32, "site-%u", (unsigned)key->number);
    return ret_text;
}
