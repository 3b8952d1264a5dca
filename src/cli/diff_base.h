/* SPDX-License-Identifier: MIT
 *
 * diff_base.h: the base of `probity view --diff`: runs, and the tree of their calls.
 */
#ifndef PROBITY_CLI_DIFF_BASE_H
#define PROBITY_CLI_DIFF_BASE_H

#include "answers/tree/tree.h"
#include "cli/diff_input.h"
#include "cli/query.h"

/* Limits with which a page still opens quickly. More paths are counted in memory, and pruned for
 * the page. */
enum { CLI_PAGE_NODES_MAX = 200000, CLI_PAGE_NODES_SHOWN = 20000, CLI_PAGE_DEPTH = 400 };

struct cli_diff_base {
    struct cli_diff_input compared; /* its comparison is NULL if nothing is compared */
    char **names; /* of runs of the base: traces and labels */
    size_t count;
    struct probity_reader *reader; /* of the traces among them; NULL without a tree */
    struct probity_tree *tree;     /* of all their calls, sorted by total time */
    size_t traces, pruned;
    uint64_t profiled; /* calls that are in no tree, because they were only counted */
    const char *why;   /* why there is no tree; NULL: there is one */
};

/* Takes the value of --diff. Returns CLI_OK or CLI_FAILURE. */
int cli_diff_base_add(struct cli_diff_base *against, char *name);

/* Reads what was added, and the runs `names` to compare it with. Returns CLI_OK, or another status
 * and reports why. */
int cli_diff_base_read(struct cli_diff_base *against, const struct cli_query *answer, char **names,
                       size_t count);

void cli_diff_base_release(struct cli_diff_base *against);

#endif
