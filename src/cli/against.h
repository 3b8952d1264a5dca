/* SPDX-License-Identifier: MIT
 *
 * against.h: what the page of `probity view --diff` compares with: runs, and the tree of their
 * calls.
 */
#ifndef PROBITY_CLI_AGAINST_H
#define PROBITY_CLI_AGAINST_H

#include "analysis/tree.h"
#include "cli/answer.h"
#include "cli/compared.h"

/* What a page still shows quickly. Paths beyond are counted in memory, and pruned for the page. */
enum { CLI_PAGE_NODES_MAX = 200000, CLI_PAGE_NODES_SHOWN = 20000, CLI_PAGE_DEPTH = 400 };

struct cli_against {
    struct cli_compared compared; /* its comparison is NULL where nothing is compared */
    char **names; /* of runs of the base: traces and labels */
    size_t count;
    struct probity_reader *reader; /* of the traces among them; NULL without a tree */
    struct probity_tree *tree;     /* of all their calls, sorted by total time */
    size_t traces, pruned;
    uint64_t profiled; /* calls that are in no tree, for they were only counted */
    const char *why;   /* there is no tree; NULL: there is */
};

/* Takes the value of --diff. Returns CLI_OK or CLI_FAILURE. */
int cli_against_add(struct cli_against *against, char *name);

/* Reads what was added, and the runs `names` that it is compared with. Returns CLI_OK, or another
 * status and says why. */
int cli_against_read(struct cli_against *against, const struct cli_answer *answer, char **names,
                     size_t count);

void cli_against_release(struct cli_against *against);

#endif
