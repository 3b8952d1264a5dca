/* SPDX-License-Identifier: MIT
 *
 * export_chrome.c: Chrome trace events as JSON. Scopes are pairs of B and E, so that each can be
 * written immediately; everything else is an instant. Times are relative to the start of the
 * earliest trace, in microseconds with three decimals, which a double represents exactly for days.
 *
 * The parts that many lines share (thread, name) are cached as text.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/messages.h"
#include "base/bytes.h"
#include "exports/chrome/export_chrome_parts.h"
#include "print/text.h"
#include "probity.h"
#include "probity_typed.h"

/* ---- Parts of a line ---------------------------------------------------------------------------
 */

/* Writes ',{"ph":"B","pid":1,"tid":1,"ts":0.000,"tts":0.000'. */
static inline void put_head(struct probity_export *export, struct probity_export_thread *thread,
                            const char *head, struct probity_scope_time time,
                            const struct probity_event *event)
{
    struct chrome_thread *made = chrome_thread_of(export, thread);

    if (made == NULL)
        return;
    int is_cpu_known = event != NULL ? event->cpu_known : made->is_cpu_known;
    made->is_cpu_known |= is_cpu_known;
    chrome_put(export, head);
    memcpy(export->out.at, made->text, sizeof made->text);
    export->out.at += made->bytes;
    chrome_put_ts(export, time.wall_ns);
    if (is_cpu_known) {
        chrome_put(export, ",\"tts\":");
        export->out.at = export_put_us(export->out.at, time.cpu_ns);
    }
}

/* ---- Scopes ------------------------------------------------------------------------------------
 */

static void put_parameters(struct probity_export *export, const struct probity_scope *scope,
                           const struct probity_event *event, int has_values)
{
    chrome_put(export, ",\"args\":{");
    if (has_values)
        export->out.at = export_json_values(export->out.at, chrome_limit(export), event);
    if (scope->is_untimed)
        chrome_put(export, has_values ? ",\"profiling\":\"off\"" : "\"profiling\":\"off\"");
    chrome_put(export, "}");
}

static uint64_t place_of(const struct probity_export *export)
{
    return export->out.written + (uint64_t)(export->out.at - export->out.buffer);
}

