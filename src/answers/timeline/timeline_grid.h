/* SPDX-License-Identifier: MIT
 *
 * timeline_grid.h: a timeline divided into columns of equal length, for a terminal or a page: the
 * main activity of each thread in each column. The time of merged spans is treated as evenly
 * distributed.
 */
#ifndef PROBITY_ANSWERS_TIMELINE_TIMELINE_GRID_H
#define PROBITY_ANSWERS_TIMELINE_TIMELINE_GRID_H

#include "answers/timeline/timeline.h"

#define PROBITY_TIMELINE_NOTHING UINT32_MAX

struct probity_timeline_cell {
    double there_ns, inside_ns, off_ns; /* between the thread's records; in calls; off the CPU */
    double marks;
    uint32_t function; /* the function with most self time, or NOTHING */
    uint32_t mark;     /* the most frequent mark, or NOTHING */
};

/* Returns the length of a column, at least one nanosecond. */
double probity_timeline_column_ns(const struct probity_timeline *timeline, size_t columns);

/* Divides the time from the first to the last record. cells: `columns` zeroed cells. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_timeline_grid(const struct probity_timeline *timeline,
                          const struct probity_timeline_thread *thread, size_t columns,
                          struct probity_timeline_cell *ret_cells);

#endif
