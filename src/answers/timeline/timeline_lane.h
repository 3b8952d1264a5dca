/* SPDX-License-Identifier: MIT
 *
 * timeline_lane.h: lanes of spans, which merge as the unit of time grows, and the values of calls.
 * Part of timeline.c.
 */
#ifndef PROBITY_ANSWERS_TIMELINE_TIMELINE_LANE_H
#define PROBITY_ANSWERS_TIMELINE_TIMELINE_LANE_H

#include "answers/timeline/timeline.h"

/* Adds a span that does not begin before the last one. If it is shorter than the unit, it is merged
 * with the last one. Returns the number of spans added (0 or 1), or PROBITY_ERROR_MEMORY. */
int probity_timeline_lane_add(struct probity_timeline_lane *lane,
                              const struct probity_timeline_span *span, uint64_t unit_ns);

/* Merges spans after the unit has grown. Returns the number of spans left. */
size_t probity_timeline_lane_merge(struct probity_timeline_lane *lane, uint64_t unit_ns);

/* Moves the spans that begin at from_ns or later, unchanged, to the end of another lane. Returns 0
 * or PROBITY_ERROR_MEMORY. */
int probity_timeline_lane_move(struct probity_timeline_lane *from, struct probity_timeline_lane *to,
                               uint64_t from_ns);

/* The values of events, one after another, each with a head: those of one call, or of all. */
struct timeline_bytes {
    uint8_t *bytes;
    size_t used, capacity;
};

/* Appends an event's values. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_bytes_add(struct timeline_bytes *bytes,
                               const struct probity_timeline_values *values);

/* Copies a call's values. Returns 0 and a number for them, or PROBITY_ERROR_MEMORY. */
int probity_timeline_bytes_keep(struct timeline_bytes *all, const struct timeline_bytes *of_call,
                                uint32_t *ret_values);

/* Returns the values with this number; they point into `all`. */
struct timeline_bytes probity_timeline_bytes_of(const struct timeline_bytes *all, uint32_t values);

/* See probity_timeline_values_next(). */
int probity_timeline_bytes_next(const struct timeline_bytes *of_call, size_t *at,
                                struct probity_timeline_values *ret_values);

#endif
