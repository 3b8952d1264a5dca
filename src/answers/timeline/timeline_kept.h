/* SPDX-License-Identifier: MIT
 *
 * timeline_kept.h: all spans of a timeline in a compact form, from the moment when the first ones
 * are merged, so that detail can be added without another pass over the events. Part of timeline.c.
 *
 * They are dropped if they take too much memory, or if another pass would not add the same spans:
 * with values, which are not kept; with thread states, deferred scopes, locks held at the end, or a
 * clock that was set back.
 */
#ifndef PROBITY_ANSWERS_TIMELINE_TIMELINE_KEPT_H
#define PROBITY_ANSWERS_TIMELINE_TIMELINE_KEPT_H

#include "answers/timeline/timeline.h"

/* Of a lane. */
struct timeline_kept {
    struct timeline_kept *next; /* of any lane */
    uint8_t *bytes;
    size_t used, capacity;
    uint64_t start_ns; /* of the last span */
};

/* Of a timeline. */
struct timeline_keeper {
    int may_begin, has_begun;
    size_t bytes; /* of all lanes */
    struct timeline_kept *lanes;
};

/* Before the first spans are merged: keeps all spans from now on, and those that are there. */
void timeline_keeper_begin(struct probity_timeline *timeline);

/* After the beginning: keeps a span that is about to be added to a lane. */
void timeline_keeper_add(struct probity_timeline *timeline, struct probity_timeline_lane *lane,
                         const struct probity_timeline_span *span);

/* Keeps nothing, now or later. The lanes' pointers are not used afterwards. */
void timeline_keeper_drop(struct timeline_keeper *keeper);

/* Adds all threads, with those of the kept spans that are in the intervals of `closer`. Returns 0
 * or PROBITY_ERROR_MEMORY. */
int timeline_keeper_repeat(const struct probity_timeline *timeline,
                           struct probity_timeline *closer);

#endif
