/* SPDX-License-Identifier: MIT
 *
 * export_perfetto.c: Perfetto's protobuf traces: track events of one sequence of packets. Field
 * numbers are those of Perfetto's published messages, which never change.
 *
 *     state   clocks, defaults       again if the table of names was full
 *     process, thread, counter       tracks, when they first appear or are renamed
 *     names                          interned, each before its first use
 *     events                         begin, end, instant: time since the previous, CPU time of
 *                                    the thread since its previous one
 *     spans                          begin and end when they have ended: export_perfetto_spans.c
 *
 * Time stamps are of CLOCK_REALTIME, as elsewhere in Probity, written as differences on a clock of
 * the sequence; an event older than its predecessor has an absolute time. Perfetto shows
 * CLOCK_BOOTTIME, which Probity does not record: CLOCK_MONOTONIC is used instead.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/messages.h"
#include "base/bytes.h"
#include "exports/export_values.h"
#include "exports/perfetto/export_perfetto.h"
#include "probity_typed.h"

/* One event before it is written. */
struct perfetto_event {
    uint32_t type, name, category, location; /* interned names; 0: none */
    uint64_t wall_ns, cpu_ns;
    int is_without_cpu; /* write no CPU time, even if that of the thread is known */
};

/* A numeric argument of an event about the recording, such as a stall. */
struct perfetto_number {
    const char *name; /* NULL: none */
    uint64_t number;
};

static const char category_function[] = "function", category_untimed[] = "untimed",
                  category_pause[] = "pause", category_hit[] = "probe",
                  category_message[] = "message", category_values[] = "parameters",
                  category_checkpoint[] = "checkpoint", category_notice[] = "probity";

/* ---- Interned names ----------------------------------------------------------------------------
 */

static inline uint32_t category_of(struct probity_export *export, const char *category)
{
    return perfetto_name_of(export, INTERNED_CATEGORY, category);
}

static inline uint32_t name_of(struct probity_export *export, const char *name)
{
    return perfetto_name_of(export, INTERNED_NAME, name);
}

static inline uint32_t annotation_of(struct probity_export *export, const char *name)
{
    return perfetto_name_of(export, INTERNED_ANNOTATION, name);
}

/* ---- Threads -----------------------------------------------------------------------------------
 */

static __attribute__((noinline)) struct perfetto_thread *add_thread(
    struct probity_export *export, struct probity_export_thread *thread)
{
    struct perfetto_thread *own = calloc(1, sizeof *own);

    if (own == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return NULL;
    }
    own->track = probity_reader_traces(export->reader) + 1 + 2 * (uint64_t)thread->slot;
    thread->user = own;
    perfetto_put_thread(export, thread);
    return own;
}

static inline struct perfetto_thread *thread_of(struct probity_export *export,
                                                struct probity_export_thread *thread)
{
    return __builtin_expect(thread->user != NULL, 1) ? thread->user : add_thread(export, thread);
}

