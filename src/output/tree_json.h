/* SPDX-License-Identifier: MIT
 *
 * tree_json.h: a call tree, for programs. Needs libjansson.
 */
#ifndef PROBITY_OUTPUT_TREE_JSON_H
#define PROBITY_OUTPUT_TREE_JSON_H

#include "output/tree_text.h"

/* One object: the traces, what was repaired, what is left out, and "tree", a list of nodes of which
 * each has its "children". Times are ns; what is not known is null. Returns 0,
 * PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_tree_json(FILE *stream, const struct probity_tree_answer *answer);

#endif
