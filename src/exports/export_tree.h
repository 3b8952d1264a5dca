/* SPDX-License-Identifier: MIT
 *
 * export_tree.h: shared by the formats that are written from a call tree, or from blocks if there
 * are no calls or blocks are requested. The state of such a format begins with struct export_tree.
 * Holds one node per path or pair of probes, independent of the length of the trace.
 */
#ifndef PROBITY_EXPORTS_EXPORT_TREE_H
#define PROBITY_EXPORTS_EXPORT_TREE_H

#include "answers/blocks/blocks.h"
#include "answers/tree/tree_print.h"
#include "exports/export.h"

struct export_tree {
    struct probity_tree *tree;     /* empty if blocks are requested */
    struct probity_blocks *blocks; /* NULL as soon as a call begins in the range */
};

int export_tree_begin(struct probity_export *export);
void export_tree_event(struct probity_export *export, struct probity_export_thread *thread,
                       const struct probity_event *event);

/* Completes the tree and sorts it, largest branches first. */
int export_tree_finish(struct probity_export *export, struct probity_tree_answer *ret_answer);

/* Writes one pair of probes; its name may contain any bytes. Returns 0 or an error. */
typedef int export_pair_put(struct probity_export *export, const struct probity_blocks_pair *pair,
                            const char *name);

/* If the range has blocks and no calls, passes all pairs to `put`, largest first (by thread: those
 * of each thread), and sets *ret_done. Returns 0 or an error. */
int export_tree_blocks(struct probity_export *export, export_pair_put *put, int *ret_done);

void export_tree_release(struct probity_export *export);

#endif
