/* SPDX-License-Identifier: MIT
 *
 * tree.c: turns scopes into nodes. A scope points to its node (user), so callees find their nodes
 * with one lookup in the table of children, or usually none, because the next child is often the
 * one that was looked up last.
 *
 * A deferred scope is opened late: some of its callees have already become children of its caller.
 * Each thread's latest calls are kept, so that they can be moved below the deferred scope.
 */
#include "answers/tree/tree.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/scopes_run.h"
#include "answers/tree/tree_internal.h"
#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

/* Number of calls that a deferred scope can still adopt. The ring starts small, because there may
 * be very many threads. */
enum { RECENT_CALLS = 256, RECENT_FIRST = 4 };

struct recent_call {
    struct probity_tree_node *node;
    uint64_t enter_tick, enter_wall_ns;
    uint32_t depth;
    struct probity_tree_sums sums;
};

struct tree_thread {
    struct probity_thread_label label;
    char *name; /* the name in the label */
    struct probity_tree_node *root;
    struct recent_call *recent; /* a ring */
    uint64_t recent_count;      /* all calls; the newest recent_capacity are kept */
    uint64_t recent_capacity;
};

/* ---- Threads -----------------------------------------------------------------------------------
 */

static struct tree_thread *thread_at(struct probity_tree *tree, const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;

    if (slot >= tree->thread_count) {
        void *grown = probity_array_grow(tree->threads, sizeof *tree->threads, slot,
                                         &tree->thread_count);
        if (grown == NULL)
            return NULL;
        tree->threads = grown;
    }
    if (tree->threads[slot] != NULL)
        return tree->threads[slot];
    struct tree_thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL)
        return NULL;
    thread->label = (struct probity_thread_label){event->trace, event->thread, event->tid,
                                                  event->pid, NULL};
    thread->root = &tree->nodes.root;
    tree->threads[slot] = thread;
    return thread;
}

/* Returns the node above the outermost functions of a thread. */
static struct probity_tree_node *root_of(struct probity_tree *tree,
                                         const struct probity_event *event)
{
    struct tree_thread *thread = thread_at(tree, event);

    if (thread == NULL)
        return NULL;
    if (tree->options.by_thread && thread->root == &tree->nodes.root) {
        struct probity_tree_node *root =
            probity_tree_child(&tree->nodes, &tree->nodes.root, NULL, &thread->label);
        if (root == NULL)
            return NULL;
        thread->root = root;
    }
    return thread->root;
}

static __attribute__((noinline)) int
set_name(struct probity_tree *tree, const struct probity_event *event)
{
    struct tree_thread *thread = thread_at(tree, event);
    char *name = thread != NULL ? strndup((const char *)event->payload, event->payload_bytes)
                                : NULL;

    if (name == NULL)
        return PROBITY_ERROR_MEMORY;
    free(thread->name);
    thread->name = name;
    thread->label.name = name;
    return 0;
}

/* ---- Nodes of scopes ---------------------------------------------------------------------------
 */

static const struct probity_same_function *function_of(struct probity_tree *tree,
                                                       const struct probity_scope *scope)
{
    const struct probity_function_key key = {scope->function, scope->trace, scope->number};
    void **function = &scope->of_function[PROBITY_SCOPES_OF_TREE];

    if (__builtin_expect(*function == NULL, 0))
        *function = probity_same_function_at(&tree->functions, &key);
    return *function;
}

/* Returns NULL if out of memory or if there are too many nodes. */
static __attribute__((noinline)) struct probity_tree_node *
other_child_of(struct probity_tree *tree, struct probity_tree_node *parent,
               const struct probity_same_function *function)
{
    if (tree->options.fold_recursion && parent->function == function)
        return parent;
    struct probity_tree_node *node =
        tree->nodes.count < tree->options.nodes_max
            ? probity_tree_child(&tree->nodes, parent, function, NULL)
            : probity_tree_find(&tree->nodes, parent, function);
    if (node != NULL)
        parent->recent = node;
    return node;
}

/* The same; usually it is the child that was looked up last. */
static inline struct probity_tree_node *child_of(struct probity_tree *tree,
                                                 struct probity_tree_node *parent,
                                                 const struct probity_same_function *function)
{
    struct probity_tree_node *recent = parent->recent;

    return recent != NULL && recent->function == function
               ? recent
               : other_child_of(tree, parent, function);
}

/* Returns the caller's node. If a scope has no node, its callees have none either. */
static inline struct probity_tree_node *parent_of(struct probity_tree *tree,
                                                  const struct probity_scope *scope,
                                                  const struct probity_event *event)
{
    const struct probity_scope *caller =
        scope->depth > 0 ? probity_scopes_at(tree->scopes, event->thread_slot, scope->depth - 1)
                         : NULL;

    return caller != NULL ? caller->user : root_of(tree, event);
}

