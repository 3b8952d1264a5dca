/* SPDX-License-Identifier: MIT
 *
 * otlp_answer.h: what a server of the OpenTelemetry protocol says of a request that it took.
 */
#ifndef PROBITY_OUTPUT_OTLP_ANSWER_H
#define PROBITY_OUTPUT_OTLP_ANSWER_H

#include <stddef.h>
#include <stdint.h>

struct otlp_answer {
    int64_t rejected; /* spans that it will not keep */
    char why[160];    /* fit for a terminal; may be "" */
};

/* Answers that are none, and an empty one, say that all is well, as the status did. */
void otlp_answer_get(const char *bytes, size_t count, int is_json, struct otlp_answer *ret_answer);

#endif
