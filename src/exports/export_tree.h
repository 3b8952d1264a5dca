/* SPDX-License-Identifier: MIT
 *
 * export_tree.h: shared by the formats that are written from a call tree; their state begins with
 * one. They hold one node per path, independent of the length of the trace.
 */
#ifndef PROBITY_EXPORTS_EXPORT_TREE_H
#define PROBITY_EXPORTS_EXPORT_TREE_H

#include "answers/tree/tree_text.h"
#include "exports/export.h"

struct export_tree {
    struct probity_tree *tree;
};

int export_tree_begin(struct probity_export *export);
void export_tree_event(struct probity_export *export, struct probity_export_thread *thread,
                       const struct probity_event *event);

/* Completes the tree and sorts it, largest branches first. */
int export_tree_finish(struct probity_export *export, struct probity_tree_answer *ret_answer);

void export_tree_release(struct probity_export *export);

#endif
