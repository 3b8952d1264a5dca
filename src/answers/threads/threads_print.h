/* SPDX-License-Identifier: MIT
 *
 * threads_print.h: threads as text, CSV and JSON.
 */
#ifndef PROBITY_ANSWERS_THREADS_THREADS_PRINT_H
#define PROBITY_ANSWERS_THREADS_THREADS_PRINT_H

#include <stdio.h>

#include "answers/threads/threads.h"

/* Processes, threads and their traces: the input of all output formats. */
struct probity_threads_answer {
    const struct probity_reader *reader;
    const struct probity_threads_process *processes;
    size_t count;
    const struct probity_scopes_repairs *repairs;
    size_t limit; /* number of threads of each process to print; 0: all */
};

static inline size_t probity_threads_shown(const struct probity_threads_answer *answer,
                                           const struct probity_threads_process *process)
{
    size_t count = process->thread_count;

    return answer->limit > 0 && answer->limit < count ? answer->limit : count;
}

/* Whether thread states of any trace were read: 1 or 0. */
int probity_threads_has_states(const struct probity_threads_answer *answer);

/* Returns the CPU time of all threads. */
uint64_t probity_threads_cpu_ns(const struct probity_threads_answer *answer);

/* Prints a line for each process, followed by one for each of its threads; then repairs and whether
 * the traces are complete. line_columns: terminal width, or 0. The caller checks the stream for
 * errors. */
void probity_threads_text(FILE *stream, int has_color, size_t line_columns,
                          const struct probity_threads_answer *answer);

/* Prints a header line, then one line for each thread. Times are ns, first and last in
 * CLOCK_REALTIME; unknown values are empty. The caller checks the stream for errors. */
void probity_threads_csv(FILE *stream, const struct probity_threads_answer *answer);

/* Prints one object: the traces, the repairs, and processes with their threads. Times are ns, first
 * and last in CLOCK_REALTIME; unknown values are null. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_threads_json(FILE *stream, const struct probity_threads_answer *answer);

#endif
