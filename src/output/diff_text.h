/* SPDX-License-Identifier: MIT
 *
 * diff_text.h: a comparison of runs as a table, for people.
 */
#ifndef PROBITY_OUTPUT_DIFF_TEXT_H
#define PROBITY_OUTPUT_DIFF_TEXT_H

#include <stdio.h>

#include "analysis/compare.h"

struct probity_diff_layout {
    size_t limit;        /* functions and blocks to show; 0: all */
    int is_changed_only; /* only lines whose change is established */
    int has_colour;
    size_t line_columns; /* of a terminal: columns that do not fit are left out; 0: all are there */
};

/* The table in the order of the rows, then what the runs differ in, which are not complete, and
 * what became of the limits. Errors of writing stay in the stream. */
void probity_diff_text(FILE *stream, const struct probity_diff_layout *layout,
                       const struct probity_compare *compare);

/* Whether a line of the table, or of the CSV, is wanted. */
int probity_diff_is_shown(const struct probity_diff_layout *layout,
                          const struct probity_compare *compare,
                          const struct probity_compare_row *row, int statistic);

/* Where runs differ: "between" the sides, or within "base" or "new". */
const char *probity_diff_where(const struct probity_compare_difference *difference);

#endif
