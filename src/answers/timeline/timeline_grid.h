/* SPDX-License-Identifier: MIT
 *
 * timeline_grid.h: a time line divided into columns of equal length, for a terminal or a page: the
 * main activity of each thread in each column. Merged spans count as if evenly distributed.
 */
#ifndef PROBITY_ANSWERS_TIMELINE_TIMELINE_GRID_H
#define PROBITY_ANSWERS_TIMELINE_TIMELINE_GRID_H

#include "answers/timeline/timeline.h"

#define PROBITY_TIMELINE_NOTHING UINT32_MAX

struct probity_timeline_cell {
    double there_ns, inside_ns, off_ns; /* between its records; in calls; off CPU */
    double marks;
    uint32_t function; /* the one with the largest self time; NOTHING: none */
    uint32_t mark;     /* the most frequent mark; NOTHING: none */
};

/* Length of a column, at least one nanosecond. */
double probity_timeline_column_ns(const struct probity_timeline *timeline, size_t columns);

/* Divides the time between the first and the last record. cells: `columns` of them, zeroed. Returns
 * 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_grid(const struct probity_timeline *timeline,
                          const struct probity_timeline_thread *thread, size_t columns,
                          struct probity_timeline_cell *ret_cells);

#endif