/* Moves the last line, which begins at `place`, before another line. */
static void move_line(struct probity_export *export, uint64_t place, uint64_t to)
{
    size_t bytes = (size_t)(place_of(export) - place);
    char *line = malloc(bytes), *from = export->out.buffer + (to - export->out.written);

    if (line == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    memcpy(line, export->out.at - bytes, bytes);
    memmove(from + bytes, from, (size_t)(place - to));
    memcpy(from, line, bytes);
    free(line);
    for (uint32_t slot = 0; slot < export->thread_count; slot++) {
        if (export->threads[slot] != NULL && export->threads[slot]->user != NULL)
            export_recent_shift(export->threads[slot]->user, to, bytes);
    }
}

/* Orders lines for viewers, which sort them by time and keep the order in the file within a
 * nanosecond: a deferred scope must precede a call that it made immediately. */
static void keep_order(struct probity_export *export, struct chrome_thread *thread,
                       const struct probity_scope *scope)
{
    const struct export_call *first = export_recent_first(&thread->recent, scope);
    struct export_call *call = &thread->recent.open[scope->depth];

    if (first == NULL || first->at > scope->enter_wall_ns ||
        first->place < export->out.written)
        return;
    uint64_t to = first->place;
    move_line(export, call->place, to);
    call->place = to;
}

static void chrome_opened(struct probity_export *export, struct probity_export_thread *thread,
                          struct probity_scope *scope, const struct probity_event *event)
{
    struct chrome *state = export->state;
    const struct probity_scope_time enter = {scope->enter_wall_ns, scope->enter_cpu_ns};
    struct export_name *name = export_names_at(
        &state->names, export_key_of_function(scope->function, scope->trace, scope->number));
    /* The event of a deferred scope is a checkpoint, with separate values. */
    int has_values = event->format != NULL && event->kind == PROBITY_EVENT_ENTER;
    uint64_t place = place_of(export);
    char lost[32];
    size_t bytes;

    put_head(export, thread, ",\n{\"ph\":\"B\",", enter, event);
    struct chrome_thread *made = thread->user;
    struct export_call *call = made != NULL ? export_recent_open(&made->recent, scope) : NULL;
    if (call == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    call->place = place;
    call->at = scope->enter_wall_ns;
    if (__builtin_expect(name != NULL && name->text == NULL, 0)) {
        const char *text = probity_export_function_name(scope->function, scope->number, lost,
                                                        &bytes);
        chrome_make_name(name, "function", text, bytes);
    }
    chrome_put_name(export, name);
    if (__builtin_expect(has_values || scope->is_untimed, 0))
        put_parameters(export, scope, event, has_values);
    chrome_put(export, "}");
    if (__builtin_expect(event->kind == PROBITY_EVENT_CHECKPOINT, 0))
        keep_order(export, made, scope);
}

static void put_result(struct probity_export *export, enum probity_scope_end how,
                       const struct probity_event *event)
{
    if (how == PROBITY_SCOPE_UNWOUND)
        chrome_put(export, ",\"args\":{\"repaired\":\"unwound\"}");
    else if (how == PROBITY_SCOPE_OPEN)
        chrome_put(export, ",\"args\":{\"repaired\":\"open at the end\"}");
    else if (how == PROBITY_SCOPE_RAISED)
        chrome_put(export, ",\"args\":{\"end\":\"left by an exception\"}");
    else if (event != NULL && event->format != NULL) {
        struct probity_value_walk walk = probity_value_walk_of(event);
        struct probity_value_view view;
        if (event->format->count > 1) { /* members of a struct */
            chrome_put(export, ",\"args\":{");
            export->out.at = export_json_values(export->out.at, chrome_limit(export), event);
            chrome_put(export, "}");
            return;
        }
        if (probity_value_walk_next(&walk, &view) == 0)
            return;
        chrome_put(export, ",\"args\":{\"return\":");
        export->out.at = export_json_value(export->out.at, chrome_limit(export), &view);
        chrome_put(export, "}");
    }
}

static void chrome_closed(struct probity_export *export, struct probity_export_thread *thread,
                          const struct probity_scope *scope, enum probity_scope_end how,
                          const struct probity_event *event)
{
    put_head(export, thread, ",\n{\"ph\":\"E\",", probity_export_leave(scope),
             probity_scope_end_is_recorded(how) ? event : NULL);
    if (__builtin_expect(how != PROBITY_SCOPE_LEFT || event->format != NULL, 0))
        put_result(export, how, event);
    chrome_put(export, "}");
    if (thread->user != NULL)
        export_recent_close(export, thread->user, scope);
}

/* ---- Instants ----------------------------------------------------------------------------------
 */

static void put_instant(struct probity_export *export, struct probity_export_thread *thread,
                        const struct probity_event *event)
{
    put_head(export, thread, ",\n{\"ph\":\"i\",\"s\":\"t\",",
             (struct probity_scope_time){event->wall_ns, event->cpu_ns}, event);
}

static void put_ids(struct probity_export *export, const struct probity_event *event)
{
    chrome_put(export, ",\"args\":{\"role\":\"");
    chrome_put(export, probity_role_name(event->role));
    chrome_put(export, "\"");
    if (event->has_correlation)
        chrome_put_id(export, ",\"correlation\":\"", event->correlation);
    if (event->has_object)
        chrome_put_id(export, ",\"object\":\"", event->object);
    if (event->has_place)
        chrome_put_id(export, ",\"place\":\"", event->place);
    chrome_put(export, "}");
}

/* Writes one end of an arrow from a send to its receive. Both ends need the same name and category.
 * It follows the instant to which it is attached; at the receiving end, "bp" does this. */
static void put_flow(struct probity_export *export, struct probity_export_thread *thread,
                     const struct probity_event *event)
{
    int is_send = event->role == PROBITY_ROLE_SEND;
    char id[32];

    log_writer_make_room(&export->out, NULL);
    put_head(export, thread,
             is_send ? ",\n{\"ph\":\"s\"," : ",\n{\"ph\":\"f\",\"bp\":\"e\",",
             (struct probity_scope_time){event->wall_ns, event->cpu_ns}, event);
    snprintf(id, sizeof id, ",\"id\":\"%#" PRIx64 "\"", probity_message_flow(event));
    chrome_put(export, id);
    chrome_put(export, ",\"cat\":\"send\",\"name\":");
    chrome_put_text(export, event->name != NULL ? event->name : "",
                    probity_message_name_bytes(event));
    chrome_put(export, "}");
}

static void put_hit(struct probity_export *export, struct probity_export_thread *thread,
                    const struct probity_event *event)
{
    struct chrome *state = export->state;
    struct export_name *name = export_names_at(&state->names, export_key_of_hit(event));
    char number[32];
    size_t bytes;

    put_instant(export, thread, event);
    if (__builtin_expect(name != NULL && name->text == NULL, 0)) {
        const char *text = probity_export_hit_name(event, number, &bytes);
        chrome_make_name(name, "probe", text, bytes);
    }
    chrome_put_name(export, name);
    if (__builtin_expect(event->role != 0 || event->has_correlation || event->has_object ||
                         event->has_place, 0))
        put_ids(export, event);
    chrome_put(export, "}");
    if (__builtin_expect(probity_is_message(event), 0))
        put_flow(export, thread, event);
}

static void put_message(struct probity_export *export, struct probity_export_thread *thread,
                        const struct probity_event *event)
{
    put_instant(export, thread, event);
    chrome_put(export, event->kind == PROBITY_EVENT_CHECKPOINT ? ",\"cat\":\"checkpoint\",\"name\":"
                                                        : ",\"cat\":\"message\",\"name\":");
    export->out.at = export_json_message(export->out.at, chrome_limit(export), event);
    chrome_put(export, "}");
}

static void put_values(struct probity_export *export, struct probity_export_thread *thread,
                       const struct probity_event *event)
{
    put_instant(export, thread, event);
    chrome_put(export, ",\"cat\":\"parameters\",\"name\":\"parameters\",\"args\":{");
    export->out.at = export_json_values(export->out.at, chrome_limit(export), event);
    chrome_put(export, "}}");
}

/* Writes an event about the recording, such as a stall. */
static void put_own(struct probity_export *export, struct probity_export_thread *thread,
                    const struct probity_event *event, const char *name)
{
    const struct probity_trace_facts *facts = probity_reader_facts(export->reader, event->trace);
    const uint8_t *payload = event->payload;

    put_instant(export, thread, event);
    chrome_put(export, ",\"cat\":\"probity\",\"name\":\"");
    chrome_put(export, name);
    chrome_put(export, "\"");
    if (event->kind == PROBITY_EVENT_STALL && event->payload_bytes >= 8) {
        chrome_put(export, ",\"args\":{\"waited_ns\":");
        chrome_put_number(export, probity_trace_ns_of_ticks(facts, probity_get_u64(payload)));
        chrome_put(export, "}");
    } else if (event->kind == PROBITY_EVENT_LEVELS && event->payload_bytes >= 2) {
        chrome_put(export, ",\"args\":{\"functions\":");
        chrome_put_number(export, payload[0]);
        chrome_put(export, ",\"parameters\":");
        chrome_put_number(export, payload[1]);
        chrome_put(export, "}");
    } else if (event->kind == PROBITY_EVENT_LOST && event->payload_bytes >= 8) {
        chrome_put(export, ",\"args\":{\"records\":");
        chrome_put_number(export, probity_get_u64(payload));
        chrome_put(export, "}");
    }
    chrome_put(export, "}");
}

static void put_thread_name(struct probity_export *export,
                            const struct probity_export_thread *thread)
{
    chrome_put(export, ",\n{\"ph\":\"M\",\"pid\":");
    chrome_put_number(export, chrome_pid(export, thread->trace));
    chrome_put(export, ",\"tid\":");
    chrome_put_number(export, thread->tid);
    chrome_put(export, ",\"name\":\"thread_name\",\"args\":{\"name\":");
    chrome_put_text(export, thread->name, strlen(thread->name));
    chrome_put(export, "}}");
}

/* Lines already written keep the earlier name. */
static void forget_probe(struct chrome *state, const struct probity_event *event)
{
    if (event->payload_bytes < 4 || state->names.table.items == 0)
        return;
    const struct probity_event probe = {.trace = event->trace,
                                        .id = probity_get_u32(event->payload)};
    struct export_name *name = export_names_at(&state->names, export_key_of_hit(&probe));
    if (name != NULL) {
        free(name->text);
        name->text = NULL;
    }
}

static void chrome_event(struct probity_export *export, struct probity_export_thread *thread,
                         const struct probity_event *event)
{
    struct chrome *state = export->state;

    switch (event->kind) {
    case PROBITY_EVENT_HIT:
        put_hit(export, thread, event);
        export_spans_put(export, &state->spans, thread, event);
        break;
    case PROBITY_EVENT_MESSAGE:
    case PROBITY_EVENT_CHECKPOINT: put_message(export, thread, event); break;
    case PROBITY_EVENT_PARAMETERS: put_values(export, thread, event); break;
    case PROBITY_EVENT_THREAD_NAME:
        put_thread_name(export, thread);
        chrome_put_rows_names(export, thread);
        break;
    case PROBITY_EVENT_PROBE_NAME: forget_probe(state, event); break;
    case PROBITY_EVENT_STALL: put_own(export, thread, event, "stall"); break;
    case PROBITY_EVENT_PAUSE: put_own(export, thread, event, "pause"); break;
    case PROBITY_EVENT_RESUME: put_own(export, thread, event, "resume"); break;
    case PROBITY_EVENT_LEVELS: put_own(export, thread, event, "levels"); break;
    case PROBITY_EVENT_SITES_SWITCHED:
        export_spans_put(export, &state->spans, thread, event);
        break;
    case PROBITY_EVENT_LOST:
        put_own(export, thread, event, "lost");
        export_spans_put(export, &state->spans, thread, event);
        break;
    case PROBITY_EVENT_PROFILING:
        put_own(export, thread, event,
                event->payload_bytes > 0 && event->payload[0] ? "profiling on" : "profiling off");
        break;
    default: break;
    }
}

/* ---- Beginning and end -------------------------------------------------------------------------
 */

static int chrome_begin(struct probity_export *export)
{
    struct chrome *state = export->state;

    export_spans_open(&state->spans, &chrome_spans_listener);
    chrome_put(export, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (size_t i = 0; i < probity_reader_traces(export->reader); i++) {
        const struct probity_info *info = &probity_reader_facts(export->reader, i)->info;
        const struct probity_text *program = &info->text[PROBITY_TAG_PROGRAM];
        log_writer_make_room(&export->out, NULL);
        chrome_put(export, i > 0 ? ",\n{\"ph\":\"M\",\"pid\":" : "\n{\"ph\":\"M\",\"pid\":");
        chrome_put_number(export, chrome_pid(export, i));
        chrome_put(export, ",\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":");
        const char *path = program->bytes != NULL ? (const char *)program->bytes : "";
        const char *slash = memrchr(path, '/', program->length);
        const char *name = slash != NULL ? slash + 1 : path;
        chrome_put_text(export, name, program->length - (size_t)(name - path));
        chrome_put(export, "}}");
    }
    return 0;
}

static void put_trace(struct probity_export *export, const struct probity_trace_facts *facts)
{
    char why[256];
    int is_complete = probity_trace_is_complete(facts, why, sizeof why);

    chrome_put(export, "{\"trace\":");
    chrome_put_text(export, facts->path, strlen(facts->path));
    chrome_put(export, ",\"pid\":");
    chrome_put_number(export, facts->info.pid);
    chrome_put(export, is_complete ? ",\"complete\":true" : ",\"complete\":false");
    chrome_put(export, ",\"why\":");
    chrome_put_text(export, why, strlen(why));
    chrome_put(export, "}");
}

/* The start time is written as text, because a double cannot represent it. */
static int chrome_end(struct probity_export *export)
{
    struct chrome *state = export->state;

    export_spans_finish(export, &state->spans);
    log_writer_make_room(&export->out, NULL);
    chrome_put(export, "\n],\"otherData\":{\"creator\":\"probity ");
    chrome_put(export, probity_version());
    chrome_put(export, "\",\"start_realtime_ns\":\"");
    chrome_put_number(export, export->start_ns);
    chrome_put(export, "\",\"traces\":[");
    for (size_t i = 0; i < probity_reader_traces(export->reader); i++) {
        log_writer_make_room(&export->out, NULL);
        chrome_put(export, i > 0 ? ",\n" : "\n");
        put_trace(export, probity_reader_facts(export->reader, i));
    }
    chrome_put(export, "]}}\n");
    return 0;
}

static void chrome_release(struct probity_export *export)
{
    struct chrome *state = export->state;

    export_recents_release(export);
    export_spans_release(&state->spans);
    export_names_release(&state->names);
}

const struct probity_exporter probity_exporter_chrome = {
    .name = "chrome",
    .target = PROBITY_EXPORT_STREAM,
    .has_gzip = 1,
    .carries = PROBITY_EXPORT_SCOPES | PROBITY_EXPORT_HITS | PROBITY_EXPORT_VALUES,
    .state_bytes = sizeof(struct chrome),
    .begin = chrome_begin,
    .opened = chrome_opened,
    .closed = chrome_closed,
    .event = chrome_event,
    .state = chrome_put_state,
    .end = chrome_end,
    .release = chrome_release};