static void adopt(struct probity_tree *tree, const struct probity_scope *scope,
                  struct probity_tree_node *parent, const struct probity_event *event);

static void on_opened(void *context, struct probity_scope *scope, const struct probity_event *event)
{
    struct probity_tree *tree = context;
    const struct probity_same_function *function = function_of(tree, scope);
    struct probity_tree_node *parent = parent_of(tree, scope, event);

    if (__builtin_expect(function == NULL || (parent == NULL && scope->depth == 0), 0)) {
        tree->error = PROBITY_ERROR_MEMORY;
        return;
    }
    if (parent == NULL)
        return;
    scope->user = child_of(tree, parent, function);
    if (scope->user == NULL && tree->nodes.count < tree->options.nodes_max)
        tree->error = PROBITY_ERROR_MEMORY;
    if (__builtin_expect(event->kind != PROBITY_EVENT_ENTER, 0) && scope->user != NULL)
        adopt(tree, scope, parent, event);
}

/* Grows the ring, when it is first full at this size, so that no calls have to be moved. */
static int grow_recent(struct tree_thread *thread)
{
    uint64_t capacity = thread->recent_capacity > 0 ? 2 * thread->recent_capacity : RECENT_FIRST;
    struct recent_call *recent = realloc(thread->recent, capacity * sizeof *recent);

    if (recent == NULL)
        return PROBITY_ERROR_MEMORY;
    memset(recent + thread->recent_capacity, 0,
           (capacity - thread->recent_capacity) * sizeof *recent);
    thread->recent = recent;
    thread->recent_capacity = capacity;
    return 0;
}

/* Stores the call. Returns the sums to fill in, all of which must be set (costs only if there are
 * any), or NULL if out of memory. */
static inline struct probity_tree_sums *keep_recent(struct tree_thread *thread,
                                                    const struct probity_scope *scope)
{
    if (__builtin_expect(thread->recent_count == thread->recent_capacity, 0) &&
        thread->recent_capacity < RECENT_CALLS && grow_recent(thread) != 0)
        return NULL;
    struct recent_call *call =
        &thread->recent[thread->recent_count++ & (thread->recent_capacity - 1)];
    call->node = scope->user;
    call->enter_tick = scope->enter_tick;
    call->enter_wall_ns = scope->enter_wall_ns;
    call->depth = scope->depth;
    return &call->sums;
}

static inline void set_time(struct probity_scope_time *to, struct probity_scope_time time)
{
    to->wall_ns = time.wall_ns;
    to->cpu_ns = time.cpu_ns;
}

static inline void set_times(struct probity_tree_sums *sums, const struct probity_scope *scope,
                             int is_total)
{
    const struct probity_scope_time none = {0, 0};

    set_time(&sums->total, is_total ? scope->total : none);
    set_time(&sums->self, scope->is_untimed ? none : probity_scope_self(scope));
    set_time(&sums->paused, scope->is_untimed ? none : scope->paused);
}

static __attribute__((noinline)) void set_costs(struct probity_tree_sums *sums,
                                                const struct probity_scope *scope, int is_total)
{
    const struct probity_cost_sum none = {0};
    int is_costed = scope->is_costed && !scope->is_untimed;

    sums->total_cost = is_costed && is_total ? scope->total_cost : none;
    sums->self_cost = is_costed ? scope->self_cost : none;
    sums->uncosted = !scope->is_costed && !scope->is_untimed;
}

/* Whether the call's total is added to its node. The total of a folded recursive call is already
 * part of the outermost call's. */
static inline int has_total(const struct probity_tree *tree, const struct probity_scope *scope,
                            uint32_t thread_slot)
{
    if (scope->is_untimed)
        return 0;
    if (!tree->options.fold_recursion || scope->depth == 0)
        return 1;
    const struct probity_scope *caller =
        probity_scopes_at(tree->scopes, thread_slot, scope->depth - 1);
    return caller == NULL || caller->user != scope->user || caller->is_paused;
}

static inline void add_sums(struct probity_tree_sums *to, const struct probity_tree_sums *sums)
{
    to->calls++;
    to->untimed += sums->untimed;
    to->repaired += sums->repaired;
    probity_scope_time_add(&to->total, sums->total);
    probity_scope_time_add(&to->self, sums->self);
    probity_scope_time_add(&to->paused, sums->paused);
    to->uncosted += sums->uncosted;
}

static inline void report_sums(struct probity_tree *tree, struct probity_tree_node *node,
                               uint64_t begin_ns, const struct probity_tree_sums *sums, int is_off)
{
    if (__builtin_expect(tree->options.on_sums != NULL, 0))
        tree->options.on_sums(tree->options.context, node, begin_ns, sums, is_off);
}

