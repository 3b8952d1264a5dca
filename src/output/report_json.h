/* SPDX-License-Identifier: MIT
 *
 * report_json.h: a report, for programs. Needs libjansson.
 */
#ifndef PROBITY_OUTPUT_REPORT_JSON_H
#define PROBITY_OUTPUT_REPORT_JSON_H

#include <stdio.h>

#include "analysis/report.h"
#include "reader/reader.h"

/* A text of the traced program, with quotes; null of NULL. Errors of writing stay in the stream.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_report_json_string(FILE *stream, const char *text);

/* What such objects begin with: {"traces": ... without what was repaired. Returns as below. */
int probity_report_json_traces(FILE *stream, const struct probity_reader *reader);

/* Likewise: {"traces": ..., "repairs": ... */
int probity_report_json_head(FILE *stream, const struct probity_reader *reader,
                             const struct probity_scopes_repairs *repairs);

/* One object: the traces, what was repaired, and `functions` in their order. Times are ns. Returns
 * 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_report_json(FILE *stream, const struct probity_reader *reader,
                        const struct probity_report_function *functions, size_t count,
                        const struct probity_scopes_repairs *repairs);

#endif
