/* SPDX-License-Identifier: MIT
 *
 * overhead_json.h: what recording adds to a program, for programs. Needs libjansson.
 */
#ifndef PROBITY_OUTPUT_OVERHEAD_JSON_H
#define PROBITY_OUTPUT_OVERHEAD_JSON_H

#include "output/overhead_text.h"

/* One object, with all runs; times are ns. Returns 0 or PROBITY_ERROR_MEMORY; errors of writing
 * stay in the stream. */
int probity_overhead_json(FILE *stream, const struct probity_overhead_answer *answer);

#endif
