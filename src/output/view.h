/* SPDX-License-Identifier: MIT
 *
 * view.h: everything that is known of traces as one page of HTML, which needs no network. The page
 * itself is made of view/ when the tool is built; here it gets its data. Needs libz and libjansson.
 */
#ifndef PROBITY_OUTPUT_VIEW_H
#define PROBITY_OUTPUT_VIEW_H

#include <stdio.h>

#include "analysis/compare.h"
#include "analysis/report.h"
#include "analysis/timeline.h"
#include "output/blocks_text.h"
#include "output/threads_text.h"
#include "output/tree_text.h"

/* What the page shows. The answers name the same reader. */
struct probity_view_answer {
    const struct probity_reader *reader;
    const struct probity_timeline *timeline;
    const char *tids; /* the threads it is of, as an option has them; NULL: all */
    const struct probity_report_function *functions;
    size_t function_count;
    const struct probity_scopes_repairs *repairs;
    struct probity_tree_answer tree;
    struct probity_blocks_answer blocks;
    struct probity_threads_answer threads;
    const struct probity_compare *comparison; /* with other runs; NULL: none */
    struct probity_tree_answer base; /* the tree of those runs; its root NULL: there is none, */
    size_t base_runs;                /* of how many it is */
    const char *base_why;            /* and why */
};

/* Whether this tool was built with the page: 1 or 0. */
int probity_view_has_page(void);

/* Writes the page. Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_view_html(FILE *stream, const struct probity_view_answer *answer);

/* A time line as one JSON object; its spans are not in it but in probity_view_spans(). Returns
 * likewise. In src/output/view_timeline.c. */
int probity_view_timeline_json(FILE *stream, const struct probity_view_answer *answer);

/* The spans of all lanes, in the order in which the object names the lanes. Errors of writing stay
 * in the stream. */
void probity_view_spans(FILE *stream, const struct probity_timeline *timeline);

#endif
