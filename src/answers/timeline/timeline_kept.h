/* SPDX-License-Identifier: MIT
 *
 * timeline_kept.h: all spans of a timeline in a compact form, stored once spans are merged, so that
 * detail can be added without another pass over the events. Part of timeline.c.
 *
 * The spans are discarded if they take too much memory, or if another pass would not add the same
 * spans: if there are values, which are not kept, thread states, deferred scopes or locks held at
 * the end, or if the clock was set back.
 */
#ifndef PROBITY_ANSWERS_TIMELINE_TIMELINE_KEPT_H
#define PROBITY_ANSWERS_TIMELINE_TIMELINE_KEPT_H

#include "answers/timeline/timeline.h"

/* The spans of one lane. */
struct timeline_kept {
    struct timeline_kept *next; /* of another lane */
    uint8_t *bytes;
    size_t used, capacity;
    uint64_t start_ns; /* start of the last span */
};

/* The spans of one timeline. */
struct timeline_keeper {
    int may_begin, has_begun;
    size_t bytes; /* of all lanes */
    struct timeline_kept *lanes;
};

/* Call before the first spans are merged: keeps the present spans, and all further ones. */
void timeline_keeper_begin(struct probity_timeline *timeline);

/* After the beginning: keeps a span that is to be added to a lane. */
void timeline_keeper_add(struct probity_timeline *timeline, struct probity_timeline_lane *lane,
                         const struct probity_timeline_span *span);

/* Discards all spans, and keeps none from now on. The lanes' pointers must not be used
 * afterwards. */
void timeline_keeper_drop(struct timeline_keeper *keeper);

/* Adds all threads, with those kept spans that are in the intervals of `closer`. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int timeline_keeper_repeat(const struct probity_timeline *timeline,
                           struct probity_timeline *closer);

#endif
