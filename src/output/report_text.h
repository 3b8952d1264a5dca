/* SPDX-License-Identifier: MIT
 *
 * report_text.h: a report as a table, for people.
 */
#ifndef PROBITY_OUTPUT_REPORT_TEXT_H
#define PROBITY_OUTPUT_REPORT_TEXT_H

#include <stdio.h>

#include "analysis/report.h"
#include "reader/reader.h"

struct probity_report_layout {
    size_t limit;       /* functions to show; 0: all */
    int has_signatures; /* instead of names, where they are known */
    int has_places;     /* file and line behind each name */
    int has_colour;     /* hot where a function has much of the time of all */
    int is_utf8;        /* pictures may be other than ASCII */
    int has_pictures;   /* the usual columns include distributions */
    size_t line_columns; /* of a terminal: the usual columns are those that fit; 0: all are there */
    int is_wide;        /* all columns */
    int is_corrected;   /* times less overhead beside those with it */
    enum probity_report_key columns[PROBITY_REPORT_KEYS]; /* in their order; else the usual */
    size_t column_count;
};

enum { PROBITY_REPORT_TIME_BYTES = 24 };

/* Characters that probity_report_put_safe() writes. */
size_t probity_report_safe_columns(const char *text, size_t bytes);

/* "1.234 ms": four digits, 8 columns. Returns ret_text, of PROBITY_REPORT_TIME_BYTES. */
const char *probity_report_time_text(uint64_t ns, char *ret_text);

/* The same, rounded; as 0 or the most where no count of ns is it, as from a hostile history. */
const char *probity_report_real_time_text(double ns, char *ret_text);

/* A text of the traced program: what is not printable must not reach a terminal. */
void probity_report_put_safe(FILE *stream, const char *text, size_t bytes);

/* Process id where there are several traces, thread id and name. */
void probity_report_put_thread(FILE *stream, const struct probity_thread_label *thread,
                               int has_pids);

/* "1.234 ms", or "< 1.234 ms" where all that is known is that it is less; 10 columns. */
void probity_report_put_corrected(FILE *stream, struct probity_corrected corrected);

/* For each trace a line with what recording adds to times. */
void probity_report_put_overhead(FILE *stream, const struct probity_reader *reader);

/* Whether a trace has CPU times. */
int probity_report_has_cpu(const struct probity_reader *reader);

/* What was repaired and whether the traces are complete, a line for each. */
void probity_report_foot(FILE *stream, int has_colour, const struct probity_reader *reader,
                         const struct probity_scopes_repairs *repairs);

/* The table in the order of `functions`, then what was repaired and whether the traces are
 * complete. Errors of writing stay in the stream. */
void probity_report_text(FILE *stream, const struct probity_report_layout *layout,
                         const struct probity_reader *reader,
                         const struct probity_report_function *functions, size_t count,
                         const struct probity_scopes_repairs *repairs);

#endif
