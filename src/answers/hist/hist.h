/* SPDX-License-Identifier: MIT
 *
 * hist.h: reduces fine-grained counts to the few rows of a histogram for display. The bounds of a
 * row coincide with bounds of buckets, so that each value is in the right row. Prints nothing.
 */
#ifndef PROBITY_ANSWERS_HIST_HIST_H
#define PROBITY_ANSWERS_HIST_HIST_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/histogram.h"

/* Values in [least, end); if end is UINT64_MAX, including it. */
struct probity_hist_row {
    uint64_t least, end, count;
};

enum { PROBITY_HIST_MARKS = 3 };

/* The percentiles to mark, in per mille. */
extern const unsigned probity_hist_marks[PROBITY_HIST_MARKS];

struct probity_hist {
    uint64_t count, mean, min, max;
    uint64_t marks[PROBITY_HIST_MARKS]; /* 500, 900 and 990 per mille are not above these */
    uint64_t most;                      /* count of the fullest row */
    struct probity_hist_row *rows;      /* contiguous from min to max */
    size_t row_count;
};

/* Values to show and their extremes. */
struct probity_hist_values {
    const struct probity_histogram *fine;
    uint64_t sum, min, max;
};

/* On a log scale each power of two has 1, 2, 4 ... or 128 rows of equal width; on a linear one all
 * rows have the same width. Uses as many rows as rows_max permits, but at least one for each power
 * of two. A value outside [min, max] counts in the nearest row; a max below min counts as min. The
 * caller releases the histogram. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_hist_make(const struct probity_hist_values *given, int is_linear, size_t rows_max,
                      struct probity_hist *ret_hist);

void probity_hist_release(struct probity_hist *hist);

#endif
