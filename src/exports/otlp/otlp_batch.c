/* SPDX-License-Identifier: MIT
 *
 * otlp_batch.c: packs spans one by one, with protobuf-c or as JSON, into a buffer, followed by the
 * enclosing messages of their process. Unless the spans of several traces alternate, a request
 * contains hundreds of spans.
 */
#include "exports/otlp/otlp_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "exports/export_json.h"
#include "exports/export_values.h"
#include "exports/protobuf.h"
#include "print/text.h"
#include "probity.h"

enum { SPANS_MAX = 512, BATCH_BYTES = 512 << 10, RESOURCE_BYTES = 52 << 10,
       SCOPE_BYTES = 256 };

/* ---- Attributes --------------------------------------------------------------------------------
 */

static const char no_text[] = "";

/* Removes the const, because protobuf-c does not declare texts const, although it does not write to
 * them. */
static char *as_text(const char *text)
{
    return (char *)(uintptr_t)text;
}

static const char *text_end(const struct otlp_batch *batch)
{
    return batch->text + sizeof batch->text - 1;
}

static char *keep(struct otlp_batch *batch, char *end)
{
    char *start = batch->text_at;

    *end = '\0';
    batch->text_at = end < text_end(batch) ? end + 1 : end;
    return start;
}

char *otlp_text(struct otlp_batch *batch, const char *text, size_t bytes)
{
    return keep(batch, probity_text_put(batch->text_at, text_end(batch), text, bytes, '\0'));
}

char *otlp_value_text(struct otlp_batch *batch, const struct probity_value_view *view,
                      enum probity_value_style style)
{
    return keep(batch, probity_value_put(batch->text_at, text_end(batch), view, style));
}

/* Returns the place for the value; after the last attribute, a dummy that is never read. */
static Otlp__AnyValue *add(struct otlp_batch *batch, const char *key,
                           Otlp__AnyValue__ValueCase value_case)
{
    size_t i = batch->of_events + batch->span.n_attributes;

    batch->values[i] = (Otlp__AnyValue)OTLP__ANY_VALUE__INIT;
    batch->values[i].value_case = value_case;
    if (i == OTLP_ATTRIBUTES_MAX)
        return &batch->values[i];
    batch->span.n_attributes++;
    batch->attributes[i] = (Otlp__KeyValue)OTLP__KEY_VALUE__INIT;
    batch->attributes[i].key = as_text(key);
    batch->attributes[i].value = &batch->values[i];
    batch->list[i] = &batch->attributes[i];
    return &batch->values[i];
}

void otlp_put_text(struct otlp_batch *batch, const char *key, char *text)
{
    add(batch, key, OTLP__ANY_VALUE__VALUE_STRING_VALUE)->string_value = text;
}

void otlp_put_number(struct otlp_batch *batch, const char *key, int64_t number)
{
    add(batch, key, OTLP__ANY_VALUE__VALUE_INT_VALUE)->int_value = number;
}

void otlp_put_bool(struct otlp_batch *batch, const char *key, int is_true)
{
    add(batch, key, OTLP__ANY_VALUE__VALUE_BOOL_VALUE)->bool_value = is_true;
}

void otlp_put_event(struct otlp_batch *batch, char *name, uint64_t wall_ns)
{
    size_t i = batch->span.n_events++;

    batch->events[i] = (Otlp__Event)OTLP__EVENT__INIT;
    batch->event_list[i] = &batch->events[i];
    batch->events[i].name = name;
    batch->events[i].time_unix_nano = wall_ns;
    batch->events[i].attributes = batch->span.attributes;
    batch->events[i].n_attributes = batch->span.n_attributes;
    batch->of_events += batch->span.n_attributes;
    batch->span.attributes = batch->list + batch->of_events;
    batch->span.n_attributes = 0;
    batch->span.events = batch->event_list;
}

static void put_real(struct otlp_batch *batch, const char *key, double real)
{
    add(batch, key, OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE)->double_value = real;
}

/* Adds a value. JSON has no infinities, and the protocol cannot represent numbers of 2^63 or
 * more. */
static void put_value(struct otlp_batch *batch, const char *key,
                      const struct probity_value_view *view)
{
    struct export_value value = export_value_of(view);

    if (value.type == EXPORT_VALUE_BOOL)
        otlp_put_bool(batch, key, value.number != 0);
    else if (value.type == EXPORT_VALUE_SIGNED ||
             (value.type == EXPORT_VALUE_UNSIGNED && value.number <= INT64_MAX))
        otlp_put_number(batch, key, (int64_t)value.number);
    else if (value.type == EXPORT_VALUE_REAL && value.real - value.real == 0)
        put_real(batch, key, value.real);
    else
        otlp_put_text(batch, key, otlp_value_text(batch, view, PROBITY_VALUE_QUOTED));
}

