/* SPDX-License-Identifier: MIT
 *
 * otlp_batch.h: spans of the OpenTelemetry protocol, gathered in requests of a few hundred, as
 * protobuf or as JSON: one request a line.
 */
#ifndef PROBITY_OUTPUT_OTLP_BATCH_H
#define PROBITY_OUTPUT_OTLP_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "output/export.h"
#include "output/values.h"
#include "output/otlp.pb-c.h"

enum {
    OTLP_ATTRIBUTES_MAX = 640, /* more than the values of any event, and those of our own */
    OTLP_TEXT_BYTES = 128 << 10
};

struct otlp_batch {
    int is_json;
    uint32_t trace; /* whose process the spans are of */
    size_t spans;
    char *bytes;    /* of the spans, packed */
    size_t used, room;
    /* The span that is being made. */
    Otlp__Span span;
    Otlp__KeyValue attributes[OTLP_ATTRIBUTES_MAX];
    Otlp__KeyValue *list[OTLP_ATTRIBUTES_MAX];
    Otlp__AnyValue values[OTLP_ATTRIBUTES_MAX + 1]; /* one for what has no place */
    char text[OTLP_TEXT_BYTES], *text_at;
};

/* Begins a span of a trace; what is gathered of another is written first. */
void otlp_span_begin(struct probity_export *export, struct otlp_batch *batch, uint32_t trace);

/* Copies of texts for the span; what does not fit is cut. */
char *otlp_text(struct otlp_batch *batch, const char *text, size_t bytes);
char *otlp_value_text(struct otlp_batch *batch, const struct probity_value_view *view,
                      enum probity_value_style style);

/* Attributes. Keys and texts must stay until the end of the span. */
void otlp_put_text(struct otlp_batch *batch, const char *key, char *text);
void otlp_put_number(struct otlp_batch *batch, const char *key, int64_t number);
void otlp_put_bool(struct otlp_batch *batch, const char *key, int value);
void otlp_put_values(struct otlp_batch *batch, struct probity_value_walk walk, const char *key);

/* Packs the span. */
void otlp_span_end(struct probity_export *export, struct otlp_batch *batch);

/* Writes what is gathered, if anything. */
void otlp_batch_flush(struct probity_export *export, struct otlp_batch *batch);

#endif
