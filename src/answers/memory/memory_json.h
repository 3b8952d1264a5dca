/* SPDX-License-Identifier: MIT
 *
 * memory_json.h: what allocated memory, as JSON. Needs libjansson.
 */
#ifndef PROBITY_ANSWERS_MEMORY_MEMORY_JSON_H
#define PROBITY_ANSWERS_MEMORY_MEMORY_JSON_H

#include "answers/memory/memory_text.h"

/* One object: traces, repairs, sums, the course of the live bytes, and rows. Returns 0,
 * PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_memory_json(FILE *stream, const struct probity_memory_answer *answer);

/* A header line, then one line for each row. Unknown values are empty. The caller checks the stream
 * for errors. */
void probity_memory_csv(FILE *stream, const struct probity_memory_answer *answer);

#endif
