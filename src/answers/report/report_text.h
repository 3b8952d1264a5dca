/* SPDX-License-Identifier: MIT
 *
 * report_text.h: a report as a text table, or as a suggestion of what not to record.
 */
#ifndef PROBITY_ANSWERS_REPORT_REPORT_TEXT_H
#define PROBITY_ANSWERS_REPORT_REPORT_TEXT_H

#include <stdio.h>

#include "answers/report/report.h"
#include "answers/report/safe_text.h"
#include "reader/reader.h"

struct probity_report_layout {
    size_t limit;       /* number of functions to show; 0: all */
    int has_signatures; /* show known signatures instead of names */
    int has_places;     /* show file and line after each name */
    int has_color;      /* highlight functions that take a large share of the time */
    int is_utf8;        /* distributions may use non-ASCII characters */
    int has_pictures;   /* the default columns include distributions */
    size_t line_columns; /* terminal width, for the default columns; 0: no limit */
    int is_wide;        /* show all columns */
    int is_corrected;   /* also show times without overhead */
    enum probity_report_key columns[PROBITY_REPORT_KEYS]; /* in order; empty: the default columns */
    size_t column_count;
};

/* Writes the process id (if there are several traces), thread id and name. */
void probity_report_put_thread(FILE *stream, const struct probity_thread_label *thread,
                               int has_pids);

/* Writes "1.234 ms", or "< 1.234 ms" if only an upper bound is known, in 10 columns. */
void probity_report_put_corrected(FILE *stream, struct probity_corrected corrected);

/* Writes the recording overhead of each trace on a line. */
void probity_report_put_overhead(FILE *stream, const struct probity_reader *reader);

/* Writes how many of the `what` shown were off the CPU for longer than the stated error of their
 * total time, unless there are none. */
void probity_report_put_waiting(FILE *stream, const char *what, uint64_t waiting);

/* Writes for how many traces this is unknown, because they have stated errors but no CPU time,
 * unless there are none. */
void probity_report_put_unknown_waiting(FILE *stream, const struct probity_reader *reader);

/* Whether a trace has CPU times. */
int probity_report_has_cpu(const struct probity_reader *reader);

/* Writes the repairs, and whether the traces are complete, one line each. */
void probity_report_foot(FILE *stream, int has_color, const struct probity_reader *reader,
                         const struct probity_scopes_repairs *repairs);

/* Writes how exact a trace's thread states are, and what they lack. Call it only if the trace has
 * states. */
void probity_report_put_states(FILE *stream, const struct probity_trace_facts *facts);

/* Prints a table in the order of `functions`, then repairs and whether the traces are complete. The
 * caller checks the stream for errors. */
void probity_report_text(FILE *stream, const struct probity_report_layout *layout,
                         const struct probity_reader *reader,
                         const struct probity_report_function *functions, size_t count,
                         const struct probity_scopes_repairs *repairs);

/* Ends the line of a function, and marks a function whose times cover only some of its calls.
 * counted: the number of calls that were only counted. */
void probity_report_end_line(FILE *stream, int has_entries_only, int is_least, uint64_t counted);

/* Prints rules that exclude functions from the next recording (suggest.c). With them, recording
 * adds at most `percent` to the self times of all functions. Its cost must have been computed. If
 * the traces lack that cost, sets *ret_is_known to 0 and prints nothing. Returns 0 or
 * PROBITY_ERROR_MEMORY; the caller checks the stream for errors. */
int probity_suggest(FILE *stream, const struct probity_reader *reader,
                    const struct probity_report_function *functions, size_t count, double percent,
                    int *ret_is_known);

#endif
