/* SPDX-License-Identifier: MIT
 *
 * top_print.h: one view of `probity top`, as a table or as a line of JSON.
 */
#ifndef PROBITY_ANSWERS_TOP_TOP_PRINT_H
#define PROBITY_ANSWERS_TOP_TOP_PRINT_H

#include <stdio.h>

#include "answers/top/top.h"

struct probity_top_answer {
    struct probity_top *top;
    enum probity_top_view view;
    enum probity_top_key key;
    uint64_t at_ns;       /* CLOCK_REALTIME */
    uint64_t interval_ns; /* to which calls per second refer */
    size_t programs;      /* that record */
    size_t limit;         /* number of rows; 0: all */
    size_t line_columns;  /* width of the terminal; 0: no limit */
    int has_colour;
    const char *line_end; /* "\n", or what a terminal needs before it */
};

/* Returns 0 or PROBITY_ERROR_MEMORY; the caller checks the stream for errors. */
int probity_top_text(FILE *stream, const struct probity_top_answer *answer);
int probity_top_json(FILE *stream, const struct probity_top_answer *answer);

#endif
