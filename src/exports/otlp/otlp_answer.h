/* SPDX-License-Identifier: MIT
 *
 * otlp_answer.h: the response of an OpenTelemetry server to a request that it has accepted.
 */
#ifndef PROBITY_EXPORTS_OTLP_OTLP_ANSWER_H
#define PROBITY_EXPORTS_OTLP_OTLP_ANSWER_H

#include <stddef.h>
#include <stdint.h>

struct otlp_answer {
    int64_t rejected; /* spans that the server rejected */
    char why[160];    /* safe for a terminal; may be "" */
};

/* Parses a response. If it is invalid or empty, this is a success, because the status was. */
void otlp_answer_get(const char *bytes, size_t count, int is_json, struct otlp_answer *ret_answer);

#endif
