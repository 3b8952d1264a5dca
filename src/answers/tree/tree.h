/* SPDX-License-Identifier: MIT
 *
 * tree.h: the call tree: a node for each call path, with counts and times of the calls along it;
 * merged over threads, or one tree per thread. Views are derived from it: the tree below a
 * function, its callers, its callees. Memory: one node per distinct path, up to a limit. Prints
 * nothing.
 *
 *     events ──► scopes ──► nodes ──► finish ──► view ──► prune, sort
 */
#ifndef PROBITY_ANSWERS_TREE_TREE_H
#define PROBITY_ANSWERS_TREE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/same_function.h"
#include "analysis/scopes.h"
#include "analysis/thread_table.h"
#include "base/hashtable.h"
#include "reader/reader.h"

/* Each takes about 250 bytes, with the table. Calls on paths beyond the limit are only counted. */
enum { PROBITY_TREE_NODES_MAX = 400000 };

/* Times of a function's calls along one path. In a tree of callers: times of the selected function,
 * when called along the path, which is read upward. */
struct probity_tree_sums {
    uint64_t calls;    /* all calls; those entered with profiling off are untimed */
    uint64_t untimed;  /* calls without times */
    uint64_t repaired; /* calls closed by a repair, not by their leave */
    struct probity_scope_time total, self, paused;
    struct probity_cost_sum total_cost, self_cost; /* recording overhead, if uncosted is 0 */
    uint64_t uncosted; /* timed calls with unknown overhead */
};

struct probity_tree_node {
    struct probity_link link; /* in the table of the tree */
    const struct probity_same_function *function; /* NULL: none, above the outermost functions */
    const struct probity_thread_label *thread; /* of a root by thread; else NULL */
    struct probity_tree_node *parent, *child, *next; /* child: the first one; next: sibling */
    struct probity_tree_node *outermost; /* outermost function of the path: base of shares */
    struct probity_tree_node *recent; /* the child looked up last */
    struct probity_tree_sums sums;
    struct probity_scope_time pruned; /* total time of direct children that were pruned */
    void *user; /* for the listener; NULL at first */
};

struct probity_tree_options {
    int by_thread;
    int fold_recursion;      /* show a function that calls itself as a single node */
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: only calls that begin in [from, to); both 0: all */
    size_t nodes_max;        /* 0: PROBITY_TREE_NODES_MAX */
    const struct probity_reader *costs_of; /* subtract recording overhead; NULL: do not */
    /* Called with the sums that a call which began at this time adds to a node or, if is_off,
     * subtracts again because the call turned out to have another path. May be NULL. */
    void (*on_sums)(void *context, struct probity_tree_node *node, uint64_t begin_ns,
                    const struct probity_tree_sums *sums, int is_off);
    void *context;
};

struct probity_tree;

/* options may be NULL. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_tree_open(const struct probity_tree_options *options, struct probity_tree **ret_tree);

/* Takes the next event in time order, from the beginning. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_tree_put(struct probity_tree *tree, const struct probity_event *event);

struct probity_run;

/* Takes a run of events (reader/run.h) in the same way. */
int probity_tree_put_run(struct probity_tree *tree, const struct probity_run *run);

/* Before the first event: makes the tree from the scopes of another analysis, which calls the
 * tree's listener. The other analysis takes each event after the tree, and is finished before
 * it. */
const struct probity_scopes_listener *probity_tree_listener(const struct probity_tree *tree);
void probity_tree_follow(struct probity_tree *tree, const struct probity_scopes *scopes);

/* Closes open scopes. Call after the last put. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_tree_finish(struct probity_tree *tree);

/* Adds another tree, made with the same options from other threads of the same traces: all its
 * calls, after closing open ones as finish does, and its repairs. Its threads and the functions of
 * its reader must live as long as this tree. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_tree_join(struct probity_tree *tree, struct probity_tree *part);

/* Finds or adds a child of a node (NULL: of the root) for sums computed elsewhere. By thread,
 * functions are below a child without a function. Function and thread must live as long as the
 * tree. Returns NULL if out of memory. */
struct probity_tree_node *probity_tree_reach(struct probity_tree *tree,
                                             struct probity_tree_node *parent,
                                             const struct probity_function_key *function,
                                             const struct probity_thread_label *thread);

/* Adds sums that were computed elsewhere to a node. */
void probity_tree_add(struct probity_tree_node *node, const struct probity_tree_sums *sums);

