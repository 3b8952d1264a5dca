/* SPDX-License-Identifier: MIT
 *
 * view_beside.h: the timeline of a page in a second thread, with a separate reader, while the
 * command's thread makes all other answers. Part of view_command.c.
 */
#ifndef PROBITY_PAGE_VIEW_BESIDE_H
#define PROBITY_PAGE_VIEW_BESIDE_H

#include "page/view.h"

struct cli_query;
struct view_beside;

/* Whether the timeline can be made in this way: in a range of an indexed trace where only calls in
 * it determine what it needs, without filters, waits and states. 1 or 0. */
int view_beside_is_possible(const struct cli_query *answer);

/* Starts the thread, which puts all events to the timeline, finishes and refines it, up to
 * spans_max spans. The command's reader is then read by one thread only. Returns NULL if there is
 * no thread, as with one CPU or if a file was replaced: the timeline is then unchanged. */
struct view_beside *view_beside_start(const struct cli_query *answer, size_t spans_max,
                                      struct probity_timeline *timeline);

/* Waits until the thread has ended. Returns 0 or an error, with errno. Sets *ret_is_refined; if it
 * is not, that remains to be done. */
int view_beside_join(struct view_beside *beside, int *ret_is_refined);

/* After join: the element with the spans, if they are refined; NULL: there was no memory for it. */
const char *view_beside_spans(const struct view_beside *beside, size_t *ret_bytes);

/* Also before join. Names in the timeline belong to the reader that this closes. */
void view_beside_close(struct view_beside *beside);

#endif
