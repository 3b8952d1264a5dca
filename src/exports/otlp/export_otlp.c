/* SPDX-License-Identifier: MIT
 *
 * export_otlp.c: OpenTelemetry spans. A scope is a span and a child of the enclosing scope's span;
 * an outermost scope begins a trace. A request is a trace whose id has the correlation id as its
 * right half; it contains the stages of the request, and the blocks and scopes of threads while
 * they work on it.
 *
 * A hit is an event of the block that it ends; the first hit of a thread, of the block that it
 * begins. Messages, checkpoints and parameters are spans without duration: events of a span must be
 * kept until its end, in memory that grows with their number.
 *
 * A state of a thread (doc/sched.md) is a span, the child of the innermost scope that contains it.
 *
 * Spans are written when they end. Until then the values of the enter are kept, so memory grows
 * only with open scopes, threads and ids in flight.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "exports/export.h"
#include "exports/export_spans.h"
#include "exports/export_values.h"
#include "exports/otlp/otlp_batch.h"

enum { TRACE_ID_BYTES = 16, SPAN_ID_BYTES = 8 };

/* The OpenTelemetry trace of a span: that of a request or of an outermost scope. */
struct otlp_trace {
    int is_request;
    uint64_t id; /* correlation id, or the number of the outermost span */
};

/* An open scope. */
struct otlp_open {
    struct otlp_open *around;
    uint64_t span, parent; /* parent: 0: none */
    uint64_t start_ns;
    struct otlp_trace trace;
    const struct probity_format *format;
    size_t value_bytes;
    uint8_t values[];
};

/* A hit that has not yet ended a block. */
struct otlp_first {
    char *name; /* NULL: none */
    struct probity_event event; /* without texts */
};

/* State of a thread. */
struct otlp_thread {
    struct otlp_open *top, *around; /* around: innermost scope that is open since the latest hit */
    int is_cpu_known;
    struct otlp_first first;
};

struct otlp {
    struct otlp_batch batch;
    uint64_t spans; /* number of ids assigned so far */
    struct export_spans hits;
    const struct probity_event *event; /* the hit that is being processed */
    int has_block;                     /* the hit has ended a block */
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

/* The ids of a recording are the same in each export, and differ between recordings. */
static ProtobufCBinaryData span_id(const struct probity_export *export, uint32_t trace,
                                   uint64_t number, uint8_t bytes[SPAN_ID_BYTES])
{
    uint64_t id = probity_get_u64(session_of(export, trace)) ^ number;

    put_big_endian(bytes, id != 0 ? id : UINT64_MAX);
    return (ProtobufCBinaryData){SPAN_ID_BYTES, bytes};
}

/* Ids that are shorter than those of W3C trace contexts belong in the right half. */
static ProtobufCBinaryData trace_id(const struct probity_export *export, uint32_t trace,
                                    struct otlp_trace of, uint8_t bytes[TRACE_ID_BYTES])
{
    const uint8_t *session = session_of(export, trace);
    uint64_t left = probity_get_u64(session + (of.is_request ? 0 : 8));

    /* Must not be 0: numbers begin at 1, but correlation ids may be 0. */
    if (of.is_request && left == 0)
        left = UINT64_MAX;
    put_big_endian(put_big_endian(bytes, left), of.id);
    return (ProtobufCBinaryData){TRACE_ID_BYTES, bytes};
}

/* ---- Spans -------------------------------------------------------------------------------------
 */

struct otlp_span_facts {
    uint64_t number, parent; /* parent: 0: none */
    struct otlp_trace trace;
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

    span->trace_id = trace_id(export, thread->trace, facts->trace, ids);
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

/* Returns the number of the request that the thread works on, and its trace; or 0. */
static uint64_t enter_request(struct otlp *otlp, const struct probity_export_thread *thread,
                              struct otlp_trace *trace)
{
    uint64_t correlation, number = export_spans_within(&otlp->hits, thread, &correlation);

