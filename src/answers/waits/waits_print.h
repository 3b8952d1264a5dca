/* SPDX-License-Identifier: MIT
 *
 * waits_print.h: what threads waited for, as text, CSV and JSON.
 */
#ifndef PROBITY_ANSWERS_WAITS_WAITS_PRINT_H
#define PROBITY_ANSWERS_WAITS_WAITS_PRINT_H

#include <stdio.h>

#include "answers/waits/waiting.h"

/* Rows and their traces, for all output formats. */
struct probity_waits_answer {
    const struct probity_reader *reader;
    const struct probity_waiting *waiting;
    enum probity_waiting_by by;
    size_t top;         /* number of rows to show; 0: all */
    size_t holders_max; /* of each row, in text */
    int has_states;     /* splits by thread states are known */
    uint64_t counted;   /* calls to libc that were only counted: whether they waited is unknown */
};

/* Number of rows to show of `count`. */
size_t probity_waits_shown(const struct probity_waits_answer *answer, size_t count);

/* A line for each row, with lines for its holders and its longest waits; then what is missing,
 * repairs, and whether the traces are complete. line_columns: terminal width, or 0. The caller
 * checks the stream for errors. */
void probity_waits_text(FILE *stream, int has_color, size_t line_columns,
                        const struct probity_waits_answer *answer);

/* A header line, then one line for each row, with the holder that accounts for most of it. Times
 * are ns; unknown values are empty. The caller checks the stream for errors. */
void probity_waits_csv(FILE *stream, const struct probity_waits_answer *answer);

/* One object: the traces, the repairs, what is missing, and rows with holders and longest waits.
 * Times are ns, moments in CLOCK_REALTIME; unknown values are null. Returns 0,
 * PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_waits_json(FILE *stream, const struct probity_waits_answer *answer);

#endif
