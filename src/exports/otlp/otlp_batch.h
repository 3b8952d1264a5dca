/* SPDX-License-Identifier: MIT
 *
 * otlp_batch.h: OpenTelemetry spans, batched into requests of a few hundred, as protobuf or as JSON
 * with one request per line.
 */
#ifndef PROBITY_EXPORTS_OTLP_OTLP_BATCH_H
#define PROBITY_EXPORTS_OTLP_OTLP_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "exports/export.h"
#include "print/values.h"
#include "exports/otlp/otlp.pb-c.h"

enum {
    OTLP_ATTRIBUTES_MAX = 640, /* more than the values of an event and the attributes added to it */
    OTLP_EVENTS_MAX = 2,
    OTLP_TEXT_BYTES = 128 << 10
};

struct otlp_batch {
    int is_json;
    uint32_t trace; /* the trace to whose process the spans belong */
    size_t spans;
    char *bytes;    /* the packed spans */
    size_t used, room;
    /* The span being built. */
    Otlp__Span span;
    Otlp__KeyValue attributes[OTLP_ATTRIBUTES_MAX];
    Otlp__KeyValue *list[OTLP_ATTRIBUTES_MAX];
    Otlp__AnyValue values[OTLP_ATTRIBUTES_MAX + 1]; /* the last one is a dummy */
    Otlp__Event events[OTLP_EVENTS_MAX], *event_list[OTLP_EVENTS_MAX];
    size_t of_events; /* number of attributes of its events, which precede those of the span */
    char text[OTLP_TEXT_BYTES], *text_at;
};

/* Begins a span of a trace. First writes buffered spans of another trace. */
void otlp_span_begin(struct probity_export *export, struct otlp_batch *batch, uint32_t trace);

/* Copies texts for the span; text that does not fit is truncated. */
char *otlp_text(struct otlp_batch *batch, const char *text, size_t bytes);
char *otlp_value_text(struct otlp_batch *batch, const struct probity_value_view *view,
                      enum probity_value_style style);

/* Add attributes. Keys and texts must stay valid until the end of the span. */
void otlp_put_text(struct otlp_batch *batch, const char *key, char *text);
void otlp_put_number(struct otlp_batch *batch, const char *key, int64_t number);
void otlp_put_bool(struct otlp_batch *batch, const char *key, int value);
void otlp_put_values(struct otlp_batch *batch, struct probity_value_walk walk, const char *key);

/* Creates an event from the attributes added since the beginning of the span or the last event. At
 * most OTLP_EVENTS_MAX, before the attributes of the span. */
void otlp_put_event(struct otlp_batch *batch, char *name, uint64_t wall_ns);

/* Packs the span. */
void otlp_span_end(struct probity_export *export, struct otlp_batch *batch);

/* Writes the buffered spans, if any. */
void otlp_batch_flush(struct probity_export *export, struct otlp_batch *batch);

#endif
