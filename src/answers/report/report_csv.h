/* SPDX-License-Identifier: MIT
 *
 * report_csv.h: a report as CSV (RFC 4180).
 */
#ifndef PROBITY_ANSWERS_REPORT_REPORT_CSV_H
#define PROBITY_ANSWERS_REPORT_REPORT_CSV_H

#include <stdio.h>

#include "answers/report/report.h"
#include "print/csv_cell.h"
#include "reader/reader.h"

enum { PROBITY_REPORT_MEMBERS = 15, PROBITY_REPORT_CORRECTED_MEMBERS = 4 };

/* A time of a function, with its name in CSV and JSON. */
struct probity_report_member {
    const char *name;
    enum probity_report_key key;
};

extern const struct probity_report_member probity_report_members[PROBITY_REPORT_MEMBERS];

/* Times minus recording overhead, and their errors. */
extern const struct probity_report_member
    probity_report_corrected_members[PROBITY_REPORT_CORRECTED_MEMBERS];

/* Writes a field, quoted if necessary. */
static inline void probity_report_csv_field(FILE *stream, const char *text)
{
    probity_csv_cell_put(stream, text);
}

/* Writes three fields: process id, thread id, name. They are empty for NULL. */
void probity_report_csv_thread(FILE *stream, const struct probity_thread_label *thread);

/* Prints a header line, then one line for each function in order, followed by its rows by thread
 * with thread ids. Times are ns; unknown values are empty. The caller checks the stream for
 * errors. */
void probity_report_csv(FILE *stream, const struct probity_reader *reader,
                        const struct probity_report_function *functions, size_t count);

#endif
