/* SPDX-License-Identifier: MIT
 *
 * tree_text.h: a call tree as text.
 */
#ifndef PROBITY_ANSWERS_TREE_TREE_TEXT_H
#define PROBITY_ANSWERS_TREE_TREE_TEXT_H

#include <stdio.h>

#include "answers/tree/tree.h"

/* The same tree with the time in another state in place of the CPU time; that of the answer has
 * running. */
struct probity_tree_states {
    const struct probity_tree_node *waiting, *unknown; /* roots */
};

/* A tree and facts about it, for all output formats. */
struct probity_tree_answer {
    const struct probity_reader *reader;
    const struct probity_tree_node *root;
    const struct probity_scopes_repairs *repairs;
    uint64_t lost;     /* calls without a node */
    uint64_t profiled; /* calls of profile mode, which have no paths */
    size_t pruned;     /* nodes not shown */
    uint64_t counted;  /* calls that PROBITY_BUDGET has only counted, without paths too */
    const struct probity_tree_states *states; /* split times by states in place of CPU times; NULL:
                                                 do not */
};

/* Formats that write every path in full grow with the square of the depth. To limit that, only the
 * outermost and innermost levels of a deeper path are written: self times stay with their
 * functions, and functions near the outermost level keep their full totals. */
enum { PROBITY_TREE_LEVELS_OUTER = 512, PROBITY_TREE_LEVELS_INNER = 512,
       PROBITY_TREE_LEVELS_TOLD = PROBITY_TREE_LEVELS_OUTER + PROBITY_TREE_LEVELS_INNER };

#define PROBITY_TREE_LEVELS_BETWEEN "[truncated]"

struct probity_tree_layout {
    int has_colour;
    int has_lines; /* draw lines with U+2500 etc. instead of ASCII */
    int has_places;
    int is_corrected; /* also show times without overhead */
    size_t line_columns; /* terminal width: columns that do not fit are omitted; 0: no limit */
};

/* The name of a node's function, in C++ with its classes; in ret_text "site-N" if its declaration
 * is lost. */
const char *probity_tree_label(const struct probity_tree_node *node, char ret_text[32],
                               size_t *ret_bytes);

/* A line for each node, children below their callers; then repairs and whether the traces are
 * complete. The caller checks the stream for errors. */
void probity_tree_text(FILE *stream, const struct probity_tree_layout *layout,
                       const struct probity_tree_answer *answer);

#endif