void otlp_put_values(struct otlp_batch *batch, struct probity_value_walk walk, const char *key)
{
    struct probity_value_view view;

    while (probity_value_walk_next(&walk, &view))
        put_value(batch, key != NULL ? key : otlp_text(batch, view.text, strlen(view.text)), &view);
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static char *put_text(char *at, const char *end, const char *text)
{
    return export_json_text(at, end, text, strlen(text));
}

static char *put_hex(char *at, const char *name, ProtobufCBinaryData bytes)
{
    if (bytes.len == 0)
        return at;
    at = export_put(at, name);
    for (size_t i = 0; i < bytes.len; i++) {
        *at++ = "0123456789abcdef"[bytes.data[i] >> 4];
        *at++ = "0123456789abcdef"[bytes.data[i] & 15];
    }
    return export_put(at, "\",");
}

/* Writes an integer as a string, as in the JSON mapping of protobuf. */
static char *put_integer(char *at, int64_t number)
{
    *at++ = '"';
    if (number < 0)
        *at++ = '-';
    at = probity_digits_put(at, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
    *at++ = '"';
    return at;
}

static char *put_any(char *at, const char *end, const Otlp__AnyValue *value)
{
    char digits[40];

    switch (value->value_case) {
    case OTLP__ANY_VALUE__VALUE_BOOL_VALUE:
        return export_put(at, value->bool_value ? "{\"boolValue\":true}"
                                                : "{\"boolValue\":false}");
    case OTLP__ANY_VALUE__VALUE_INT_VALUE:
        at = put_integer(export_put(at, "{\"intValue\":"), value->int_value);
        break;
    case OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE:
        snprintf(digits, sizeof digits, "%.17g", value->double_value);
        at = export_put(export_put(at, "{\"doubleValue\":"), digits);
        break;
    default: at = put_text(export_put(at, "{\"stringValue\":"), end, value->string_value); break;
    }
    *at++ = '}';
    return at;
}

static char *put_attributes(char *at, const char *end, Otlp__KeyValue **attributes, size_t count)
{
    at = export_put(at, "\"attributes\":[");
    for (size_t i = 0; i < count; i++) {
        at = export_put(at, i > 0 ? ",{\"key\":" : "{\"key\":");
        at = export_put(put_text(at, end, attributes[i]->key), ",\"value\":");
        at = put_any(at, end, attributes[i]->value);
        *at++ = '}';
    }
    *at++ = ']';
    return at;
}

static char *put_events(char *at, const char *end, const Otlp__Span *span)
{
    at = export_put(at, ",\"events\":[");
    for (size_t i = 0; i < span->n_events; i++) {
        const Otlp__Event *event = span->events[i];
        at = export_put(at, i > 0 ? ",{\"timeUnixNano\":" : "{\"timeUnixNano\":");
        at = put_integer(at, (int64_t)event->time_unix_nano);
        at = export_put(put_text(export_put(at, ",\"name\":"), end, event->name), ",");
        at = put_attributes(at, end, event->attributes, event->n_attributes);
        *at++ = '}';
    }
    *at++ = ']';
    return at;
}

static char *put_span(char *at, const char *end, const Otlp__Span *span)
{
    at = put_hex(export_put(at, "{"), "\"traceId\":\"", span->trace_id);
    at = put_hex(at, "\"spanId\":\"", span->span_id);
    at = put_hex(at, "\"parentSpanId\":\"", span->parent_span_id);
    at = put_text(export_put(at, "\"name\":"), end, span->name);
    at = export_put(at, ",\"kind\":1,\"startTimeUnixNano\":");
    at = put_integer(at, (int64_t)span->start_time_unix_nano);
    at = export_put(at, ",\"endTimeUnixNano\":");
    at = put_integer(at, (int64_t)span->end_time_unix_nano);
    *at++ = ',';
    at = put_attributes(at, end, span->attributes, span->n_attributes);
    if (span->n_events > 0)
        at = put_events(at, end, span);
    *at++ = '}';
    return at;
}

/* ---- Requests ----------------------------------------------------------------------------------
 */

/* Collects the attributes of the process in a span that is never packed. */
static void make_resource(const struct probity_export *export, struct otlp_batch *batch)
{
    const struct probity_trace_facts *facts = probity_reader_facts(export->reader, batch->trace);
    const struct probity_info *info = &facts->info;
    const struct probity_text *program = &info->text[PROBITY_TAG_PROGRAM];
    const struct probity_text *host = &info->text[PROBITY_TAG_HOST];
    const char *path = program->bytes != NULL ? program->bytes : "";
    const char *slash = memrchr(path, '/', program->length);
    size_t skip = slash != NULL ? (size_t)(slash + 1 - path) : 0;
    char lack[PROBITY_EXPORT_LACK_BYTES];

    batch->span.n_attributes = batch->of_events = 0;
    batch->text_at = batch->text;
    otlp_put_text(batch, "service.name", otlp_text(batch, path + skip, program->length - skip));
    otlp_put_text(batch, "process.executable.path", otlp_text(batch, path, program->length));
    otlp_put_number(batch, "process.pid", info->pid);
    if (host->bytes != NULL)
        otlp_put_text(batch, "host.name", otlp_text(batch, host->bytes, host->length));
    if (!probity_export_lack(export, batch->trace, lack))
        return;
    otlp_put_text(batch, "probity.not_complete", otlp_text(batch, lack, strlen(lack)));
    otlp_put_number(batch, "probity.records_dropped",
                    (int64_t)probity_totals_dropped(&facts->totals));
}

static void flush_json(struct probity_export *export, struct otlp_batch *batch)
{
    struct log_writer *out = &export->out;
    const char *end = out->end + LOG_LINE_BYTES_MAX - 512;

    out->at = export_put(out->at, "{\"resourceSpans\":[{\"resource\":{");
    out->at = put_attributes(out->at, end, batch->list, batch->span.n_attributes);
    out->at = export_put(out->at, "},\"scopeSpans\":[{\"scope\":{\"name\":\"probity\"");
    out->at = export_put(out->at, ",\"version\":");
    out->at = put_text(out->at, end, probity_version());
    out->at = export_put(out->at, "},\"spans\":[");
    probity_export_write(export, batch->bytes, batch->used);
    out->at = export_put(out->at, "]}]}]}\n");
}

/* Writes the request. The lengths of the enclosing messages precede the spans. */
static void flush_protobuf(struct probity_export *export, struct otlp_batch *batch)
{
    Otlp__Resource resource = OTLP__RESOURCE__INIT;
    Otlp__Scope scope = OTLP__SCOPE__INIT;
    char head[RESOURCE_BYTES], packed[SCOPE_BYTES];

    resource.n_attributes = batch->span.n_attributes;
    resource.attributes = batch->list;
    /* Paths are limited to a page, and host names are shorter; each byte may become four. */
    if (otlp__resource__get_packed_size(&resource) > sizeof head - sizeof packed)
        resource.n_attributes = 0;
    char *content = protobuf_open(head, 1);
    char *at = protobuf_close(content,
                              content + otlp__resource__pack(&resource, (uint8_t *)content));
    scope.name = as_text("probity");
    scope.version = as_text(probity_version());
    content = protobuf_open(packed, 1);
    content = protobuf_close(content, content + otlp__scope__pack(&scope, (uint8_t *)content));
    size_t scope_bytes = (size_t)(content - packed);
    at = protobuf_put_tag(at, 2, PROTOBUF_BYTES);
    at = protobuf_put_varint(at, scope_bytes + batch->used);
    memcpy(at, packed, scope_bytes);
    at += scope_bytes;
    size_t bytes = (size_t)(at - head) + batch->used;
    export->out.at = protobuf_put_varint(protobuf_put_tag(export->out.at, 1, PROTOBUF_BYTES),
                                         bytes);
    probity_export_write(export, head, (size_t)(at - head));
    probity_export_write(export, batch->bytes, batch->used);
}

void otlp_batch_flush(struct probity_export *export, struct otlp_batch *batch)
{
    if (batch->spans == 0)
        return;
    make_resource(export, batch);
    log_writer_make_room(&export->out, NULL);
    if (batch->is_json)
        flush_json(export, batch);
    else
        flush_protobuf(export, batch);
    probity_export_request_end(export);
    batch->used = batch->spans = 0;
}

/* ---- Spans -------------------------------------------------------------------------------------
 */

void otlp_span_begin(struct probity_export *export, struct otlp_batch *batch, uint32_t trace)
{
    if (trace != batch->trace || batch->spans == SPANS_MAX || batch->used > BATCH_BYTES)
        otlp_batch_flush(export, batch);
    batch->trace = trace;
    batch->span = (Otlp__Span)OTLP__SPAN__INIT;
    batch->span.name = as_text(no_text);
    batch->span.kind = 1; /* SPAN_KIND_INTERNAL */
    batch->span.attributes = batch->list;
    batch->of_events = 0;
    batch->text_at = batch->text;
}

/* Makes room for more bytes. Escaping may make a text up to six times as long. */
static int make_room(struct otlp_batch *batch, size_t bytes)
{
    char *larger = probity_array_fit(batch->bytes, 1, batch->used + bytes, &batch->room);

    if (larger == NULL)
        return PROBITY_ERROR_MEMORY;
    batch->bytes = larger;
    return 0;
}

void otlp_span_end(struct probity_export *export, struct otlp_batch *batch)
{
    size_t packed = otlp__span__get_packed_size(&batch->span);
    size_t attributes = batch->of_events + batch->span.n_attributes;
    size_t most = batch->is_json ? 6 * packed + 64 * attributes + 1536 : packed + 16;
    int error = make_room(batch, most);

    if (error != 0) {
        probity_export_fail(export, error);
        return;
    }
    char *at = batch->bytes + batch->used;
    if (batch->is_json) {
        if (batch->spans > 0)
            *at++ = ',';
        at = put_span(at, batch->bytes + batch->room, &batch->span);
    } else {
        at = protobuf_put_varint(protobuf_put_tag(at, 2, PROTOBUF_BYTES), packed);
        at += otlp__span__pack(&batch->span, (uint8_t *)at);
    }
    batch->used = (size_t)(at - batch->bytes);
    batch->spans++;
}
