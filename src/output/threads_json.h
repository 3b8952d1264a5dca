/* SPDX-License-Identifier: MIT
 *
 * threads_json.h: threads, for programs. Needs libjansson.
 */
#ifndef PROBITY_OUTPUT_THREADS_JSON_H
#define PROBITY_OUTPUT_THREADS_JSON_H

#include "output/threads_text.h"

/* One object: the traces, what was repaired, and processes with their threads. Times are ns, first
 * and last of CLOCK_REALTIME; what is not known is null. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_threads_json(FILE *stream, const struct probity_threads_answer *answer);

#endif
