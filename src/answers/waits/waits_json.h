/* SPDX-License-Identifier: MIT
 *
 * waits_json.h: what threads waited for, as JSON. Needs libjansson.
 */
#ifndef PROBITY_ANSWERS_WAITS_WAITS_JSON_H
#define PROBITY_ANSWERS_WAITS_WAITS_JSON_H

#include "answers/waits/waits_text.h"

/* One object: the traces, the repairs, what is missing, and rows with holders and longest waits.
 * Times are ns, moments in CLOCK_REALTIME; unknown values are null. Returns 0,
 * PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_waits_json(FILE *stream, const struct probity_waits_answer *answer);

#endif
