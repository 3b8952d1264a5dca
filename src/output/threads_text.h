/* SPDX-License-Identifier: MIT
 *
 * threads_text.h: threads as a table, for people.
 */
#ifndef PROBITY_OUTPUT_THREADS_TEXT_H
#define PROBITY_OUTPUT_THREADS_TEXT_H

#include <stdio.h>

#include "analysis/threads.h"

/* Processes and threads, and whose traces they are of, for all ways to print them. */
struct probity_threads_answer {
    const struct probity_reader *reader;
    const struct probity_threads_process *processes;
    size_t count;
    const struct probity_scopes_repairs *repairs;
};

/* CPU time of all. */
uint64_t probity_threads_cpu_ns(const struct probity_threads_answer *answer);

/* A line for each process, and below it one for each of its threads; then what was repaired and
 * whether the traces are complete. line_columns: of a terminal, 0 without. Errors of writing stay
 * in the stream. */
void probity_threads_text(FILE *stream, int has_colour, size_t line_columns,
                          const struct probity_threads_answer *answer);

#endif
