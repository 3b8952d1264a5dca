/* SPDX-License-Identifier: MIT
 *
 * report_csv.h: a report as lines for spreadsheets and scripts, as in RFC 4180.
 */
#ifndef PROBITY_OUTPUT_REPORT_CSV_H
#define PROBITY_OUTPUT_REPORT_CSV_H

#include <stdio.h>

#include "analysis/report.h"
#include "reader/reader.h"

enum { PROBITY_REPORT_MEMBERS = 15 };

/* The times of a function, under the same names in CSV and JSON. */
struct probity_report_member {
    const char *name;
    enum probity_report_key key;
};

extern const struct probity_report_member probity_report_members[PROBITY_REPORT_MEMBERS];

/* A field, with quotes where it needs them. */
void probity_report_csv_field(FILE *stream, const char *text);

/* Three fields: process id, thread id, name; empty of NULL. */
void probity_report_csv_thread(FILE *stream, const struct probity_thread_label *thread);

/* A line of names, then one for each function in their order; of rows by thread one each behind
 * that of the function, with thread ids. Times are ns; what is not known is empty. Errors of
 * writing stay in the stream. */
void probity_report_csv(FILE *stream, const struct probity_reader *reader,
                        const struct probity_report_function *functions, size_t count);

#endif
