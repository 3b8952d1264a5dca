/* SPDX-License-Identifier: MIT
 *
 * tree_csv.h: a call tree as lines: CSV for spreadsheets and scripts, and folded stacks, which
 * tools for flame graphs read.
 */
#ifndef PROBITY_OUTPUT_TREE_CSV_H
#define PROBITY_OUTPUT_TREE_CSV_H

#include "output/tree_text.h"

/* A line of names, then one for each node: its number, that of its caller (0: none), its depth ...
 * Times are ns; what is not known is empty. Returns 0 or PROBITY_ERROR_MEMORY; errors of writing
 * stay in the stream. */
int probity_tree_csv(FILE *stream, const struct probity_tree_answer *answer);

/* Lines "outermost;...;function VALUE". key is one of the self times in ns, to which the total time
 * of children that were taken out is added, or CALLS. Lines of 0 are left out. Returns as above;
 * *ret_shortened: lines that lack levels, see PROBITY_TREE_LEVELS_TOLD. */
int probity_tree_folded(FILE *stream, const struct probity_tree_answer *answer,
                        enum probity_tree_key key, uint64_t *ret_shortened);

#endif
