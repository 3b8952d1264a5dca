/* SPDX-License-Identifier: MIT
 *
 * tree_csv.h: a call tree as lines: CSV, and folded stacks for flame graph tools.
 */
#ifndef PROBITY_ANSWERS_TREE_TREE_CSV_H
#define PROBITY_ANSWERS_TREE_TREE_CSV_H

#include "answers/tree/tree_text.h"

/* A header line, then one line for each node: its number, its caller's (0: none), its depth ...
 * Times are ns; unknown values are empty. Returns 0 or PROBITY_ERROR_MEMORY; the caller checks the
 * stream for errors. */
int probity_tree_csv(FILE *stream, const struct probity_tree_answer *answer);

/* Lines "outermost;...;function VALUE". key is CALLS, or one of the self times in ns, to which the
 * total time of pruned children is added. Lines with 0 are left out. Returns as above;
 * *ret_shortened: number of lines with levels left out, see PROBITY_TREE_LEVELS_TOLD. */
int probity_tree_folded(FILE *stream, const struct probity_tree_answer *answer,
                        enum probity_tree_key key, uint64_t *ret_shortened);

enum { PROBITY_TREE_THREAD_BYTES = 128 };

/* The outermost level of a folded stack by thread: "NAME-TID". Thread ids are unique only within a
 * process, and process ids within a container: has whatever is needed to keep the threads apart. */
void probity_tree_thread_text(const struct probity_reader *reader,
                              const struct probity_thread_label *thread,
                              char ret_text[PROBITY_TREE_THREAD_BYTES]);

#endif
