/* SPDX-License-Identifier: MIT
 *
 * report_text.h: a report as a text table.
 */
#ifndef PROBITY_ANSWERS_REPORT_REPORT_TEXT_H
#define PROBITY_ANSWERS_REPORT_REPORT_TEXT_H

#include <stdio.h>

#include "answers/report/report.h"
#include "reader/reader.h"

struct probity_report_layout {
    size_t limit;       /* number of functions to show; 0: all */
    int has_signatures; /* show signatures instead of names if known */
    int has_places;     /* file and line after each name */
    int has_colour;     /* highlight functions with a large share of the time */
    int is_utf8;        /* pictures may use characters other than ASCII */
    int has_pictures;   /* the usual columns include distributions */
    size_t line_columns; /* of the terminal: the usual columns that fit are shown; 0: no limit */
    int is_wide;        /* all columns */
    int is_corrected;   /* also show times without overhead */
    enum probity_report_key columns[PROBITY_REPORT_KEYS]; /* in order; else the usual ones */
    size_t column_count;
};

enum { PROBITY_REPORT_TIME_BYTES = 24 };

/* Number of characters that probity_report_put_safe() writes. */
size_t probity_report_safe_columns(const char *text, size_t bytes);

/* "1.234 ms": four digits, 8 columns. Returns ret_text, which has PROBITY_REPORT_TIME_BYTES. */
const char *probity_report_time_text(uint64_t ns, char *ret_text);

/* The same, rounded; clamped to the range of a count of ns, because a damaged history may hold any
 * value. */
const char *probity_report_real_time_text(double ns, char *ret_text);

/* Writes a text from the traced program; unprintable bytes must not reach a terminal. */
void probity_report_put_safe(FILE *stream, const char *text, size_t bytes);

/* Process id (if there are several traces), thread id and name. */
void probity_report_put_thread(FILE *stream, const struct probity_thread_label *thread,
                               int has_pids);

/* "1.234 ms", or "< 1.234 ms" if only an upper bound is known; 10 columns. */
void probity_report_put_corrected(FILE *stream, struct probity_corrected corrected);

/* Writes a line for each trace with the overhead of recording. */
void probity_report_put_overhead(FILE *stream, const struct probity_reader *reader);

/* Whether a trace has CPU times. */
int probity_report_has_cpu(const struct probity_reader *reader);

/* Repairs and whether the traces are complete, a line for each. */
void probity_report_foot(FILE *stream, int has_colour, const struct probity_reader *reader,
                         const struct probity_scopes_repairs *repairs);

/* The table in the order of `functions`, then repairs and whether the traces are complete. Write
 * errors stay in the stream. */
void probity_report_text(FILE *stream, const struct probity_report_layout *layout,
                         const struct probity_reader *reader,
                         const struct probity_report_function *functions, size_t count,
                         const struct probity_scopes_repairs *repairs);

#endif
