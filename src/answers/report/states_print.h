/* SPDX-License-Identifier: MIT
 *
 * states_print.h: functions with their times by state, as text, JSON and CSV.
 */
#ifndef PROBITY_ANSWERS_REPORT_STATES_PRINT_H
#define PROBITY_ANSWERS_REPORT_STATES_PRINT_H

#include <stdio.h>

#include "answers/report/report_text.h"
#include "answers/report/states.h"
#include "print/columns.h"

struct probity_states_answer {
    const struct probity_reader *reader;
    const struct probity_states_row *rows;
    size_t count;
    const struct probity_scopes_repairs *repairs;
    uint64_t counted; /* calls that were only counted and are not in the rows */
};

/* Prints a table, then repairs, whether the traces are complete, and the accuracy of the states.
 * The caller checks the stream for errors. */
void probity_states_text(FILE *stream, const struct probity_report_layout *layout,
                         const struct probity_states_answer *answer);

/* Prints one object, like that of the report without states. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_states_json(FILE *stream, const struct probity_states_answer *answer);

/* Prints a header line, then one line for each function. Times are ns. The caller checks the stream
 * for errors. */
void probity_states_csv(FILE *stream, const struct probity_states_answer *answer);

/* Writes a line if no states of any thread are known. */
void probity_states_note(FILE *stream, const struct probity_reader *reader);

/* Whether thread states were read from any of the traces: 1 or 0. */
int probity_states_are_known(const struct probity_reader *reader);

/* "running_ns", "waiting_ns" (for a CPU), "blocked_ns", "unknown_ns"; each row is a struct
 * probity_thread_split. */
enum { PROBITY_SPLIT_COLUMNS = 4 };
extern const struct probity_column probity_split_columns[PROBITY_SPLIT_COLUMNS];

enum { PROBITY_STATES_COLUMNS = 11 };

/* For CSV and JSON. Each row is a struct probity_states_row. */
extern const struct probity_column probity_states_columns[PROBITY_STATES_COLUMNS];

#endif
