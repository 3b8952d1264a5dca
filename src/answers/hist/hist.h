/* SPDX-License-Identifier: MIT
 *
 * hist.h: reduces fine-grained counts to a histogram of a few rows. The bounds of rows are also
 * bounds of buckets, so each value counts in the right row. Prints nothing.
 */
#ifndef PROBITY_ANSWERS_HIST_HIST_H
#define PROBITY_ANSWERS_HIST_HIST_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/histogram.h"

/* The number of values in [least, end), including `end` if it is UINT64_MAX. */
struct probity_hist_row {
    uint64_t least, end, count;
};

enum { PROBITY_HIST_MARKS = 3 };

/* The percentiles to mark, in per mille. */
extern const unsigned probity_hist_marks[PROBITY_HIST_MARKS];

struct probity_hist {
    uint64_t count, mean, min, max;
    uint64_t marks[PROBITY_HIST_MARKS]; /* 50, 90 and 99 % of the values do not exceed these */
    uint64_t most;                      /* count of the fullest row */
    struct probity_hist_row *rows;      /* contiguous from min to max */
    size_t row_count;
};

/* The values to show, with their minimum and maximum. */
struct probity_hist_values {
    const struct probity_histogram *fine;
    uint64_t sum, min, max;
};

/* Makes a histogram. On a log scale, each power of two has 1, 2, 4 ... or 128 rows of equal width;
 * on a linear one, all rows have the same width. It has as many rows as rows_max permits, but at
 * least one for each power of two. Values outside [min, max] count in the nearest row; a max below
 * min is treated as min. The caller releases the histogram. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_hist_make(const struct probity_hist_values *given, int is_linear, size_t rows_max,
                      struct probity_hist *ret_hist);

void probity_hist_release(struct probity_hist *hist);

#endif
