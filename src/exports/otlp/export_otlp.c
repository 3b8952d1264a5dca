/* SPDX-License-Identifier: MIT
 *
 * export_otlp.c: OpenTelemetry spans. A scope is a span and a child of the enclosing scope's span;
 * an outermost scope begins a trace. Hits, messages, checkpoints and parameters are spans without
 * duration: as events of their span they would have to wait for its end, in memory that grows with
 * their number.
 *
 * Spans are written when they end. Until then the values of the enter are kept, so memory grows
 * only with open scopes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "exports/export.h"
#include "exports/export_values.h"
#include "exports/otlp/otlp_batch.h"

enum { TRACE_ID_BYTES = 16, SPAN_ID_BYTES = 8 };

/* An open scope. */
struct otlp_open {
    struct otlp_open *around;
    uint64_t span, root; /* span ids; root: of the outermost enclosing scope */
    const struct probity_format *format;
    size_t value_bytes;
    uint8_t values[];
};

/* State of a thread. */
struct otlp_thread {
    struct otlp_open *top;
    int is_cpu_known;
};

struct otlp {
    struct otlp_batch batch;
    uint64_t spans; /* number of ids assigned so far */
};

/* ---- Identity ----------------------------------------------------------------------------------
 */

static uint8_t *put_big_endian(uint8_t *at, uint64_t number)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        *at++ = (uint8_t)(number >> shift);
    return at;
}

static const uint8_t *session_of(const struct probity_export *export, uint32_t trace)
{
    return probity_reader_facts(export->reader, trace)->info.session;
}

/* Ids of one recording are the same in each export, and differ between recordings. */
static ProtobufCBinaryData span_id(const struct probity_export *export, uint32_t trace,
                                   uint64_t number, uint8_t bytes[SPAN_ID_BYTES])
{
    uint64_t id = probity_get_u64(session_of(export, trace)) ^ number;

    put_big_endian(bytes, id != 0 ? id : UINT64_MAX);
    return (ProtobufCBinaryData){SPAN_ID_BYTES, bytes};
}

static ProtobufCBinaryData trace_id(const struct probity_export *export, uint32_t trace,
                                    uint64_t root, uint8_t bytes[TRACE_ID_BYTES])
{
    const uint8_t *session = session_of(export, trace);

    /* Never 0, because numbers begin at 1. */
    put_big_endian(put_big_endian(bytes, probity_get_u64(session + 8)), root);
    return (ProtobufCBinaryData){TRACE_ID_BYTES, bytes};
}

/* ---- Spans -------------------------------------------------------------------------------------
 */

struct otlp_span_facts {
    uint64_t number, parent, root; /* parent 0: none */
    uint64_t start_ns, end_ns;
    const char *kind;
    char *name;
};

static void put_span(struct probity_export *export, const struct probity_export_thread *thread,
                     const struct otlp_span_facts *facts)
{
    struct otlp *otlp = export->state;
    Otlp__Span *span = &otlp->batch.span;
    uint8_t ids[TRACE_ID_BYTES + 2 * SPAN_ID_BYTES];
    uint8_t *own = ids + TRACE_ID_BYTES, *parent = own + SPAN_ID_BYTES;

    span->trace_id = trace_id(export, thread->trace, facts->root, ids);
    span->span_id = span_id(export, thread->trace, facts->number, own);
    if (facts->parent != 0)
        span->parent_span_id = span_id(export, thread->trace, facts->parent, parent);
    span->name = facts->name;
    span->start_time_unix_nano = facts->start_ns;
    span->end_time_unix_nano = facts->end_ns;
    otlp_put_text(&otlp->batch, "probity.kind", otlp_text(&otlp->batch, facts->kind,
                                                          strlen(facts->kind)));
    otlp_put_number(&otlp->batch, "thread.id", thread->tid);
    if (thread->name != NULL)
        otlp_put_text(&otlp->batch, "thread.name",
                      otlp_text(&otlp->batch, thread->name, strlen(thread->name)));
    otlp_span_end(export, &otlp->batch);
}

static struct otlp_thread *thread_of(struct probity_export *export,
                                     struct probity_export_thread *thread)
{
    if (thread->user == NULL)
        thread->user = calloc(1, sizeof(struct otlp_thread));
    if (thread->user == NULL)
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
    return thread->user;
}

/* ---- Scopes ------------------------------------------------------------------------------------
 */

