/* SPDX-License-Identifier: MIT
 *
 * threads_json.h: threads as JSON. Needs libjansson.
 */
#ifndef PROBITY_ANSWERS_THREADS_THREADS_JSON_H
#define PROBITY_ANSWERS_THREADS_THREADS_JSON_H

#include "answers/threads/threads_text.h"

/* One object: the traces, the repairs, and processes with their threads. Times are ns, first and
 * last in CLOCK_REALTIME; unknown values are null. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_threads_json(FILE *stream, const struct probity_threads_answer *answer);

#endif
