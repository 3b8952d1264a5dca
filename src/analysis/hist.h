/* SPDX-License-Identifier: MIT
 *
 * hist.h: fine counts to the few rows of a histogram that can be looked at. The bounds of a row are
 * bounds of fine buckets, so that each value is in the row that it belongs to. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_HIST_H
#define PROBITY_ANALYSIS_HIST_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/fine.h"

/* Values from least on, and below end (UINT64_MAX: and that). */
struct probity_hist_row {
    uint64_t least, end, count;
};

enum { PROBITY_HIST_MARKS = 3 };

/* The values of these marks, in per mille. */
extern const unsigned probity_hist_marks[PROBITY_HIST_MARKS];

struct probity_hist {
    uint64_t count, mean, min, max;
    uint64_t marks[PROBITY_HIST_MARKS]; /* 500, 900 and 990 per mille are not above these */
    uint64_t most;                      /* count of the fullest row */
    struct probity_hist_row *rows;      /* without a gap from min to max */
    size_t row_count;
};

/* What is known of the values beside their counts. */
struct probity_hist_values {
    const struct probity_fine *fine;
    uint64_t sum, min, max;
};

/* On a log scale each power of two has 1, 2, 4 ... or 128 rows of equal width, on a linear one all
 * rows have one width: the most rows that are not more than rows_max, or one to each power of two.
 * Release it. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_hist_make(const struct probity_hist_values *values, int is_linear, size_t rows_max,
                      struct probity_hist *ret_hist);

void probity_hist_release(struct probity_hist *hist);

#endif
