/* SPDX-License-Identifier: MIT
 *
 * paths.h: rows of call paths, and sums by path, thread and minute; see doc/fleet.md. The paths are
 * those of `probity tree`. Memory: an entry for each path and thread, up to a limit, and the sums
 * of one minute, of which there are at most 4,096. Does no I/O.
 */
#ifndef PROBITY_FLEET_PATHS_H
#define PROBITY_FLEET_PATHS_H

#include "fleet/output.h"
#include "reader/reader.h"

/* Calls on paths beyond the limit are only counted. */
enum { PROBITY_FLEET_PATHS_MAX = 50000 };

struct probity_fleet_paths;

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_fleet_paths_open(struct probity_fleet_output *output, uint64_t run,
                             struct probity_fleet_paths **ret_paths);

/* Takes the next event in time order. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_fleet_paths_put(struct probity_fleet_paths *paths, const struct probity_event *event);

/* Writes the remaining rows. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_fleet_paths_finish(struct probity_fleet_paths *paths);

void probity_fleet_paths_close(struct probity_fleet_paths *paths);

#endif
