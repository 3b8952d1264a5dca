/* SPDX-License-Identifier: MIT
 *
 * tree.h: who called whom: a node for each path of functions, with calls and times of the calls
 * along that path; merged over threads, or one tree for each. Other trees are made of it: that
 * below a function, that of its callers, its callees. Memory: distinct paths, up to a limit.
 * Prints nothing.
 *
 *     events ──► scopes ──► nodes ──► finish ──► view ──► prune, sort
 */
#ifndef PROBITY_ANALYSIS_TREE_H
#define PROBITY_ANALYSIS_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/same_function.h"
#include "analysis/scopes.h"
#include "analysis/thread_table.h"
#include "reader/reader.h"

/* Some 250 bytes each, table included: paths beyond are counted, and no more. */
enum { PROBITY_TREE_NODES_MAX = 400000 };

/* Whose records they are. */
/* Times of the calls of a function along one path. In a tree of callers: those of the tree's
 * function as called along the path upwards. */
struct probity_tree_sums {
    uint64_t calls;    /* all; those entered while profiling was off have no times */
    uint64_t untimed;  /* of them */
    uint64_t repaired; /* of them: closed by repair, not by their leave */
    struct probity_scope_time total, self, paused;
    struct probity_cost_sum total_cost, self_cost; /* what recording added, where uncosted is 0 */
    uint64_t uncosted; /* calls with times of which that is not known */
};

struct probity_tree_node {
    const struct probity_same_function *function; /* NULL: above the outermost functions */
    const struct probity_thread_label *thread; /* of a root by thread; else NULL */
    struct probity_tree_node *parent, *child, *next; /* child: the first; next: sibling */
    struct probity_tree_node *outermost; /* function above, or itself: what shares are of */
    struct probity_tree_node *recent; /* the child that was looked for last */
    struct probity_tree_sums sums;
    struct probity_scope_time pruned; /* total of direct children that were taken out */
};

struct probity_tree_options {
    int by_thread;
    int fold_recursion;      /* a function that calls itself is one node */
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: only calls that begin in [from, to); both 0: all */
    size_t nodes_max;        /* 0: PROBITY_TREE_NODES_MAX */
    const struct probity_reader *costs_of; /* what recording added is wanted; NULL: is not */
};

struct probity_tree;

/* options may be NULL. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_tree_open(const struct probity_tree_options *options, struct probity_tree **ret_tree);

/* Takes the next event in time order, from the beginning. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_tree_put(struct probity_tree *tree, const struct probity_event *event);

/* Closes what is open; nothing may be added from now on. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_tree_finish(struct probity_tree *tree);

/* Behind finish: the node above all outermost functions; by thread, above one node for each thread.
 * Its total is the sum of its children's. Valid until close. */
struct probity_tree_node *probity_tree_root(struct probity_tree *tree);

enum probity_tree_view {
    PROBITY_TREE_BELOW,   /* what happened below the function, wherever it was called */
    PROBITY_TREE_CALLERS, /* upside down: who called it, from where */
    PROBITY_TREE_CALLEES  /* the functions that it called itself, one level */
};

/* Says which functions a view is of. */
typedef int probity_tree_match(void *context, const struct probity_function *function);

/* Makes another tree, behind finish, with a root for each function that matches (match NULL: all,
 * lost declarations too); of recursive calls only the outermost adds to a total. By thread, for
 * each thread. The old one is gone. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_tree_view(struct probity_tree *tree, enum probity_tree_view view,
                      probity_tree_match *match, void *context);

struct probity_tree_limits {
    size_t depth;        /* levels of functions; 0: all */
    double share_min;    /* of the total of the outermost function around, 0 to 1 */
};

/* Takes out what is beyond. Returns how many nodes that were. */
size_t probity_tree_prune(struct probity_tree *tree, const struct probity_tree_limits *limits);

/* Takes out what is deeper, and then the smallest paths until so many nodes are left, as far as
 * there are small ones. Likewise. */
size_t probity_tree_prune_to(struct probity_tree *tree, size_t nodes_max, size_t depth);

enum probity_tree_key {
    PROBITY_TREE_CALLS,
    PROBITY_TREE_TOTAL,
    PROBITY_TREE_SELF,
    PROBITY_TREE_CPU_TOTAL,
    PROBITY_TREE_CPU_SELF,
    PROBITY_TREE_OFF_TOTAL, /* off the CPU: wall less CPU time */
    PROBITY_TREE_OFF_SELF,
    PROBITY_TREE_PAUSED,
    PROBITY_TREE_NAME, /* an order only */
    PROBITY_TREE_KEYS
};

/* PROBITY_TREE_KEYS where there is none of this name. */
enum probity_tree_key probity_tree_key_parse(const char *name);

/* "total", "cpu-self" ... */
const char *probity_tree_key_name(enum probity_tree_key key);

/* Calls, or ns. */
uint64_t probity_tree_value(const struct probity_tree_sums *sums, enum probity_tree_key key);

/* Total (is_self 0) or self time without what recording added. Returns 1, or 0 where that is not
 * known. */
int probity_tree_corrected(const struct probity_tree_sums *sums, int is_self,
                           struct probity_corrected *ret_corrected);

/* Orders the children of every node: largest first, names ascending. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_tree_sort(struct probity_tree *tree, enum probity_tree_key key);

/* The next in the order of print: first child, else sibling, else that of a parent; NULL behind the
 * last below `top`. *depth goes along. */
struct probity_tree_node *probity_tree_next(const struct probity_tree_node *node,
                                            const struct probity_tree_node *top, size_t *depth);

/* 0 to 1, of the total of the outermost function; below 0 where that has none. */
double probity_tree_share(const struct probity_tree_node *node);

/* Name of a node's function; "site-N", in ret_text, where its declaration is lost. */
const char *probity_tree_name(const struct probity_tree_node *node, char ret_text[32]);

const struct probity_scopes_repairs *probity_tree_repairs(const struct probity_tree *tree);

/* How many calls are in no node, since there were too many paths. */
uint64_t probity_tree_lost(const struct probity_tree *tree);

/* Nodes before any view or pruning. */
size_t probity_tree_nodes(const struct probity_tree *tree);

void probity_tree_close(struct probity_tree *tree);

#endif