/* Adds the numbers of repairs and lost calls to those of the tree. */
void probity_tree_add_repairs(struct probity_tree *tree,
                              const struct probity_scopes_repairs *repairs, uint64_t lost);

/* Whether two trees together have less than the maximum number of nodes: 1 or 0. */
int probity_tree_fits(const struct probity_tree *left, const struct probity_tree *right);

/* After finish: returns the node above all outermost functions or, by thread, above one node per
 * thread. Its total is the sum of its children's. Valid until close. */
struct probity_tree_node *probity_tree_root(struct probity_tree *tree);

enum probity_tree_view {
    PROBITY_TREE_BELOW,   /* everything below the function, no matter where it was called */
    PROBITY_TREE_CALLERS, /* inverted: its callers, their callers, and so on */
    PROBITY_TREE_CALLEES  /* functions that it called directly: one level */
};

/* Selects the functions of a view. */
typedef int probity_tree_match(void *context, const struct probity_function *function);

/* After finish: replaces the tree with one that has a root for each matching function (match NULL:
 * all, including lost declarations) or, by thread, one per thread. Of recursive calls, only the
 * outermost adds to a total. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_tree_view(struct probity_tree *tree, enum probity_tree_view view,
                      probity_tree_match *match, void *context);

struct probity_tree_limits {
    size_t depth;        /* levels of functions; 0: all */
    double share_min;    /* minimum share of the outermost function's total, 0 to 1 */
};

/* Removes nodes beyond the limits. Returns the number of nodes removed. */
size_t probity_tree_prune(struct probity_tree *tree, const struct probity_tree_limits *limits);

/* Keeps the nodes_max nodes with the largest total times. No caller is removed before its callees,
 * because its total is at least theirs. Returns the number of nodes removed, or
 * PROBITY_ERROR_MEMORY. */
int64_t probity_tree_prune_rest(struct probity_tree *tree, size_t nodes_max);

/* Removes deeper nodes, then the smallest paths, until nodes_max nodes are left or none is small.
 * Returns the number of nodes removed. */
size_t probity_tree_prune_to(struct probity_tree *tree, size_t nodes_max, size_t depth);

enum probity_tree_key {
    PROBITY_TREE_CALLS,
    PROBITY_TREE_TOTAL,
    PROBITY_TREE_SELF,
    PROBITY_TREE_CPU_TOTAL,
    PROBITY_TREE_CPU_SELF,
    PROBITY_TREE_OFF_TOTAL, /* off-CPU: wall minus CPU time */
    PROBITY_TREE_OFF_SELF,
    PROBITY_TREE_PAUSED,
    PROBITY_TREE_NAME, /* only for sorting */
    PROBITY_TREE_KEYS
};

/* Returns PROBITY_TREE_KEYS if the name is unknown. */
enum probity_tree_key probity_tree_key_parse(const char *name);

/* Returns "total", "cpu-self" ... */
const char *probity_tree_key_name(enum probity_tree_key key);

/* Returns calls or ns. */
uint64_t probity_tree_value(const struct probity_tree_sums *sums, enum probity_tree_key key);

/* Computes the total (is_self 0) or self time minus the recording overhead. Returns 1, or 0 if it
 * is unknown. */
int probity_tree_corrected(const struct probity_tree_sums *sums, int is_self,
                           struct probity_corrected *ret_corrected);

/* Sorts the children of every node: largest first, or by name, ascending. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_tree_sort(struct probity_tree *tree, enum probity_tree_key key);

/* Returns the next node in preorder, or NULL after the last one below `top`. Updates *depth. */
struct probity_tree_node *probity_tree_next(const struct probity_tree_node *node,
                                            const struct probity_tree_node *top, size_t *depth);

/* Returns the share of the outermost function's total, 0 to 1; negative if that total is 0. */
double probity_tree_share(const struct probity_tree_node *node);

/* Returns the name of a node's function, or "site-N" (in ret_text) if its declaration is lost. */
const char *probity_tree_name(const struct probity_tree_node *node, char ret_text[32]);

/* Returns the number of calls that began in the range and have not ended yet. */
uint64_t probity_tree_pending(const struct probity_tree *tree);

const struct probity_scopes_repairs *probity_tree_repairs(const struct probity_tree *tree);

/* Returns the number of calls without a node, because there were too many paths. */
uint64_t probity_tree_lost(const struct probity_tree *tree);

/* Returns the number of nodes before any view or pruning. */
size_t probity_tree_nodes(const struct probity_tree *tree);

void probity_tree_close(struct probity_tree *tree);

#endif
