/* SPDX-License-Identifier: MIT
 *
 * memory_text.h: what allocated memory, as a text table.
 */
#ifndef PROBITY_ANSWERS_MEMORY_MEMORY_TEXT_H
#define PROBITY_ANSWERS_MEMORY_MEMORY_TEXT_H

#include <stdio.h>

#include "answers/memory/memory_rows.h"

/* The rows and facts about them, for all output formats. */
struct probity_memory_answer {
    const struct probity_reader *reader;
    const struct probity_memory_facts *facts;
    const struct probity_scopes_repairs *repairs;
    const struct probity_memory_rows *rows;
    size_t limit; /* rows to show; 0: all */
};

/* Number of rows that are shown. */
size_t probity_memory_shown(const struct probity_memory_answer *answer);

/* Live bytes over time on one line, then a line for each row. line_columns: terminal
 * width, or 0. The caller checks the stream for errors. */
void probity_memory_text(FILE *stream, int has_colour, int is_utf8, size_t line_columns,
                         const struct probity_memory_answer *answer);

#endif
