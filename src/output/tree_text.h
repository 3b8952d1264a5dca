/* SPDX-License-Identifier: MIT
 *
 * tree_text.h: a call tree for people.
 */
#ifndef PROBITY_OUTPUT_TREE_TEXT_H
#define PROBITY_OUTPUT_TREE_TEXT_H

#include <stdio.h>

#include "analysis/tree.h"

/* A tree and what is to be said about it, for all ways to print it. */
struct probity_tree_answer {
    const struct probity_reader *reader;
    const struct probity_tree_node *root;
    const struct probity_scopes_repairs *repairs;
    uint64_t lost;     /* calls without a node */
    uint64_t profiled; /* calls that profile mode counted: they have no paths */
    size_t pruned;     /* nodes that are not shown */
};

/* A format that writes every path in full grows with the square of the depth: of a deeper path it
 * tells the outermost and the innermost levels. So self times stay with their functions, and what
 * is called near the outside has all of its total. */
enum { PROBITY_TREE_LEVELS_OUTER = 512, PROBITY_TREE_LEVELS_INNER = 512,
       PROBITY_TREE_LEVELS_TOLD = PROBITY_TREE_LEVELS_OUTER + PROBITY_TREE_LEVELS_INNER };

#define PROBITY_TREE_LEVELS_BETWEEN "[truncated]"

struct probity_tree_layout {
    int has_colour;
    int has_lines; /* drawn with U+2500 and its like, not with ASCII */
    int has_places;
    int is_corrected; /* times less overhead beside those with it */
    size_t line_columns; /* of a terminal: what does not fit is left out; 0: all is there */
};

/* The name of a node's function, in C++ with its classes; "site-N", in ret_text, where its
 * declaration is lost. */
const char *probity_tree_label(const struct probity_tree_node *node, char ret_text[32],
                               size_t *ret_bytes);

/* A line for each node, children below their callers; then what was repaired and whether the traces
 * are complete. Errors of writing stay in the stream. */
void probity_tree_text(FILE *stream, const struct probity_tree_layout *layout,
                       const struct probity_tree_answer *answer);

#endif
