/* SPDX-License-Identifier: MIT
 *
 * export_lanes.h: assigns rows (lanes) to intervals that overlap in time, such as requests in
 * flight: each gets the lowest lane that is free at its start. Memory: the maximum number of
 * intervals that overlapped.
 */
#ifndef PROBITY_EXPORTS_EXPORT_LANES_H
#define PROBITY_EXPORTS_EXPORT_LANES_H

#include <stdint.h>

/* All zero: empty. A tree of minima, so that a lane is found without examining all of them. */
struct export_lanes {
    uint64_t *free_ns; /* [1]: root; [leaves + i]: since when lane i is free; 0: never used */
    uint32_t *ids;     /* of lanes, set by the user */
    uint32_t leaves, count;
};

#define EXPORT_LANE_NONE UINT32_MAX

/* Takes a lane that is free from start_ns on: `preferred` if possible, else the lowest. A new lane
 * gets the id `id`. The lane is taken until put. Returns its index, or EXPORT_LANE_NONE if out of
 * memory. */
uint32_t export_lanes_take(struct export_lanes *lanes, uint64_t start_ns, uint32_t preferred,
                           uint32_t id);

/* Frees the lane from end_ns on. */
void export_lanes_put(struct export_lanes *lanes, uint32_t lane, uint64_t end_ns);

void export_lanes_release(struct export_lanes *lanes);

#endif