/* Makes room for the names of one event; if the state is full, begins a new one. */
static inline void make_room(struct probity_export *export, uint64_t wall_ns)
{
    struct perfetto *perfetto = export->state;

    if (__builtin_expect(perfetto->names.table.items > NAMES_MAX, 0))
        perfetto_begin_state(export, wall_ns);
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static inline char *put_cpu(struct probity_export *export, struct perfetto_thread *own, char *at,
                            uint64_t cpu_ns)
{
    struct perfetto *perfetto = export->state;

    at = protobuf_put_number(at, EVENT_COUNTER_TRACK, own->track + 1);
    if (__builtin_expect(own->state != perfetto->state, 0)) {
        own->state = perfetto->state;
        own->cpu_ns = 0;
    }
    at = protobuf_put_number(at, EVENT_COUNTER_VALUE, cpu_ns - own->cpu_ns);
    own->cpu_ns = cpu_ns;
    return at;
}

/* Positions in the packet of an event, up to its annotations. */
struct perfetto_open {
    char *packet, *event, *at;
};

static inline struct perfetto_open begin_event(struct probity_export *export,
                                               struct perfetto_thread *own,
                                               const struct perfetto_event *event)
{
    struct perfetto_open open;
    char *at;

    open.packet = perfetto_open_event(export->state, event->wall_ns, export->out.at, &at);
    open.event = protobuf_open(at, FIELD_TRACK_EVENT);
    at = protobuf_put_number(open.event, EVENT_TYPE, event->type);
    at = protobuf_put_number(at, EVENT_TRACK, own->track);
    if (event->category != 0)
        at = protobuf_put_number(at, EVENT_CATEGORY_IID, event->category);
    if (event->name != 0)
        at = protobuf_put_number(at, EVENT_NAME_IID, event->name);
    if (event->location != 0)
        at = protobuf_put_number(at, EVENT_LOCATION_IID, event->location);
    if (own->is_cpu_known && !event->is_without_cpu)
        at = put_cpu(export, own, at, event->cpu_ns);
    open.at = at;
    return open;
}

static inline void end_event(struct probity_export *export, const struct perfetto_open *open)
{
    export->out.at = protobuf_close(open->packet, protobuf_close(open->event, open->at));
}

/* Declares the track of the counter when it has its first value. */
static inline void learn_cpu(struct probity_export *export, struct perfetto_thread *own,
                             const struct probity_event *event)
{
    if (__builtin_expect(own->is_cpu_known || !event->cpu_known, 1))
        return;
    own->is_cpu_known = 1;
    perfetto_put_counter(export, own);
}

static char *put_value(char *at, const struct probity_value_view *view)
{
    static const uint32_t fields[] = {[EXPORT_VALUE_BOOL] = 2, [EXPORT_VALUE_UNSIGNED] = 3,
                                      [EXPORT_VALUE_SIGNED] = 4, [EXPORT_VALUE_POINTER] = 7};
    struct export_value value = export_value_of(view);

    if (value.type == EXPORT_VALUE_REAL)
        return protobuf_put_double(at, 5, value.real);
    if (value.type != EXPORT_VALUE_TEXT)
        return protobuf_put_number(at, fields[value.type], value.number);
    char *content = protobuf_open(at, 6);
    return protobuf_close(content, probity_value_put(content, content + PROBITY_VALUE_TEXT_MAX,
                                                     view, PROBITY_VALUE_QUOTED));
}

static char *put_annotation(char *at, uint32_t name, const struct probity_value_view *view)
{
    char *content = protobuf_open(at, EVENT_ANNOTATION);

    return protobuf_close(content, put_value(protobuf_put_number(content, 1, name), view));
}

static char *put_id(char *at, uint32_t name, uint64_t id)
{
    char *content = protobuf_open(at, EVENT_ANNOTATION);

    at = protobuf_put_number(content, 1, name);
    return protobuf_close(content, protobuf_put_number(at, 3, id));
}

static char *put_fact(char *at, uint32_t name, const char *text)
{
    char *content = protobuf_open(at, EVENT_ANNOTATION);

    at = protobuf_put_number(content, 1, name);
    return protobuf_close(content, perfetto_put_text(at, 6, text, strlen(text)));
}

/* Interns the names of an event's values; if `name` is not NULL, interns only that. */
static void put_names(struct probity_export *export, const struct probity_value_walk *from,
                       const char *name)
{
    struct probity_value_walk walk = *from;
    struct probity_value_view view;

    while (probity_value_walk_next(&walk, &view))
        annotation_of(export, name != NULL ? name : view.text);
}

/* Call after put_names(). */
static char *put_annotations(struct probity_export *export, char *at,
                             const struct probity_value_walk *from, const char *name)
{
    struct probity_value_walk walk = *from;
    struct probity_value_view view;

    while (probity_value_walk_next(&walk, &view))
        at = put_annotation(at, annotation_of(export, name != NULL ? name : view.text), &view);
    return at;
}

/* ---- Scopes ------------------------------------------------------------------------------------
 */

static void opened(struct probity_export *export, struct probity_export_thread *thread,
                   struct probity_scope *scope, const struct probity_event *event)
{
    make_room(export, scope->enter_wall_ns);
    struct perfetto_thread *own = thread_of(export, thread);
    if (own == NULL)
        return;
    learn_cpu(export, own, event);
    struct perfetto_event item = {
        TYPE_BEGIN, perfetto_function_of(export, scope),
        category_of(export, scope->is_untimed ? category_untimed : category_function),
        0, scope->enter_wall_ns, scope->enter_cpu_ns, 0};
    if (scope->function != NULL && scope->function->line != 0)
        item.location = item.name;
    own->depth++;
    /* A checkpoint has separate values; an event of a single word has none. */
    struct probity_value_walk walk = {.format = NULL};
    if (event->kind == PROBITY_EVENT_ENTER)
        walk = probity_value_walk_of(event);
    put_names(export, &walk, NULL);
    struct perfetto_open open = begin_event(export, own, &item);
    open.at = put_annotations(export, open.at, &walk, NULL);
    end_event(export, &open);
}

static void end_pause(struct probity_export *export, struct perfetto_thread *own, uint64_t wall_ns,
                      uint64_t cpu_ns)
{
    const struct perfetto_event item = {TYPE_END, 0, 0, 0, wall_ns, cpu_ns, 0};
    struct perfetto_open open = begin_event(export, own, &item);

    end_event(export, &open);
    own->pause_count--;
}

static inline int is_paused(const struct perfetto_thread *own)
{
    return own->pause_count > 0 && own->pauses[own->pause_count - 1] == own->depth;
}

static void closed(struct probity_export *export, struct probity_export_thread *thread,
                   const struct probity_scope *scope, enum probity_scope_end how,
                   const struct probity_event *event)
{
    static const char name_result[] = "return", name_end[] = "end";
    struct probity_scope_time end = probity_export_leave(scope);
    const struct perfetto_event item = {TYPE_END, 0, 0, 0, end.wall_ns, end.cpu_ns, 0};
    struct probity_value_walk walk = {.format = NULL};

    make_room(export, end.wall_ns);
    struct perfetto_thread *own = thread_of(export, thread);
    if (own == NULL)
        return;
    if (is_paused(own))
        end_pause(export, own, end.wall_ns, end.cpu_ns);
    own->depth--;
    if (how == PROBITY_SCOPE_LEFT && event->kind == PROBITY_EVENT_LEAVE)
        walk = probity_value_walk_of(event);
    /* The members of a struct have their own names. */
    const char *of_result = walk.format != NULL && walk.format->count > 1 ? NULL : name_result;
    put_names(export, &walk, of_result);
    uint32_t name = how != PROBITY_SCOPE_LEFT ? annotation_of(export, name_end) : 0;
    struct perfetto_open open = begin_event(export, own, &item);
    open.at = put_annotations(export, open.at, &walk, of_result);
    if (how != PROBITY_SCOPE_LEFT)
        open.at = put_fact(open.at, name, how == PROBITY_SCOPE_RAISED    ? "exception"
                                          : how == PROBITY_SCOPE_UNWOUND ? "unwound"
                                                                         : "open");
    end_event(export, &open);
}

static void pause_or_resume(struct probity_export *export, struct perfetto_thread *own,
                            const struct probity_event *event)
{
    static const char name_pause[] = "pause";

    if (event->kind == PROBITY_EVENT_RESUME && is_paused(own))
        end_pause(export, own, event->wall_ns, event->cpu_ns);
    if (event->kind == PROBITY_EVENT_RESUME || own->depth == 0 || is_paused(own) ||
        own->pause_count == PAUSES_MAX)
        return;
    const struct perfetto_event item = {
        TYPE_BEGIN, name_of(export, name_pause),
        category_of(export, category_pause), 0, event->wall_ns, event->cpu_ns, 0};
    struct perfetto_open open = begin_event(export, own, &item);
    end_event(export, &open);
    own->pauses[own->pause_count++] = own->depth;
}

/* ---- Instants ----------------------------------------------------------------------------------
 */

/* Flows connect the hits of one correlation id, which is unique within the process, and messages
 * between processes. */
static __attribute__((noinline)) void put_hit_with(struct probity_export *export,
                                                   struct perfetto_thread *own,
                                                   const struct probity_event *event,
                                                   const struct perfetto_event *item)
{
    static const char name_correlation[] = "correlation", name_object[] = "object",
                      name_place[] = "place";
    uint64_t flow = event->correlation + event->trace * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t correlation = annotation_of(export, name_correlation);
    uint32_t object = annotation_of(export, name_object);
    uint32_t place = event->has_place ? annotation_of(export, name_place) : 0;
    struct perfetto_open open = begin_event(export, own, item);

    if (event->has_correlation && probity_role_is_of_work(event->role))
        open.at = protobuf_put_fixed(
            open.at, event->role == PROBITY_ROLE_REQUEST_END ? EVENT_FLOW_END : EVENT_FLOW, flow);
    if (probity_is_message(event))
        open.at = protobuf_put_fixed(open.at, EVENT_FLOW, probity_message_flow(event));
    if (event->has_correlation)
        open.at = put_id(open.at, correlation, event->correlation);
    if (event->has_object)
        open.at = put_id(open.at, object, event->object);
    if (event->has_place)
        open.at = put_id(open.at, place, event->place);
    end_event(export, &open);
}

static inline void put_hit(struct probity_export *export, struct perfetto_thread *own,
                           const struct probity_event *event)
{
    const struct perfetto_event item = {
        TYPE_INSTANT, perfetto_hit_of(export, event), category_of(export, category_hit), 0,
        event->wall_ns, event->cpu_ns, 0};
    if (__builtin_expect(event->has_correlation || event->has_object ||
                         event->has_place, 0)) {
        put_hit_with(export, own, event, &item);
        return;
    }
    struct perfetto_open open = begin_event(export, own, &item);

    end_event(export, &open);
}

/* Writes an event within a scope, with a separate name. */
static void put_message(struct probity_export *export, struct perfetto_thread *own,
                        const struct probity_event *event)
{
    struct perfetto_event item = {TYPE_INSTANT, 0, 0, 0, event->wall_ns, event->cpu_ns, 0};
    struct probity_value_walk walk = {.format = NULL}, values = probity_value_walk_of(event);
    struct probity_value_view label = {.at = NULL};
    static const char name_values[] = "parameters", name_checkpoint[] = "checkpoint";

    if (event->kind == PROBITY_EVENT_MESSAGE) {
        item.category = category_of(export, category_message);
    } else if (event->kind == PROBITY_EVENT_PARAMETERS) {
        item.category = category_of(export, category_values);
        item.name = name_of(export, name_values);
        walk = values;
    } else {
        item.category = category_of(export, category_checkpoint);
        if (!probity_value_walk_next(&values, &label))
            item.name = name_of(export, name_checkpoint);
        walk = values;
    }
    put_names(export, &walk, NULL);
    struct perfetto_open open = begin_event(export, own, &item);
    if (item.name == 0) {
        char *content = protobuf_open(open.at, EVENT_NAME);
        const char *end = content + PROBITY_VALUE_TEXT_MAX;
        open.at = event->kind == PROBITY_EVENT_MESSAGE
                      ? export_message_put(content, end, event)
                      : probity_value_put(content, end, &label, PROBITY_VALUE_RAW);
        open.at = protobuf_close(content, open.at);
    }
    open.at = put_annotations(export, open.at, &walk, NULL);
    end_event(export, &open);
}

/* Writes an event about the recording: a name, and up to two numbers. */
static void put_notice(struct probity_export *export, struct perfetto_thread *own,
                       const struct probity_event *event, const char *name,
                       const struct perfetto_number numbers[2])
{
    const struct perfetto_event item = {TYPE_INSTANT, name_of(export, name),
                                        category_of(export, category_notice), 0, event->wall_ns, 0,
                                        1};
    uint32_t names[2];

    for (size_t i = 0; i < 2; i++)
        names[i] = numbers[i].name != NULL ? annotation_of(export, numbers[i].name) : 0;
    struct perfetto_open open = begin_event(export, own, &item);
    for (size_t i = 0; i < 2; i++) {
        if (numbers[i].name != NULL)
            open.at = put_id(open.at, names[i], numbers[i].number);
    }
    end_event(export, &open);
}

static void put_own(struct probity_export *export, struct perfetto_thread *own,
                    const struct probity_event *event)
{
    static const char name_stall[] = "stalled", name_on[] = "profiling on",
                      name_off[] = "profiling off", name_levels[] = "levels", name_ns[] = "ns",
                      name_lost[] = "lost", name_records[] = "records",
                      name_functions[] = "functions", name_parameters[] = "parameters";
    const struct probity_trace_facts *facts = probity_reader_facts(export->reader, event->trace);
    struct perfetto_number numbers[2] = {{NULL, 0}, {NULL, 0}};

    if (event->kind == PROBITY_EVENT_STALL && event->payload_bytes >= 8) {
        numbers[0] = (struct perfetto_number){
            name_ns, probity_trace_ns_of_ticks(facts, probity_get_u64(event->payload))};
        put_notice(export, own, event, name_stall, numbers);
    } else if (event->kind == PROBITY_EVENT_LEVELS && event->payload_bytes >= 2) {
        numbers[0] = (struct perfetto_number){name_functions, event->payload[0]};
        numbers[1] = (struct perfetto_number){name_parameters, event->payload[1]};
        put_notice(export, own, event, name_levels, numbers);
    } else if (event->kind == PROBITY_EVENT_LOST && event->payload_bytes >= 8) {
        numbers[0] = (struct perfetto_number){name_records, probity_get_u64(event->payload)};
        put_notice(export, own, event, name_lost, numbers);
    } else if (event->kind == PROBITY_EVENT_PROFILING && event->payload_bytes >= 1) {
        put_notice(export, own, event, event->payload[0] ? name_on : name_off, numbers);
    }
}

/* Renames a probe. If the earlier name has been written, starts a new state. */
static void rename_probe(struct probity_export *export, const struct probity_event *event)
{
    struct perfetto *perfetto = export->state;
    struct probity_event hit = {.trace = event->trace};

    if (event->payload_bytes < 4)
        return;
    hit.id = probity_get_u32(event->payload);
    const struct export_name *name = export_names_at(&perfetto->names, export_key_of_hit(&hit));
    if (name != NULL && name->bytes > 0)
        perfetto_begin_state(export, event->wall_ns);
}

static void put_event(struct probity_export *export, struct probity_export_thread *thread,
                      const struct probity_event *event)
{
    struct perfetto *perfetto = export->state;

    make_room(export, event->wall_ns);
    struct perfetto_thread *own = thread_of(export, thread);
    if (own == NULL)
        return;
    learn_cpu(export, own, event);
    switch (event->kind) {
    case PROBITY_EVENT_HIT:
        put_hit(export, own, event);
        export_spans_put(export, &perfetto->spans, thread, event);
        break;
    case PROBITY_EVENT_THREAD_NAME: perfetto_put_thread(export, thread); break;
    case PROBITY_EVENT_PROBE_NAME: rename_probe(export, event); break;
    case PROBITY_EVENT_MESSAGE:
    case PROBITY_EVENT_PARAMETERS:
    case PROBITY_EVENT_CHECKPOINT: put_message(export, own, event); break;
    case PROBITY_EVENT_PAUSE:
    case PROBITY_EVENT_RESUME: pause_or_resume(export, own, event); break;
    case PROBITY_EVENT_STALL:
    case PROBITY_EVENT_LEVELS:
    case PROBITY_EVENT_PROFILING: put_own(export, own, event); break;
    case PROBITY_EVENT_SITES_SWITCHED:
        export_spans_put(export, &perfetto->spans, thread, event);
        break;
    case PROBITY_EVENT_LOST:
        put_own(export, own, event);
        export_spans_put(export, &perfetto->spans, thread, event);
        break;
    default: break;
    }
}

static void put_state(struct probity_export *export, struct probity_export_thread *thread,
                      const struct probity_export_state *state)
{
    make_room(export, state->from_ns + state->ns);
    struct perfetto_thread *own = thread_of(export, thread);
    if (own != NULL)
        perfetto_put_state(export, own, state);
}

/* Begins the trace. A trace without events still lists its processes. */
static int begin(struct probity_export *export)
{
    struct perfetto *perfetto = export->state;

    export_spans_open(&perfetto->spans, &perfetto_spans_listener);
    perfetto_begin_state(export, export->start_ns);
    for (size_t i = 0; i < probity_reader_traces(export->reader); i++) {
        log_writer_make_room(&export->out, NULL);
        perfetto_put_process(export, i);
    }
    return 0;
}

static int end(struct probity_export *export)
{
    struct perfetto *perfetto = export->state;

    export_spans_finish(export, &perfetto->spans);
    return 0;
}

static void release(struct probity_export *export)
{
    struct perfetto *perfetto = export->state;

    perfetto_spans_release(perfetto);
    export_names_release(&perfetto->names);
}

const struct probity_exporter probity_exporter_perfetto = {
    .name = "perfetto",
    .target = PROBITY_EXPORT_STREAM,
    .has_gzip = 1,
    .carries = PROBITY_EXPORT_SCOPES | PROBITY_EXPORT_HITS | PROBITY_EXPORT_VALUES,
    .state_bytes = sizeof(struct perfetto),
    .begin = begin,
    .opened = opened,
    .closed = closed,
    .event = put_event,
    .state = put_state,
    .end = end,
    .release = release};
