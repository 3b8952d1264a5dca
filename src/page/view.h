/* SPDX-License-Identifier: MIT
 *
 * view.h: writes one self-contained HTML page with all information about traces; it needs no
 * network. The page is built from view/ when the tool is built; this adds the data. Needs libz and
 * libjansson.
 */
#ifndef PROBITY_PAGE_VIEW_H
#define PROBITY_PAGE_VIEW_H

#include <stdio.h>

#include "analysis/request_times.h"
#include "answers/blocks/blocks_print.h"
#include "answers/diff/compare.h"
#include "answers/report/report.h"
#include "answers/threads/threads_print.h"
#include "answers/timeline/timeline.h"
#include "answers/tree/tree_print.h"

struct probity_tiles;      /* in page/tiles.h */
struct probity_view_waits; /* in page/view_waits.h */
struct probity_view_messages; /* in page/view_messages.h */
struct probity_view_place;    /* in page/view_place.h */

/* The contents of the page. The timeline may come from another reader of the same traces. */
struct probity_view_answer {
    const struct probity_reader *reader;
    const struct probity_timeline *timeline;
    const char *spans; /* written by probity_view_spans_element() before; NULL: not yet written */
    size_t spans_bytes;
    const char *tids; /* the selected threads, as given; NULL: all */
    const struct probity_view_place *place; /* where the page opens; NULL: at its first part */
    const struct probity_report_function *functions;
    size_t function_count;
    const struct probity_scopes_repairs *repairs;
    struct probity_tree_answer tree;
    struct probity_blocks_answer blocks;
    struct probity_threads_answer threads;
    const struct probity_compare *comparison; /* comparison with other runs; NULL: none */
    const struct probity_request_times *requests; /* only used with a comparison */
    /* Of the other runs together: reader, timeline, functions, repairs, tree, blocks and requests.
     * NULL: none, for the reason base_why. */
    const struct probity_view_answer *base;
    size_t base_runs; /* number of other runs */
    const char *base_why;
    const struct probity_view_waits *waits; /* NULL: none */
    const struct probity_view_messages *messages; /* NULL: none */
    const struct probity_tiles *tiles; /* tiles next to the page (doc/tiles.md); NULL: none */
    int is_served; /* served by a server, from which the page requests windows (doc/tiles.md) */
};

/* In a page with tiles, a server replaces this with PROBITY_VIEW_WINDOWS; the page then requests
 * windows from the server. */
#define PROBITY_VIEW_WINDOWS_PLACE "<!--probity-windows-->"
#define PROBITY_VIEW_WINDOWS "<span id=\"probity-windows\"></span>"

/* Writes the page. Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_view_html(FILE *stream, const struct probity_view_answer *answer);

/* Writes a timeline as one JSON object, without its spans, which probity_view_spans() writes.
 * Returns the same as above. In src/page/view_timeline.c. */
int probity_view_timeline_json(FILE *stream, const struct probity_view_answer *answer);

/* Writes the spans of all lanes, in the order of the lanes in the object. After a write error,
 * ferror(stream) is set. */
int probity_view_spans(FILE *stream, const struct probity_timeline *timeline);

/* Writes the page's element with the spans. Returns the same as above. */
int probity_view_spans_element(FILE *stream, const struct probity_timeline *timeline);

/* Writes the lanes and spans of one thread; starts of spans are relative to first_ns. */
void probity_view_lanes_json(FILE *stream, const struct probity_timeline_thread *thread);
int probity_view_thread_spans(FILE *stream, const struct probity_timeline_thread *thread,
                              uint64_t first_ns);

#endif
