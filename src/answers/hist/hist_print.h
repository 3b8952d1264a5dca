/* SPDX-License-Identifier: MIT
 *
 * hist_print.h: histograms as text, CSV and JSON.
 */
#ifndef PROBITY_ANSWERS_HIST_HIST_PRINT_H
#define PROBITY_ANSWERS_HIST_HIST_PRINT_H

#include <stdio.h>

#include "analysis/scopes.h"
#include "answers/hist/hist.h"
#include "print/columns.h"

/* One histogram, of a function or block. */
struct probity_hist_entry {
    char *name;       /* a function, or "FROM -> TO" */
    const char *file; /* NULL if unknown, or for a block */
    uint32_t line;
    uint64_t calls; /* includes calls without the measured time */
    uint64_t counted; /* those only counted because of PROBITY_BUDGET */
    int is_least;     /* `calls` is a lower bound: PROBITY_BUDGET removed the hooks */
    double error;   /* relative error of the values */
    struct probity_hist hist;
};

/* Histograms, in order, and their traces: the input of all output formats. */
struct probity_hist_answer {
    const struct probity_reader *reader;
    const struct probity_scopes_repairs *repairs;
    const struct probity_hist_entry *entries;
    size_t count;
    const char *measure;    /* "total", "cpu-self" ... as in JSON */
    const char *title;      /* as in text: "wall time of one call" */
    int is_linear, is_utf8; /* utf8: draw bars with block characters instead of # */
    size_t columns;         /* width of a line */
};

/* One row of one histogram: a line of CSV or text. */
struct probity_hist_line {
    const struct probity_hist_answer *answer;
    const struct probity_hist_entry *entry;
    const struct probity_hist_row *row;
};

enum {
    PROBITY_HIST_NAME,
    PROBITY_HIST_FILE,
    PROBITY_HIST_LINE,
    PROBITY_HIST_FROM, /* from here on: values of the row */
    PROBITY_HIST_BELOW,
    PROBITY_HIST_CALLS,
    PROBITY_HIST_SHARE,
    PROBITY_HIST_COLUMNS
};

/* Each row is a struct probity_hist_line. Times are ns. */
extern const struct probity_column probity_hist_columns[PROBITY_HIST_COLUMNS];

/* Prints a bar for each row, then whether the traces are complete. The caller checks the stream for
 * errors. */
void probity_hist_text(FILE *stream, int has_color, const struct probity_hist_answer *answer);

/* Prints a header line, then a line for each row of each histogram. The caller checks the stream
 * for errors. */
void probity_hist_csv(FILE *stream, const struct probity_hist_answer *answer);

/* Prints one JSON object. Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_hist_json(FILE *stream, const struct probity_hist_answer *answer);

#endif
