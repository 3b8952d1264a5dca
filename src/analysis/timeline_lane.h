/* SPDX-License-Identifier: MIT
 *
 * timeline_lane.h: lanes of spans that merge as the unit of time grows, and the values of calls.
 * Parts of timeline.c.
 */
#ifndef PROBITY_ANALYSIS_TIMELINE_LANE_H
#define PROBITY_ANALYSIS_TIMELINE_LANE_H

#include "analysis/timeline.h"

/* Adds a span that does not begin before the last one. One that is shorter than the unit joins its
 * neighbour. Returns how many spans more there are (0 or 1), or PROBITY_ERROR_MEMORY. */
int probity_timeline_lane_add(struct probity_timeline_lane *lane,
                              const struct probity_timeline_span *span, uint64_t unit_ns);

/* Merges what a larger unit puts together. Returns how many spans are left. */
size_t probity_timeline_lane_merge(struct probity_timeline_lane *lane, uint64_t unit_ns);

/* Moves spans that begin at from_ns or later to the end of another lane, as they are. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_timeline_lane_move(struct probity_timeline_lane *from, struct probity_timeline_lane *to,
                               uint64_t from_ns);

/* Values of events, one behind the other, each with a head; of one call, or of all. */
struct timeline_bytes {
    uint8_t *bytes;
    size_t used, capacity;
};

/* Appends an event's values. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_bytes_add(struct timeline_bytes *bytes,
                               const struct probity_timeline_values *values);

/* Copies a call's values. Returns 0 with the number under which they are found, or
 * PROBITY_ERROR_MEMORY. */
int probity_timeline_bytes_keep(struct timeline_bytes *all, const struct timeline_bytes *of_call,
                                uint32_t *ret_values);

/* The call's values of this number, as keep() takes them; they point into `all`. */
struct timeline_bytes probity_timeline_bytes_of(const struct timeline_bytes *all, uint32_t values);

/* As probity_timeline_values_next(). */
int probity_timeline_bytes_next(const struct timeline_bytes *of_call, size_t *at,
                                struct probity_timeline_values *ret_values);

#endif
