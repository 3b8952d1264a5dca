/* SPDX-License-Identifier: MIT
 *
 * info.h: the facts of a trace as text and as JSON.
 */
#ifndef PROBITY_ANSWERS_INFO_INFO_H
#define PROBITY_ANSWERS_INFO_INFO_H

#include <stdio.h>

#include "reader/reader.h"

/* The name of a clock. */
const char *probity_info_clock_name(uint32_t clock);

/* CLOCK_REALTIME to the second in UTC, so that traces from several machines can be compared. */
enum { PROBITY_INFO_TIME_BYTES = 64 };
const char *probity_info_time_text(uint64_t ns, char ret_text[PROBITY_INFO_TIME_BYTES]);

/* Lines "name  value". */
void probity_info_text(FILE *stream, const struct probity_trace_facts *facts);

/* An array with one object for each trace of the reader. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_info_json(FILE *stream, const struct probity_reader *reader);

#endif