static inline __attribute__((always_inline)) void
close_call(struct probity_tree *tree, const struct probity_scope *scope,
           enum probity_scope_end how, uint32_t thread_slot)
{
    struct probity_tree_node *node = scope->user;

    if (scope->enter_wall_ns < tree->options.from_ns || scope->enter_wall_ns >= tree->options.to_ns)
        return;
    if (node == NULL) {
        tree->lost++;
        return;
    }
    struct probity_tree_sums *sums = keep_recent(tree->threads[thread_slot], scope);
    if (__builtin_expect(sums == NULL, 0)) {
        tree->error = PROBITY_ERROR_MEMORY;
        return;
    }
    int is_total = has_total(tree, scope, thread_slot);
    sums->calls = 1;
    sums->untimed = (uint64_t)scope->is_untimed;
    sums->repaired = !probity_scope_end_is_recorded(how);
    set_times(sums, scope, is_total);
    sums->uncosted = !scope->is_untimed;
    if (__builtin_expect(tree->options.costs_of != NULL, 0)) {
        set_costs(sums, scope, is_total);
        probity_tree_sums_add(&node->sums, sums);
    } else {
        add_sums(&node->sums, sums);
    }
    report_sums(tree, node, scope->enter_wall_ns, sums, 0);
}

static inline __attribute__((always_inline)) void
on_closed(void *context, const struct probity_scope *scope, enum probity_scope_end how,
          uint32_t thread_slot, const struct probity_event *event)
{
    (void)event;
    close_call(context, scope, how, thread_slot);
}

/* ---- Deferred scopes ---------------------------------------------------------------------------
 */

/* Returns the node below `to` that corresponds to `node` below `from`. Returns NULL like
 * child_of(). */
static struct probity_tree_node *moved(struct probity_tree *tree, struct probity_tree_node *node,
                                       const struct probity_tree_node *from,
                                       struct probity_tree_node *to)
{
    const struct probity_same_function *path[RECENT_CALLS];
    size_t depth = 0;

    for (; node != from && node != NULL && depth < RECENT_CALLS; node = node->parent)
        path[depth++] = node->function;
    if (node != from)
        return NULL;
    while (to != NULL && depth > 0)
        to = child_of(tree, to, path[--depth]);
    return to;
}

static void take_cost_off(struct probity_cost_sum *from, const struct probity_cost_sum *sum)
{
    from->least -= sum->least;
    from->most -= sum->most;
    from->rare -= sum->rare;
    from->early -= sum->early;
    from->early_inside -= sum->early_inside;
}

static void take_off(struct probity_tree_sums *from, const struct probity_tree_sums *sums)
{
    take_cost_off(&from->total_cost, &sums->total_cost);
    take_cost_off(&from->self_cost, &sums->self_cost);
    from->uncosted -= sums->uncosted;
    from->calls -= sums->calls;
    from->untimed -= sums->untimed;
    from->repaired -= sums->repaired;
    from->total.wall_ns -= sums->total.wall_ns;
    from->total.cpu_ns -= sums->total.cpu_ns;
    from->self.wall_ns -= sums->self.wall_ns;
    from->self.cpu_ns -= sums->self.cpu_ns;
    from->paused.wall_ns -= sums->paused.wall_ns;
    from->paused.cpu_ns -= sums->paused.cpu_ns;
}

/* Moves calls from the caller to the scope if they began in the scope and have ended. */
static void adopt(struct probity_tree *tree, const struct probity_scope *scope,
                  struct probity_tree_node *parent, const struct probity_event *event)
{
    struct tree_thread *thread = thread_at(tree, event);

    for (uint64_t i = 1; i <= thread->recent_capacity && i <= thread->recent_count; i++) {
        struct recent_call *call =
            &thread->recent[(thread->recent_count - i) & (thread->recent_capacity - 1)];
        if (call->depth < scope->depth || call->enter_tick < scope->enter_tick)
            return;
        struct probity_tree_node *node = moved(tree, call->node, parent, scope->user);
        if (node == NULL)
            continue;
        take_off(&call->node->sums, &call->sums);
        report_sums(tree, call->node, call->enter_wall_ns, &call->sums, 1);
        probity_tree_sums_add(&node->sums, &call->sums);
        report_sums(tree, node, call->enter_wall_ns, &call->sums, 0);
        call->node = node;
        call->depth++;
    }
}

/* ---- Events ------------------------------------------------------------------------------------
 */