    if (number != 0)
        *trace = (struct otlp_trace){1, correlation};
    return number;
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
    open->start_ns = scope->enter_wall_ns;
    open->parent = open->around != NULL ? open->around->span : 0;
    open->trace = open->around != NULL ? open->around->trace : (struct otlp_trace){0, open->span};
    if (open->around == NULL)
        open->parent = enter_request(otlp, thread, &open->trace);
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
                                   open->parent,
                                   open->trace,
                                   scope->enter_wall_ns,
                                   probity_export_leave(scope).wall_ns,
                                   "function",
                                   otlp_text(batch, name, bytes)};
    put_facts(batch, scope, own->is_cpu_known, how);
    otlp_put_values(batch, entered, NULL);
    if (how == PROBITY_SCOPE_LEFT && event->kind == PROBITY_EVENT_LEAVE)
        otlp_put_values(batch, probity_value_walk_of(event),
                        event->format != NULL && event->format->count > 1 ? NULL : "return");
    put_span(export, thread, &facts);
    own->top = open->around;
    if (own->around == open)
        own->around = open->around;
    free(open);
}

/* ---- Messages and other events -----------------------------------------------------------------
 */

static const char *kind_of(const struct probity_event *event)
{
    switch (event->kind) {
    case PROBITY_EVENT_MESSAGE: return "message";
    case PROBITY_EVENT_PARAMETERS: return "parameters";
    case PROBITY_EVENT_CHECKPOINT: return "checkpoint";
    case PROBITY_EVENT_STALL: return "stall";
    case PROBITY_EVENT_LOST: return "lost";
    default: return NULL;
    }
}

/* Adds an id. The protocol cannot represent numbers of 2^63 or more. */
static void put_id(struct otlp_batch *batch, const char *key, uint64_t id)
{
    char digits[24];

    if (id <= INT64_MAX)
        otlp_put_number(batch, key, (int64_t)id);
    else
        otlp_put_text(batch, key, otlp_text(batch, digits, (size_t)snprintf(
                                                digits, sizeof digits, "%" PRIu64, id)));
}

/* Returns the name of an event without duration; its other data become attributes. */
static char *put_moment(struct otlp_batch *batch, const struct probity_event *event)
{
    struct probity_value_walk walk = probity_value_walk_of(event);
    struct probity_value_view label;
    char text[PROBITY_VALUE_TEXT_MAX], *name = NULL;

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

static void put_moment_span(struct probity_export *export, struct probity_export_thread *thread,
                            const struct probity_event *event, const char *kind)
{
    struct otlp *otlp = export->state;
    struct otlp_thread *own = thread_of(export, thread);

    if (own == NULL)
        return;
    otlp_span_begin(export, &otlp->batch, thread->trace);
    struct otlp_span_facts facts = {.number = ++otlp->spans, .trace = {0, otlp->spans},
                                    .start_ns = event->wall_ns, .end_ns = event->wall_ns,
                                    .kind = kind};
    if (own->top != NULL) {
        facts.parent = own->top->span;
        facts.trace = own->top->trace;
    }
    facts.name = put_moment(&otlp->batch, event);
    if (event->cpu_known)
        otlp_put_number(&otlp->batch, "probity.thread_cpu_ns", (int64_t)event->cpu_ns);
    put_span(export, thread, &facts);
}

/* ---- Hits, blocks and requests -----------------------------------------------------------------
 */

/* Adds the attributes of a hit. */
static void put_hit(struct otlp_batch *batch, const struct probity_event *event)
{
    if (event->has_correlation)
        put_id(batch, "probity.correlation", event->correlation);
    if (event->has_object)
        put_id(batch, "probity.object", event->object);
    if (event->has_place)
        put_id(batch, "probity.place", event->place);
    if (event->cpu_known)
        otlp_put_number(batch, "probity.thread_cpu_ns", (int64_t)event->cpu_ns);
}

static char *name_of_hit(struct otlp_batch *batch, const struct probity_event *event)
{
    char lost[32];
    size_t bytes;
    const char *name = probity_export_hit_name(event, lost, &bytes);

    return otlp_text(batch, name, bytes);
}

static void keep_first(struct probity_export *export, struct otlp_thread *own,
                       const struct probity_event *event)
{
    char lost[32];
    size_t bytes;
    const char *name = probity_export_hit_name(event, lost, &bytes);

    free(own->first.name);
    own->first.event = *event;
    own->first.name = strndup(name, bytes);
    if (own->first.name == NULL)
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
}

static void put_first(struct otlp_batch *batch, struct otlp_first *first)
{
    put_hit(batch, &first->event);
    otlp_put_event(batch, otlp_text(batch, first->name, strlen(first->name)),
                   first->event.wall_ns);
    free(first->name);
    first->name = NULL;
}

/* Writes a hit that neither begins nor ends a block, so it has no duration. */
static void flush_first(struct probity_export *export, struct probity_export_thread *thread)
{
    struct otlp *otlp = export->state;
    struct otlp_thread *own = thread->user;

    if (own == NULL || own->first.name == NULL)
        return;
    const uint64_t wall_ns = own->first.event.wall_ns;
    otlp_span_begin(export, &otlp->batch, thread->trace);
    struct otlp_span_facts facts = {.number = ++otlp->spans, .trace = {0, otlp->spans},
                                    .start_ns = wall_ns, .end_ns = wall_ns, .kind = "probe"};
    facts.name = otlp_text(&otlp->batch, own->first.name, strlen(own->first.name));
    put_first(&otlp->batch, &own->first);
    put_span(export, thread, &facts);
}

/* Writes a hit that begins no block, because records of its thread, or of all threads of its
 * process, are missing after it. */
static void flush_before(struct probity_export *export, struct probity_export_thread *thread,
                         const struct probity_event *event)
{
    if (event->kind == PROBITY_EVENT_LOST)
        flush_first(export, thread);
    for (uint32_t slot = 0; event->kind != PROBITY_EVENT_LOST && slot < export->thread_count;
         slot++) {
        if (export->threads[slot] != NULL && export->threads[slot]->trace == event->trace)
            flush_first(export, export->threads[slot]);
    }
}

/* Adds the facts of a block. It is part of the request that its thread works on, or of the
 * innermost scope around it. */
static void put_block_facts(struct otlp *otlp, struct otlp_thread *own,
                            const struct export_span *span, struct otlp_span_facts *facts)
{
    otlp->has_block = 1;
    if (own->first.name != NULL)
        put_first(&otlp->batch, &own->first);
    put_hit(&otlp->batch, otlp->event);
    otlp_put_event(&otlp->batch, name_of_hit(&otlp->batch, otlp->event), otlp->event->wall_ns);
    if (span->within != 0) {
        facts->trace = (struct otlp_trace){1, span->correlation};
    } else if (own->around != NULL) {
        facts->parent = own->around->span;
        facts->trace = own->around->trace;
    }
}

static void put_hit_span(struct probity_export *export, const struct export_span *span)
{
    struct otlp *otlp = export->state;
    struct otlp_batch *batch = &otlp->batch;
    struct otlp_thread *own = thread_of(export, span->thread);
    char name[PROBITY_VALUE_TEXT_MAX];

    if (own == NULL || span->kind == EXPORT_LOCK_WAIT || span->kind == EXPORT_LOCK_HOLD)
        return;
    otlp_span_begin(export, batch, span->trace);
    struct otlp_span_facts facts = {
        .number = span->kind == EXPORT_REQUEST ? span->number : ++otlp->spans,
        .parent = span->within, .trace = {1, span->correlation},
        .start_ns = span->start_ns, .end_ns = span->end_ns,
        .kind = export_span_category(span->kind)};
    if (span->kind == EXPORT_BLOCK) {
        facts.trace = (struct otlp_trace){0, facts.number};
        put_block_facts(otlp, own, span, &facts);
    } else {
        put_id(batch, "probity.correlation", span->correlation);
    }
    if (span->is_cpu_known)
        otlp_put_number(batch, "probity.cpu_ns", (int64_t)span->cpu_ns);
    if (span->is_open)
        otlp_put_text(batch, "probity.end", otlp_text(batch, "open", 4));
    facts.name = otlp_text(batch, name, (size_t)(export_span_name(name, name + sizeof name, span) -
                                                 name));
    put_span(export, span->thread, &facts);
}

/* Does nothing: the span of a request is written at its end. */
static void ignore_begin(struct probity_export *export, const struct export_span *span)
{
    (void)export;
    (void)span;
}

static void otlp_event(struct probity_export *export, struct probity_export_thread *thread,
                       const struct probity_event *event)
{
    struct otlp *otlp = export->state;
    const char *kind = kind_of(event);
    struct otlp_thread *own;

    if (event->kind == PROBITY_EVENT_LOST || event->kind == PROBITY_EVENT_SITES_SWITCHED) {
        flush_before(export, thread, event);
        export_spans_put(export, &otlp->hits, thread, event);
    }
    if (kind != NULL)
        put_moment_span(export, thread, event, kind);
    if (event->kind != PROBITY_EVENT_HIT || (own = thread_of(export, thread)) == NULL)
        return;
    otlp->event = event;
    otlp->has_block = 0;
    export_spans_put(export, &otlp->hits, thread, event);
    own->around = own->top;
    if (!otlp->has_block)
        keep_first(export, own, event);
}

/* ---- States ------------------------------------------------------------------------------------
 */

/* Writes a state. It has just ended, so an open scope contains it if the scope began earlier. */
static void otlp_state(struct probity_export *export, struct probity_export_thread *thread,
                       const struct probity_export_state *state)
{
    struct otlp *otlp = export->state;
    const struct otlp_thread *own = thread_of(export, thread);
    const char *name = probity_export_state_name(state->state);

    if (own == NULL)
        return;
    otlp_span_begin(export, &otlp->batch, thread->trace);
    struct otlp_span_facts facts = {.number = ++otlp->spans, .trace = {0, otlp->spans},
                                    .start_ns = state->from_ns,
                                    .end_ns = state->from_ns + state->ns, .kind = "state"};
    const struct otlp_open *around = own->top;
    while (around != NULL && around->start_ns > state->from_ns)
        around = around->around;
    if (around != NULL) {
        facts.parent = around->span;
        facts.trace = around->trace;
    }
    facts.name = otlp_text(&otlp->batch, name, strlen(name));
    if (state->state == PROBITY_STATE_RUNNING)
        otlp_put_number(&otlp->batch, "probity.cpu", state->cpu);
    else if (state->state == PROBITY_STATE_RUNNABLE && state->waker != 0)
        otlp_put_number(&otlp->batch, "probity.waker", state->waker);
    put_span(export, thread, &facts);
}

/* ---- Beginning and end -------------------------------------------------------------------------
 */

static int otlp_begin(struct probity_export *export)
{
    static const struct export_spans_listener listener = {
        .span = put_hit_span, .began = ignore_begin};
    struct otlp *otlp = export->state;

    export_spans_open(&otlp->hits, &listener);
    otlp->hits.numbers = &otlp->spans;
    return 0;
}

static int otlp_begin_json(struct probity_export *export)
{
    struct otlp *otlp = export->state;

    otlp->batch.is_json = 1;
    return otlp_begin(export);
}

static int otlp_end(struct probity_export *export)
{
    struct otlp *otlp = export->state;

    export_spans_finish(export, &otlp->hits);
    for (uint32_t slot = 0; slot < export->thread_count; slot++) {
        if (export->threads[slot] != NULL)
            flush_first(export, export->threads[slot]);
    }
    otlp_batch_flush(export, &otlp->batch);
    return 0;
}

/* Releases scopes that are still open after an error. */
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
        if (own != NULL)
            free(own->first.name);
    }
    export_spans_release(&otlp->hits);
    free(otlp->batch.bytes);
}

#define OTLP_EXPORTER(name_, type_, begin_)                                                       \
    {                                                                                             \
        .name = name_, .target = PROBITY_EXPORT_STREAM, .content_type = type_, .has_gzip = 1,      \
        .carries = PROBITY_EXPORT_SCOPES | PROBITY_EXPORT_HITS | PROBITY_EXPORT_VALUES,           \
        .state_bytes = sizeof(struct otlp), .begin = begin_, .opened = otlp_opened,               \
        .closed = otlp_closed, .event = otlp_event, .state = otlp_state, .end = otlp_end,         \
        .release = otlp_release                                                                   \
    }

const struct probity_exporter probity_exporter_otlp =
    OTLP_EXPORTER("otlp", "application/x-protobuf", otlp_begin);
const struct probity_exporter probity_exporter_otlp_json =
    OTLP_EXPORTER("otlp-json", "application/json", otlp_begin_json);
