/* SPDX-License-Identifier: MIT
 *
 * diff_base.h: the base of `probity view --diff`: its runs, and the call tree, functions, blocks,
 * requests and timeline of all of them together.
 */
#ifndef PROBITY_CLI_DIFF_BASE_H
#define PROBITY_CLI_DIFF_BASE_H

#include "analysis/request_times.h"
#include "answers/blocks/blocks.h"
#include "answers/report/report.h"
#include "answers/timeline/timeline.h"
#include "answers/tree/tree.h"
#include "cli/diff_input.h"
#include "cli/query.h"

/* A page within these limits still opens quickly. More paths than this are counted in memory, then
 * pruned for the page. */
enum { CLI_PAGE_NODES_MAX = 200000, CLI_PAGE_NODES_SHOWN = 20000, CLI_PAGE_DEPTH = 400 };

struct cli_diff_base {
    struct cli_diff_input compared; /* `comparison` is NULL without runs to compare */
    char **names; /* base runs: traces and labels */
    size_t count;
    struct probity_reader *reader; /* reads the base runs that are traces; NULL without a tree */
    struct probity_tree *tree;     /* of all their calls, sorted by total time; NULL as above */
    struct probity_report *report; /* of the same calls; this and the rest are NULL as above */
    struct probity_blocks *blocks;
    struct probity_request_times requests; /* empty without a tree */
    struct probity_timeline *timeline;
    const struct probity_blocks_pair *const *pairs; /* the blocks, sorted by total time */
    size_t pair_count;
    size_t spans_max; /* set by the caller: maximum number of spans in the timeline */
    size_t traces, pruned;
    unsigned passes; /* passes over traces still to come, for the progress */
    uint64_t profiled; /* counted calls, which are not in the tree */
    const char *why;   /* why there is no tree; NULL if there is one */
};

/* Adds a value of --diff. Returns CLI_OK or CLI_FAILURE. */
int cli_diff_base_add(struct cli_diff_base *against, char *name);

/* Reads the base runs that were added, and the runs `names` to compare with them. Returns CLI_OK,
 * or another status after reporting why. */
int cli_diff_base_read(struct cli_diff_base *against, const struct cli_query *answer, char **names,
                       size_t count);

void cli_diff_base_release(struct cli_diff_base *against);

#endif
