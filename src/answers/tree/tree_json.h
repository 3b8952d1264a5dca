/* SPDX-License-Identifier: MIT
 *
 * tree_json.h: a call tree as JSON. Needs libjansson.
 */
#ifndef PROBITY_ANSWERS_TREE_TREE_JSON_H
#define PROBITY_ANSWERS_TREE_TREE_JSON_H

#include "answers/tree/tree_text.h"

/* One object: the traces, the repairs, the omissions, and "tree", a list of nodes, each with its
 * "children". Times are ns; unknown values are null. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_tree_json(FILE *stream, const struct probity_tree_answer *answer);

#endif
