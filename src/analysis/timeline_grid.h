/* SPDX-License-Identifier: MIT
 *
 * timeline_grid.h: a time line cut into columns of equal length, as a terminal or a page shows it:
 * what each thread did most in each. What was put together counts as if evenly spread.
 */
#ifndef PROBITY_ANALYSIS_TIMELINE_GRID_H
#define PROBITY_ANALYSIS_TIMELINE_GRID_H

#include "analysis/timeline.h"

#define PROBITY_TIMELINE_NOTHING UINT32_MAX

struct probity_timeline_cell {
    double there_ns, inside_ns, off_ns; /* between its records; in calls; off the CPU */
    double marks;
    uint32_t function; /* in which most of the time was, by itself; NOTHING: in none */
    uint32_t mark;     /* of most marks, likewise */
};

/* Cuts what lies between the first and the last record. cells: `columns` of them, cleared. Returns
 * 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_grid(const struct probity_timeline *timeline,
                          const struct probity_timeline_thread *thread, size_t columns,
                          struct probity_timeline_cell *ret_cells);

#endif
