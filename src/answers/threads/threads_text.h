/* SPDX-License-Identifier: MIT
 *
 * threads_text.h: threads as a text table.
 */
#ifndef PROBITY_ANSWERS_THREADS_THREADS_TEXT_H
#define PROBITY_ANSWERS_THREADS_THREADS_TEXT_H

#include <stdio.h>

#include "answers/threads/threads.h"

/* Processes, threads and their traces, for all output formats. */
struct probity_threads_answer {
    const struct probity_reader *reader;
    const struct probity_threads_process *processes;
    size_t count;
    const struct probity_scopes_repairs *repairs;
};

/* Whether states of threads were read, of any trace: 1 or 0. */
int probity_threads_has_states(const struct probity_threads_answer *answer);

/* CPU time over all threads. */
uint64_t probity_threads_cpu_ns(const struct probity_threads_answer *answer);

/* A line for each process, followed by one for each of its threads; then repairs and whether the
 * traces are complete. line_columns: terminal width, or 0. The caller checks the stream for
 * errors. */
void probity_threads_text(FILE *stream, int has_colour, size_t line_columns,
                          const struct probity_threads_answer *answer);

#endif
