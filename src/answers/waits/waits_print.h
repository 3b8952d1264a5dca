/* SPDX-License-Identifier: MIT
 *
 * waits_print.h: what threads waited for, as text, CSV and JSON.
 */
#ifndef PROBITY_ANSWERS_WAITS_WAITS_PRINT_H
#define PROBITY_ANSWERS_WAITS_WAITS_PRINT_H

#include <stdio.h>

#include "answers/waits/waiting.h"

/* Rows and their traces: the input of all output formats. */
struct probity_waits_answer {
    const struct probity_reader *reader;
    const struct probity_waiting *waiting;
    enum probity_waiting_by by;
    size_t top;         /* number of rows to show; 0: all */
    size_t holders_max; /* number of holders of each row in the text */
    int has_states;     /* splits by thread states are known */
    uint64_t counted;   /* calls to the C library that were only counted, and may have waited */
};

/* Returns how many of `count` rows to show. */
size_t probity_waits_shown(const struct probity_waits_answer *answer, size_t count);

/* Prints a line for each row, with lines for its holders and its longest waits; then what is
 * missing, repairs, and whether the traces are complete. line_columns: terminal width, or 0. The
 * caller checks the stream for errors. */
void probity_waits_text(FILE *stream, int has_color, size_t line_columns,
                        const struct probity_waits_answer *answer);

/* Prints a header line, then one line for each row, with the holder that accounts for most of its
 * time. Times are ns; unknown values are empty. The caller checks the stream for errors. */
void probity_waits_csv(FILE *stream, const struct probity_waits_answer *answer);

/* Prints one object: the traces, the repairs, what is missing, and the rows with holders and
 * longest waits. Times are ns; points in time are CLOCK_REALTIME; unknown values are null. Returns
 * 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_waits_json(FILE *stream, const struct probity_waits_answer *answer);

#endif
