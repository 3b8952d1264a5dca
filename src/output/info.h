/* SPDX-License-Identifier: MIT
 *
 * info.h: the facts of a trace as text for people and as JSON for programs.
 */
#ifndef PROBITY_OUTPUT_INFO_H
#define PROBITY_OUTPUT_INFO_H

#include <stdio.h>

#include "reader/reader.h"

/* The clock behind a kind, by name. */
const char *probity_info_clock_name(uint32_t clock);

/* Lines "name  value". */
void probity_info_text(FILE *stream, const struct probity_trace_facts *facts);

/* One array with an object for each trace of the reader. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_info_json(FILE *stream, const struct probity_reader *reader);

#endif
