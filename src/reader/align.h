/* SPDX-License-Identifier: MIT
 *
 * align.h: finds the line of a clock's offset that satisfies upper and lower bounds, and its error
 * (doc/hosts.md, "Bounds"). No I/O; independent of traces and hosts.
 */
#ifndef PROBITY_READER_ALIGN_H
#define PROBITY_READER_ALIGN_H

#include <stddef.h>

/* The largest slope of an offset: the maximum rate difference of two clocks. */
#define PROBITY_ALIGN_SLOPE_MAX 5e-4

/* One bound: at time x, the offset is at most, or at least, y. In ns, from origins chosen by the
 * caller such that the values are exact. */
struct probity_align_point {
    double x, y;
};

struct probity_align_bounds {
    struct probity_align_point *upper, *lower;
    size_t upper_count, lower_count;
};

/* An offset: at_begin at x = 0 and at_end at x = span; in between, a line. */
struct probity_align_line {
    double span, at_begin, at_end;
};

struct probity_align_fit {
    struct probity_align_line line; /* satisfies all bounds */
    double least[2], most[2];       /* extremes of all such lines, at both ends */
};

static inline double probity_align_at(const struct probity_align_line *line, double x)
{
    return line->at_begin + (line->at_end - line->at_begin) * (x / line->span);
}

/* Sorts the bounds by time, and removes those that are implied by others. */
void probity_align_reduce(struct probity_align_bounds *bounds);

/* Finds the lines that satisfy the bounds, after probity_align_reduce(). There must be at least one
 * bound of each kind. span > 0; all bounds are within it. Returns 1; 0 if there are no such lines,
 * because bounds contradict each other; or PROBITY_ERROR_MEMORY. */
int probity_align_fit(const struct probity_align_bounds *bounds, double span, double slope_max,
                      struct probity_align_fit *ret_fit);

/* Returns the largest distance of a line from any other line that satisfies the bounds of a fit. */
double probity_align_error(const struct probity_align_fit *fit,
                           const struct probity_align_line *line);

#endif
