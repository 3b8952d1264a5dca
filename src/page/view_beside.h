/* SPDX-License-Identifier: MIT
 *
 * view_beside.h: computes the timeline of a page in a second thread, with a separate reader, while
 * the command's thread computes all other answers. Only for view_command.c.
 */
#ifndef PROBITY_PAGE_VIEW_BESIDE_H
#define PROBITY_PAGE_VIEW_BESIDE_H

#include "page/view.h"

struct cli_query;
struct view_beside;

/* Returns whether this is possible (1 or 0): for a range of an indexed trace, without filters,
 * waits or thread states, if the timeline depends only on calls in the range. */
int view_beside_is_possible(const struct cli_query *answer);

/* Starts the thread, which adds all events to the timeline, finishes and refines it, up to
 * spans_max spans. Only one thread then reads the command's reader. Returns NULL, with the timeline
 * unchanged, if no thread was started, for example with one CPU or if a file was replaced. */
struct view_beside *view_beside_start(const struct cli_query *answer, size_t spans_max,
                                      struct probity_timeline *timeline);

/* Waits until the thread has ended. Returns 0 or an error, with errno. Sets *ret_is_refined to 0 if
 * the timeline is still to be refined. */
int view_beside_join(struct view_beside *beside, int *ret_is_refined);

/* Call after join. Returns the element with the spans if they are refined; NULL: there was no
 * memory for it. */
const char *view_beside_spans(const struct view_beside *beside, size_t *ret_bytes);

/* May be called before join. Closes the reader that owns the names in the timeline. */
void view_beside_close(struct view_beside *beside);

#endif
