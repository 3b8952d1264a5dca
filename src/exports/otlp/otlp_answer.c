/* SPDX-License-Identifier: MIT
 *
 * otlp_answer.c: parses a server's response, a single message as protobuf or as JSON. The input is
 * untrusted.
 */
#include "exports/otlp/otlp_answer.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "exports/otlp/otlp.pb-c.h"
#include "print/text.h"

static void set(struct otlp_answer *answer, int64_t rejected, const char *why)
{
    char *end = answer->why + sizeof answer->why - 1;

    answer->rejected = rejected;
    if (why != NULL)
        *probity_text_put(answer->why, end, why, strlen(why), '\0') = '\0';
}

static void get_protobuf(const char *bytes, size_t count, struct otlp_answer *answer)
{
    Otlp__Response *response = otlp__response__unpack(NULL, count, (const uint8_t *)bytes);

    if (response == NULL)
        return;
    if (response->partial_success != NULL)
        set(answer, response->partial_success->rejected_spans,
            response->partial_success->error_message);
    otlp__response__free_unpacked(response, NULL);
}

/* Parses JSON. 64-bit integers are strings in the JSON of this protocol, but not all servers
 * comply. */
static void get_json(const char *bytes, size_t count, struct otlp_answer *answer)
{
    json_t *response = json_loadb(bytes, count, 0, NULL);
    const json_t *partial = json_object_get(response, "partialSuccess");
    const json_t *rejected = json_object_get(partial, "rejectedSpans");

    set(answer, json_is_string(rejected) ? strtoll(json_string_value(rejected), NULL, 10)
                                         : json_integer_value(rejected),
        json_string_value(json_object_get(partial, "errorMessage")));
    json_decref(response);
}

void otlp_answer_get(const char *bytes, size_t count, int is_json, struct otlp_answer *ret_answer)
{
    *ret_answer = (struct otlp_answer){.rejected = 0};
    if (is_json)
        get_json(bytes, count, ret_answer);
    else
        get_protobuf(bytes, count, ret_answer);
}
