/* SPDX-License-Identifier: MIT
 *
 * top_print.h: one view of `probity top`, as a table or as a line of JSON.
 */
#ifndef PROBITY_ANSWERS_TOP_TOP_PRINT_H
#define PROBITY_ANSWERS_TOP_TOP_PRINT_H

#include <stdio.h>

#include "answers/top/top.h"
#include "print/columns.h"

struct probity_top_answer {
    struct probity_top *top;
    enum probity_top_view view;
    enum probity_top_key key;
    uint64_t at_ns;       /* CLOCK_REALTIME */
    uint64_t interval_ns; /* the interval for calls per second */
    size_t programs;      /* number of programs that are recording */
    size_t limit;         /* number of rows; 0: all */
    size_t line_columns;  /* width of the terminal; 0: no limit */
    int has_color;
    int takes_keys;       /* the user can press keys */
    const char *line_end; /* "\n", preceded by what a terminal needs */
};

struct probity_top_line {
    const struct probity_top_answer *answer;
    const struct probity_top_row *row;
};

/* The values of an interval and of all are in the order of enum probity_top_key. */
enum {
    PROBITY_TOP_FIGURES = PROBITY_TOP_NAME,
    PROBITY_TOP_ROW_NAME = 0,
    PROBITY_TOP_ROW_PLACE,
    PROBITY_TOP_ROW_PID,
    PROBITY_TOP_RATE,
    PROBITY_TOP_INTERVAL, /* the first value of the last interval */
    PROBITY_TOP_ALL = PROBITY_TOP_INTERVAL + PROBITY_TOP_FIGURES,
    PROBITY_TOP_COLUMNS = PROBITY_TOP_ALL + PROBITY_TOP_FIGURES
};

/* Each row is a struct probity_top_line. */
extern const struct probity_column probity_top_columns[PROBITY_TOP_COLUMNS];

/* Returns 0 or PROBITY_ERROR_MEMORY; the caller checks the stream for errors. */
int probity_top_text(FILE *stream, const struct probity_top_answer *answer);
int probity_top_json(FILE *stream, const struct probity_top_answer *answer);

#endif