int probity_tree_put(struct probity_tree *tree, const struct probity_event *event)
{
    if (__builtin_expect(tree->error != 0, 0))
        return tree->error; /* an error at the previous event */
    if (__builtin_expect(event->kind == PROBITY_EVENT_THREAD_NAME, 0) && set_name(tree, event) != 0)
        return PROBITY_ERROR_MEMORY;
    return tree->own_scopes != NULL
               ? probity_scopes_put(tree->own_scopes, event, &tree->listener) : 0;
}

/* The caller has a node, and its latest callee was often this function. */
static inline void opened_in_run(void *context, struct probity_scope *scope,
                                 const struct probity_run *run, size_t at)
{
    struct probity_tree *tree = context;
    const struct probity_same_function *function = scope->of_function[PROBITY_SCOPES_OF_TREE];
    const struct probity_scope *caller =
        scope->depth > 0
            ? probity_scopes_at(tree->scopes, run->event->thread_slot, scope->depth - 1) : NULL;
    const struct probity_tree_node *parent = caller != NULL ? caller->user : NULL;

    if (__builtin_expect(function == NULL || parent == NULL || parent->recent == NULL ||
                             parent->recent->function != function, 0))
        on_opened(context, scope, probity_run_event_at(run, at));
    else
        scope->user = parent->recent;
}

int probity_tree_put_run(struct probity_tree *tree, const struct probity_run *run)
{
    const struct probity_scopes_run_steps steps = {{on_opened, on_closed, tree}, opened_in_run,
                                                   NULL, NULL};

    if (__builtin_expect(tree->error != 0, 0))
        return tree->error; /* an error at earlier events */
    return tree->own_scopes != NULL ? probity_scopes_put_run(tree->own_scopes, run, steps) : 0;
}

const struct probity_scopes_listener *probity_tree_listener(const struct probity_tree *tree)
{
    return &tree->listener;
}

void probity_tree_follow(struct probity_tree *tree, const struct probity_scopes *scopes)
{
    probity_scopes_close(tree->own_scopes);
    tree->own_scopes = NULL;
    tree->scopes = scopes;
}

void probity_tree_close_scopes(struct probity_tree *tree)
{
    if (tree->own_scopes != NULL)
        probity_scopes_finish(tree->own_scopes, &tree->listener);
}

int probity_tree_finish(struct probity_tree *tree)
{
    probity_tree_close_scopes(tree);
    probity_scopes_repairs_add(&tree->repairs, probity_scopes_repairs(tree->scopes));
    tree->nodes_seen = tree->nodes.count;
    probity_tree_tidy(&tree->nodes);
    return tree->error;
}

struct probity_tree_node *probity_tree_root(struct probity_tree *tree)
{
    return &tree->nodes.root;
}

uint64_t probity_tree_pending(const struct probity_tree *tree)
{
    return probity_scopes_pending(tree->scopes);
}

const struct probity_scopes_repairs *probity_tree_repairs(const struct probity_tree *tree)
{
    return &tree->repairs;
}

uint64_t probity_tree_lost(const struct probity_tree *tree)
{
    return tree->lost;
}

size_t probity_tree_nodes(const struct probity_tree *tree)
{
    return tree->nodes_seen;
}

int probity_tree_open(const struct probity_tree_options *options, struct probity_tree **ret_tree)
{
    struct probity_tree *tree = calloc(1, sizeof *tree);

    if (tree == NULL || probity_scopes_open(&tree->own_scopes) != 0) {
        free(tree);
        return PROBITY_ERROR_MEMORY;
    }
    tree->scopes = tree->own_scopes;
    if (options != NULL)
        tree->options = *options;
    if (tree->options.costs_of != NULL &&
        probity_scopes_want_costs(tree->own_scopes, tree->options.costs_of) != 0) {
        probity_tree_close(tree);
        return PROBITY_ERROR_MEMORY;
    }
    probity_scopes_set_range(tree->own_scopes, tree->options.from_ns, tree->options.to_ns);
    if (tree->options.to_ns == 0)
        tree->options.to_ns = UINT64_MAX;
    if (tree->options.nodes_max == 0)
        tree->options.nodes_max = PROBITY_TREE_NODES_MAX;
    tree->listener = (struct probity_scopes_listener){on_opened, on_closed, tree};
    tree->functions.item_bytes = sizeof(struct probity_same_function);
    *ret_tree = tree;
    return 0;
}

void probity_tree_close(struct probity_tree *tree)
{
    for (uint32_t slot = 0; slot < tree->thread_count; slot++) {
        if (tree->threads[slot] == NULL)
            continue;
        free(tree->threads[slot]->name);
        free(tree->threads[slot]->recent);
        free(tree->threads[slot]);
    }
    probity_tree_nodes_release(&tree->nodes);
    probity_same_functions_release(&tree->functions);
    if (tree->own_scopes != NULL)
        probity_scopes_close(tree->own_scopes);
    free(tree->threads);
    free(tree);
}
