/* SPDX-License-Identifier: MIT
 *
 * path_json.h: critical paths as JSON. Needs libjansson.
 */
#ifndef PROBITY_ANSWERS_PATH_PATH_JSON_H
#define PROBITY_ANSWERS_PATH_PATH_JSON_H

#include "answers/path/path_text.h"

/* One object: the traces, the repairs, what is missing, and spans with their parts. Times are ns,
 * moments in CLOCK_REALTIME; unknown values are null. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_path_json(FILE *stream, const struct probity_path_answer *answer);

#endif