static void otlp_opened(struct probity_export *export, struct probity_export_thread *thread,
                        struct probity_scope *scope, const struct probity_event *event)
{
    struct otlp *otlp = export->state;
    struct otlp_thread *own = thread_of(export, thread);
    size_t bytes = event->kind == PROBITY_EVENT_ENTER && event->values != NULL ? event->value_bytes
                                                                               : 0;
    struct otlp_open *open = own != NULL ? malloc(sizeof *open + bytes) : NULL;

    if (open == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    open->around = own->top;
    open->span = ++otlp->spans;
    open->root = own->top != NULL ? own->top->root : open->span;
    open->format = event->kind == PROBITY_EVENT_ENTER ? event->format : NULL;
    open->value_bytes = bytes;
    if (bytes > 0)
        memcpy(open->values, event->values, bytes);
    own->top = open;
    own->is_cpu_known |= event->cpu_known;
    scope->user = open;
}

static void put_facts(struct otlp_batch *batch, const struct probity_scope *scope, int is_cpu_known,
                      enum probity_scope_end how)
{
    const struct probity_function *function = scope->function;

    if (function != NULL) {
        otlp_put_text(batch, "code.file.path",
                      otlp_text(batch, function->file, strlen(function->file)));
        otlp_put_number(batch, "code.line.number", function->line);
    }
    if (is_cpu_known)
        otlp_put_number(batch, "probity.cpu_ns", (int64_t)scope->elapsed.cpu_ns);
    if (scope->paused.wall_ns > 0)
        otlp_put_number(batch, "probity.paused_ns", (int64_t)scope->paused.wall_ns);
    if (scope->is_untimed)
        otlp_put_bool(batch, "probity.untimed", 1);
    if (how != PROBITY_SCOPE_LEFT)
        otlp_put_text(batch, "probity.end",
                      how == PROBITY_SCOPE_RAISED ? otlp_text(batch, "exception", 9)
                      : how == PROBITY_SCOPE_OPEN ? otlp_text(batch, "open", 4)
                                                  : otlp_text(batch, "unwound", 7));
}

static void otlp_closed(struct probity_export *export, struct probity_export_thread *thread,
                        const struct probity_scope *scope, enum probity_scope_end how,
                        const struct probity_event *event)
{
    struct otlp *otlp = export->state;
    struct otlp_batch *batch = &otlp->batch;
    struct otlp_thread *own = thread->user;
    struct otlp_open *open = scope->user;
    char lost[32];
    size_t bytes;

    if (open == NULL || own == NULL)
        return;
    const char *name = probity_export_function_name(scope->function, scope->number, lost, &bytes);
    const struct probity_value_walk entered = {open->format, 0, open->values,
                                               open->values + open->value_bytes};
    otlp_span_begin(export, batch, thread->trace);
    const struct otlp_span_facts facts = {open->span,
                                   open->around != NULL ? open->around->span : 0,
                                   open->root,
                                   scope->enter_wall_ns,
                                   probity_export_leave(scope).wall_ns,
                                   "function",
                                   otlp_text(batch, name, bytes)};
    put_facts(batch, scope, own->is_cpu_known, how);
    otlp_put_values(batch, entered, NULL);
    if (how == PROBITY_SCOPE_LEFT && event->kind == PROBITY_EVENT_LEAVE)
        otlp_put_values(batch, probity_value_walk_of(event), "return");
    put_span(export, thread, &facts);
    own->top = open->around;
    free(open);
}

/* ---- Hits and events ---------------------------------------------------------------------------
 */

static const char *kind_of(const struct probity_event *event)
{
    switch (event->kind) {
    case PROBITY_EVENT_HIT: return "probe";
    case PROBITY_EVENT_MESSAGE: return "message";
    case PROBITY_EVENT_PARAMETERS: return "parameters";
    case PROBITY_EVENT_CHECKPOINT: return "checkpoint";
    case PROBITY_EVENT_STALL: return "stall";
    case PROBITY_EVENT_LOST: return "lost";
    default: return NULL;
    }
}

/* The protocol cannot represent numbers from 2^63 on. */
static void put_id(struct otlp_batch *batch, const char *key, uint64_t id)
{
    char digits[24];

    if (id <= INT64_MAX)
        otlp_put_number(batch, key, (int64_t)id);
    else
        otlp_put_text(batch, key, otlp_text(batch, digits, (size_t)snprintf(
                                                digits, sizeof digits, "%" PRIu64, id)));
}

/* Returns the name of an event without duration; the rest of it becomes attributes. */
static char *put_moment(struct otlp_batch *batch, const struct probity_event *event)
{
    struct probity_value_walk walk = probity_value_walk_of(event);
    struct probity_value_view label;
    char text[PROBITY_VALUE_TEXT_MAX], *name = NULL;
    size_t bytes;

    if (event->kind == PROBITY_EVENT_HIT) {
        const char *hit = probity_export_hit_name(event, text, &bytes);
        name = otlp_text(batch, hit, bytes);
        if (event->has_correlation)
            put_id(batch, "probity.correlation", event->correlation);
        if (event->has_object)
            put_id(batch, "probity.object", event->object);
        return name;
    }
    if (event->kind == PROBITY_EVENT_MESSAGE) {
        const char *end = export_message_put(text, text + sizeof text, event);
        return otlp_text(batch, text, (size_t)(end - text));
    }
    if (event->kind == PROBITY_EVENT_CHECKPOINT && probity_value_walk_next(&walk, &label))
        name = otlp_value_text(batch, &label, PROBITY_VALUE_RAW);
    if (event->kind == PROBITY_EVENT_LOST && event->payload_bytes >= 8)
        put_id(batch, "probity.records", probity_get_u64(event->payload));
    if (event->kind != PROBITY_EVENT_STALL && event->kind != PROBITY_EVENT_LOST)
        otlp_put_values(batch, walk, NULL);
    return name != NULL ? name : otlp_text(batch, kind_of(event), strlen(kind_of(event)));
}

static void otlp_event(struct probity_export *export, struct probity_export_thread *thread,
                       const struct probity_event *event)
{
    struct otlp *otlp = export->state;
    const char *kind = kind_of(event);
    struct otlp_thread *own = kind != NULL ? thread_of(export, thread) : NULL;

    if (own == NULL)
        return;
    otlp_span_begin(export, &otlp->batch, thread->trace);
    struct otlp_span_facts facts = {.number = ++otlp->spans, .root = otlp->spans,
                             .start_ns = event->wall_ns, .end_ns = event->wall_ns, .kind = kind};
    if (own->top != NULL) {
        facts.parent = own->top->span;
        facts.root = own->top->root;
    }
    facts.name = put_moment(&otlp->batch, event);
    if (event->cpu_known)
        otlp_put_number(&otlp->batch, "probity.thread_cpu_ns", (int64_t)event->cpu_ns);
    put_span(export, thread, &facts);
}

/* ---- Beginning and end -------------------------------------------------------------------------
 */

static int otlp_begin_json(struct probity_export *export)
{
    struct otlp *otlp = export->state;

    otlp->batch.is_json = 1;
    return 0;
}

static int otlp_end(struct probity_export *export)
{
    struct otlp *otlp = export->state;

    otlp_batch_flush(export, &otlp->batch);
    return 0;
}

/* Scopes left open by an error. */
static void otlp_release(struct probity_export *export)
{
    struct otlp *otlp = export->state;

    for (uint32_t slot = 0; slot < export->thread_count; slot++) {
        const struct probity_export_thread *thread = export->threads[slot];
        struct otlp_thread *own = thread != NULL ? thread->user : NULL;
        for (struct otlp_open *open = own != NULL ? own->top : NULL, *around; open != NULL;
             open = around) {
            around = open->around;
            free(open);
        }
    }
    free(otlp->batch.bytes);
}

#define OTLP_EXPORTER(name_, type_, begin_)                                                       \
    {                                                                                             \
        .name = name_, .target = PROBITY_EXPORT_STREAM, .content_type = type_,                    \
        .carries = PROBITY_EXPORT_SCOPES | PROBITY_EXPORT_HITS | PROBITY_EXPORT_VALUES,           \
        .state_bytes = sizeof(struct otlp), .begin = begin_, .opened = otlp_opened,               \
        .closed = otlp_closed, .event = otlp_event, .end = otlp_end, .release = otlp_release      \
    }

const struct probity_exporter probity_exporter_otlp =
    OTLP_EXPORTER("otlp", "application/x-protobuf", NULL);
const struct probity_exporter probity_exporter_otlp_json =
    OTLP_EXPORTER("otlp-json", "application/json", otlp_begin_json);
