/* SPDX-License-Identifier: MIT
 *
 * why_json.h: why calls were slow, as JSON.
 */
#ifndef PROBITY_ANSWERS_WHY_WHY_JSON_H
#define PROBITY_ANSWERS_WHY_WHY_JSON_H

#include "answers/why/why_text.h"

/* One object: traces, repairs, what is missing, and the calls, slowest first. Times are ns. Returns
 * 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_why_json(FILE *stream, const struct probity_why_answer *answer);

#endif
