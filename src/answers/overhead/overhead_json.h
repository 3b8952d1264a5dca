/* SPDX-License-Identifier: MIT
 *
 * overhead_json.h: recording overhead as JSON. Needs libjansson.
 */
#ifndef PROBITY_ANSWERS_OVERHEAD_OVERHEAD_JSON_H
#define PROBITY_ANSWERS_OVERHEAD_OVERHEAD_JSON_H

#include "answers/overhead/overhead_text.h"

/* One object, with all runs; times are ns. Returns 0 or PROBITY_ERROR_MEMORY; the caller checks the
 * stream for errors. */
int probity_overhead_json(FILE *stream, const struct probity_overhead_answer *answer);

#endif
