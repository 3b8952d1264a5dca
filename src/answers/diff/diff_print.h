/* SPDX-License-Identifier: MIT
 *
 * diff_print.h: a comparison of runs as text, CSV and JSON.
 */
#ifndef PROBITY_ANSWERS_DIFF_DIFF_PRINT_H
#define PROBITY_ANSWERS_DIFF_DIFF_PRINT_H

#include <stdio.h>

#include "answers/diff/compare.h"
#include "print/columns.h"

struct probity_diff_layout {
    size_t limit;        /* number of rows to show; 0: all */
    int is_changed_only; /* only lines with significant changes */
    int has_color;
    size_t line_columns; /* terminal width: columns that do not fit are omitted; 0: no limit */
};

/* A statistic of a row: a line in text and in CSV. */
struct probity_diff_line {
    const struct probity_compare_row *row;
    enum probity_compare_statistic statistic;
};

enum {
    PROBITY_DIFF_NAME,
    PROBITY_DIFF_FILE,
    PROBITY_DIFF_LINE,
    PROBITY_DIFF_STATISTIC,
    PROBITY_DIFF_BASE_RUNS,
    PROBITY_DIFF_NEW_RUNS,
    PROBITY_DIFF_BASE_MEDIAN, /* the first column of a statistic in JSON */
    PROBITY_DIFF_NEW_MEDIAN,
    PROBITY_DIFF_RATIO,
    PROBITY_DIFF_LOW,
    PROBITY_DIFF_HIGH,
    PROBITY_DIFF_P,
    PROBITY_DIFF_P_ADJUSTED,
    PROBITY_DIFF_VERDICT,
    PROBITY_DIFF_RUNS_NEEDED, /* the last column of a statistic in JSON */
    PROBITY_DIFF_KIND,
    PROBITY_DIFF_COLUMNS
};

/* Each row is a struct probity_diff_line. */
extern const struct probity_column probity_diff_columns[PROBITY_DIFF_COLUMNS];

/* Prints a table of the rows in order, then the differences between runs, the incomplete runs, and
 * the results of the limits. The caller checks the stream for errors. */
void probity_diff_text(FILE *stream, const struct probity_diff_layout *layout,
                       const struct probity_compare *compare);

/* Prints a header line, then one line per statistic of each function, block and kind of request.
 * Times are ns; unknown values are empty. The caller checks the stream for errors. */
void probity_diff_csv(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare);

/* Prints one object: the test method, the runs, their differences, limits, and the rows in order
 * with the values of each run. Times are ns. Of the layout, only the selection of rows is used.
 * Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_diff_json(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare);

/* Returns one line with the reason why requests are not compared; the path of a run in it is not
 * escaped. malloc'ed. NULL: they are compared, there are none, or out of memory. */
char *probity_diff_why_no_requests(const struct probity_compare *compare);

/* Whether a line is shown. */
int probity_diff_is_shown(const struct probity_diff_layout *layout,
                          const struct probity_compare *compare,
                          const struct probity_compare_row *row, int statistic);

/* Returns where the runs differ: "between" the sides, or within "base" or "new". */
const char *probity_diff_where(const struct probity_compare_difference *difference);

#endif
