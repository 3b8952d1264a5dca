/* SPDX-License-Identifier: MIT
 *
 * memory_print.h: memory by allocating function, as text, CSV and JSON.
 */
#ifndef PROBITY_ANSWERS_MEMORY_MEMORY_PRINT_H
#define PROBITY_ANSWERS_MEMORY_MEMORY_PRINT_H

#include <stdio.h>

#include "answers/memory/memory_rows.h"

/* The rows and facts about them: the input of all output formats. */
struct probity_memory_answer {
    const struct probity_reader *reader;
    const struct probity_memory_facts *facts;
    const struct probity_scopes_repairs *repairs;
    const struct probity_memory_rows *rows;
    size_t limit; /* number of rows to show; 0: all */
};

/* Returns the number of rows to show. */
size_t probity_memory_shown(const struct probity_memory_answer *answer);

/* Prints live bytes over time on one line, then a line for each row. line_columns: terminal width,
 * or 0. The caller checks the stream for errors. */
void probity_memory_text(FILE *stream, int has_color, int is_utf8, size_t line_columns,
                         const struct probity_memory_answer *answer);

/* Prints one object: traces, repairs, sums, live bytes over time, and rows. Returns 0,
 * PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_memory_json(FILE *stream, const struct probity_memory_answer *answer);

/* Prints a header line, then one line for each row. Unknown values are empty. The caller checks the
 * stream for errors. */
void probity_memory_csv(FILE *stream, const struct probity_memory_answer *answer);

#endif
