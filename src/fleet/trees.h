/* SPDX-License-Identifier: MIT
 *
 * trees.h: statements that query call paths and their sums, and the conversion of their replies
 * into a call tree. Does no I/O.
 */
#ifndef PROBITY_FLEET_TREES_H
#define PROBITY_FLEET_TREES_H

#include "answers/tree/tree.h"
#include "fleet/sums.h"

/* Write the statements for the paths of the selected runs, for their sums in a range of whole
 * minutes (of all threads, or by thread if the range requests it), and for calls without times:
 * those of profile mode, and those counted by PROBITY_BUDGET. */
void probity_fleet_sql_paths(FILE *stream, const struct probity_fleet_range *range);
void probity_fleet_sql_path_sums(FILE *stream, const struct probity_fleet_range *range);
void probity_fleet_sql_profiled(FILE *stream, const struct probity_fleet_range *range);

/* Paths, by number. */
struct probity_fleet_paths_taken {
    struct probity_hashtable table;
};

/* Take the replies, in this order, after those with functions and threads. Return 0, MEMORY, or
 * PROBITY_ERROR_FORMAT if a reply has another format. The tree refers to the sums. */
int probity_fleet_take_paths(struct probity_fleet_paths_taken *paths,
                             struct probity_fleet_answer *answer);
int probity_fleet_take_path_sums(struct probity_fleet_paths_taken *paths,
                                 const struct probity_fleet_sums *sums,
                                 struct probity_fleet_answer *answer, struct probity_tree *tree);
int probity_fleet_take_profiled(struct probity_fleet_answer *answer, uint64_t *ret_profiled,
                                uint64_t *ret_counted);

void probity_fleet_paths_taken_release(struct probity_fleet_paths_taken *paths);

#endif
