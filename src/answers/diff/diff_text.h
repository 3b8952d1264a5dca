/* SPDX-License-Identifier: MIT
 *
 * diff_text.h: a comparison of runs as a text table.
 */
#ifndef PROBITY_ANSWERS_DIFF_DIFF_TEXT_H
#define PROBITY_ANSWERS_DIFF_DIFF_TEXT_H

#include <stdio.h>

#include "answers/diff/compare.h"

struct probity_diff_layout {
    size_t limit;        /* number of functions and blocks to show; 0: all */
    int is_changed_only; /* only lines with significant changes */
    int has_colour;
    size_t line_columns; /* terminal width: columns that do not fit are omitted; 0: no limit */
};

/* A table of the rows in order, then the differences between runs, the incomplete runs, and the
 * results of the limits. The caller checks the stream for errors. */
void probity_diff_text(FILE *stream, const struct probity_diff_layout *layout,
                       const struct probity_compare *compare);

/* Whether the table or the CSV shows this line. */
int probity_diff_is_shown(const struct probity_diff_layout *layout,
                          const struct probity_compare *compare,
                          const struct probity_compare_row *row, int statistic);

/* Where the runs differ: "between" the sides, or within "base" or "new". */
const char *probity_diff_where(const struct probity_compare_difference *difference);

#endif
