/* SPDX-License-Identifier: MIT
 *
 * report_json.h: a report as JSON. Needs libjansson.
 */
#ifndef PROBITY_ANSWERS_REPORT_REPORT_JSON_H
#define PROBITY_ANSWERS_REPORT_REPORT_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "answers/report/report.h"
#include "reader/reader.h"

/* Writes the common beginning of such objects, without repairs: {"traces": ... Returns the same as
 * below. */
int probity_report_json_traces(FILE *stream, const struct probity_reader *reader);

/* Writes the same with repairs: {"traces": ..., "repairs": ... Returns the same as below. */
int probity_report_json_head(FILE *stream, const struct probity_reader *reader,
                             const struct probity_scopes_repairs *repairs);

/* Returns how exact a trace's thread states are, and what they lack. Call it only if the trace has
 * states. */
json_t *probity_report_states_json(const struct probity_trace_facts *facts);

/* Prints one object: the traces, the repairs, and `functions` in order. Times are ns. Returns 0,
 * PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_report_json(FILE *stream, const struct probity_reader *reader,
                        const struct probity_report_function *functions, size_t count,
                        const struct probity_scopes_repairs *repairs);

#endif
