/* SPDX-License-Identifier: MIT
 *
 * export_ctf.c: a directory in the Common Trace Format 1.8: `metadata`, which describes the events,
 * and `stream`, which contains packets of events. There is only one stream, so that memory does not
 * grow with the number of threads:
 *
 *     packet   header, context | event | event | ...
 *     event    id, time stamp | process, thread, CPU time, late_ns | fields
 *
 * Time stamps of a stream never decrease. An event that became known late has the time stamp of its
 * predecessor; late_ns is how much earlier it happened.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "exports/ctf/ctf_metadata.h"
#include "exports/export.h"
#include "exports/export_values.h"
#include "print/text.h"
#include "print/values.h"
#include "probity.h"

enum { PACKET_BYTES = 512 << 10, EVENT_BYTES_MAX = 128 << 10 };

/* Offsets in a packet. */
enum {
    AT_MAGIC = 0,
    AT_UUID = 4,
    AT_STREAM = 20,
    AT_BEGIN = 24,
    AT_END = 32,
    AT_CONTENT_BITS = 40,
    AT_PACKET_BITS = 48,
    PACKET_HEADER_BYTES = 56
};

#define PACKET_MAGIC 0xc1fc1fc1u

struct ctf {
    FILE *stream;
    char *packet, *at;
    uint64_t begin_ns, now_ns;
};

static const uint8_t *uuid_of(const struct probity_export *export)
{
    return probity_reader_facts(export->reader, 0)->info.session;
}

/* ---- Packets -----------------------------------------------------------------------------------
 */

static void end_packet(struct probity_export *export)
{
    struct ctf *ctf = export->state;
    uint8_t *packet = (uint8_t *)ctf->packet;
    size_t bytes = (size_t)(ctf->at - ctf->packet);

    probity_put_u32(packet + AT_MAGIC, PACKET_MAGIC);
    memcpy(packet + AT_UUID, uuid_of(export), 16);
    probity_put_u32(packet + AT_STREAM, 0);
    probity_put_u64(packet + AT_BEGIN, ctf->begin_ns);
    probity_put_u64(packet + AT_END, ctf->now_ns);
    probity_put_u64(packet + AT_CONTENT_BITS, 8 * bytes);
    probity_put_u64(packet + AT_PACKET_BITS, 8 * bytes);
    if (fwrite(packet, 1, bytes, ctf->stream) != bytes)
        probity_export_fail(export, PROBITY_ERROR_WRITE);
    ctf->at = ctf->packet + PACKET_HEADER_BYTES;
}

static inline char *put_u32(char *at, uint32_t value)
{
    probity_put_u32((uint8_t *)at, value);
    return at + 4;
}

static inline char *put_u64(char *at, uint64_t value)
{
    probity_put_u64((uint8_t *)at, value);
    return at + 8;
}

static char *put_text(char *at, const char *text, size_t bytes)
{
    at = probity_text_put(at, at + PROBITY_VALUE_TEXT_MAX, text, bytes, '\0');
    *at++ = '\0';
    return at;
}

/* Begins an event; its fields follow. cpu_ns: negative if unknown. */
static inline char *begin_event(struct probity_export *export, enum ctf_event id,
                                const struct probity_export_thread *thread, uint64_t wall_ns,
                                int64_t cpu_ns)
{
    struct ctf *ctf = export->state;

    if (__builtin_expect(ctf->at > ctf->packet + PACKET_BYTES, 0))
        end_packet(export);
    if (__builtin_expect(wall_ns > ctf->now_ns, 1))
        ctf->now_ns = wall_ns;
    if (__builtin_expect(ctf->at == ctf->packet + PACKET_HEADER_BYTES, 0))
        ctf->begin_ns = ctf->now_ns;
    char *at = ctf->at;
    *at++ = (char)id;
    at = put_u64(at, ctf->now_ns);
    at = put_u32(at, thread->pid);
    at = put_u32(at, thread->tid);
    at = put_u64(at, (uint64_t)cpu_ns);
    return put_u64(at, ctf->now_ns - wall_ns);
}

static inline void end_event(struct probity_export *export, char *at)
{
    struct ctf *ctf = export->state;

    ctf->at = at;
}

static inline int64_t cpu_of(const struct probity_event *event)
{
    return event->cpu_known ? (int64_t)event->cpu_ns : -1;
}

/* Writes the number of values, then the name and text of each. */
static char *put_values(char *at, struct probity_value_walk walk)
{
    struct probity_value_view view;
    char *count_at = at;
    uint16_t count = 0;

    for (at += 2; probity_value_walk_next(&walk, &view); count++) {
        at = put_text(at, view.text, strlen(view.text));
        at = probity_value_put(at, at + PROBITY_VALUE_TEXT_MAX, &view, PROBITY_VALUE_QUOTED);
        *at++ = '\0';
    }
    probity_put_u16((uint8_t *)count_at, count);
    return at;
}

static const struct probity_value_walk no_values;

/* ---- Scopes ------------------------------------------------------------------------------------
 */

static char *put_function(char *at, const struct probity_scope *scope)
{
    char lost[32];
    size_t bytes;
    const char *name = probity_export_function_name(scope->function, scope->number, lost, &bytes);

    return put_text(at, name, bytes);
}

static void ctf_opened(struct probity_export *export, struct probity_export_thread *thread,
                       struct probity_scope *scope, const struct probity_event *event)
{
    int64_t cpu_ns = event->cpu_known ? (int64_t)scope->enter_cpu_ns : -1;
    char *at = begin_event(export, CTF_ENTER, thread, scope->enter_wall_ns, cpu_ns);

    scope->user = event->cpu_known ? export->state : NULL; /* whether CPU time is known */
    at = put_function(at, scope);
    end_event(export, put_values(at, event->kind == PROBITY_EVENT_ENTER
                                         ? probity_value_walk_of(event)
                                         : no_values));
}

static void ctf_closed(struct probity_export *export, struct probity_export_thread *thread,
                       const struct probity_scope *scope, enum probity_scope_end how,
                       const struct probity_event *event)
{
    struct probity_scope_time end = probity_export_leave(scope), self = probity_scope_self(scope);
    int64_t cpu_ns = scope->user != NULL ? (int64_t)end.cpu_ns : -1;
    char *at = begin_event(export, CTF_LEAVE, thread, end.wall_ns, cpu_ns);

    at = put_function(at, scope);
    *at++ = (char)how;
    *at++ = (char)(scope->is_untimed != 0);
    at = put_u64(at, scope->elapsed.wall_ns);
    at = put_u64(at, self.wall_ns);
    at = put_u64(at, scope->elapsed.cpu_ns);
    at = put_u64(at, self.cpu_ns);
    end_event(export, put_values(at, how == PROBITY_SCOPE_LEFT ? probity_value_walk_of(event)
                                                               : no_values));
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static void put_hit(struct probity_export *export, const struct probity_export_thread *thread,
                    const struct probity_event *event)
{
    int has_ids = event->has_correlation || event->has_object || event->has_place;
    char *at = begin_event(export, has_ids ? CTF_HIT_WITH : CTF_HIT, thread, event->wall_ns,
                           cpu_of(event));
    char number[32];
    size_t bytes;
    const char *name = probity_export_hit_name(event, number, &bytes);

    at = put_text(at, name, bytes);
    if (has_ids) {
        *at++ = (char)event->role;
        *at++ = (char)(event->has_correlation | event->has_object << 1 | event->has_place << 2);
        at = put_u64(at, event->correlation);
        at = put_u64(at, event->object);
        at = put_u64(at, event->place);
    }
    end_event(export, at);
}

/* Writes a message as one text. */
static void put_message(struct probity_export *export, const struct probity_export_thread *thread,
                        const struct probity_event *event)
{
    char *at = begin_event(export, CTF_MESSAGE, thread, event->wall_ns, cpu_of(event));

    at = export_message_put(at, at + PROBITY_VALUE_TEXT_MAX, event);
    *at++ = '\0';
    end_event(export, at);
}

static void put_checkpoint(struct probity_export *export,
                           const struct probity_export_thread *thread,
                           const struct probity_event *event)
{
    struct probity_value_walk walk = probity_value_walk_of(event);
    char *at = begin_event(export, CTF_CHECKPOINT, thread, event->wall_ns, cpu_of(event));
    struct probity_value_view label;

    if (probity_value_walk_next(&walk, &label))
        at = probity_value_put(at, at + PROBITY_VALUE_TEXT_MAX, &label, PROBITY_VALUE_RAW);
    *at++ = '\0';
    end_event(export, put_values(at, walk));
}

static void put_declaration(struct probity_export *export,
                            const struct probity_export_thread *thread,
                            const struct probity_event *event)
{
    const struct probity_function *function = event->function;

    if (function == NULL)
        return;
    char lost[32], *at = begin_event(export, CTF_FUNCTION, thread, event->wall_ns, cpu_of(event));
    size_t bytes;
    const char *name = probity_export_function_name(function, event->id, lost, &bytes);
    at = put_text(at, name, bytes);
    at = put_text(at, function->file, strlen(function->file));
    end_event(export, put_u32(at, function->line));
}

/* Writes an event with up to two numbers. */
static void put_notice(struct probity_export *export, const struct probity_export_thread *thread,
                       const struct probity_event *event)
{
    static const enum ctf_event ids[] = {[PROBITY_EVENT_PAUSE] = CTF_PAUSE,
                                         [PROBITY_EVENT_RESUME] = CTF_RESUME,
                                         [PROBITY_EVENT_STALL] = CTF_STALL,
                                         [PROBITY_EVENT_PROFILING] = CTF_PROFILING,
                                         [PROBITY_EVENT_LEVELS] = CTF_LEVELS,
                                         [PROBITY_EVENT_LOST] = CTF_LOST};
    const struct probity_trace_facts *facts = probity_reader_facts(export->reader, event->trace);
    char *at = begin_event(export, ids[event->kind], thread, event->wall_ns, cpu_of(event));

    if (event->kind == PROBITY_EVENT_STALL)
        at = put_u64(at, event->payload_bytes >= 8
                             ? probity_trace_ns_of_ticks(facts, probity_get_u64(event->payload))
                             : 0);
    if (event->kind == PROBITY_EVENT_LOST)
        at = put_u64(at, event->payload_bytes >= 8 ? probity_get_u64(event->payload) : 0);
    if (event->kind == PROBITY_EVENT_PROFILING)
        *at++ = (char)(event->payload_bytes > 0 && event->payload[0] != 0);
    for (size_t i = 0; event->kind == PROBITY_EVENT_LEVELS && i < 2; i++)
        *at++ = (char)(event->payload_bytes > i ? event->payload[i] : 0);
    end_event(export, at);
}

static void ctf_event(struct probity_export *export, struct probity_export_thread *thread,
                      const struct probity_event *event)
{
    char *at;

    switch (event->kind) {
    case PROBITY_EVENT_HIT: put_hit(export, thread, event); break;
    case PROBITY_EVENT_MESSAGE: put_message(export, thread, event); break;
    case PROBITY_EVENT_PARAMETERS:
        at = begin_event(export, CTF_PARAMETERS, thread, event->wall_ns, cpu_of(event));
        end_event(export, put_values(at, probity_value_walk_of(event)));
        break;
    case PROBITY_EVENT_CHECKPOINT: put_checkpoint(export, thread, event); break;
    case PROBITY_EVENT_FUNCTION: put_declaration(export, thread, event); break;
    case PROBITY_EVENT_THREAD_NAME:
        at = begin_event(export, CTF_THREAD_NAME, thread, event->wall_ns, cpu_of(event));
        end_event(export, put_text(at, thread->name, strlen(thread->name)));
        break;
    case PROBITY_EVENT_PAUSE:
    case PROBITY_EVENT_RESUME:
    case PROBITY_EVENT_STALL:
    case PROBITY_EVENT_LEVELS:
    case PROBITY_EVENT_LOST:
    case PROBITY_EVENT_PROFILING: put_notice(export, thread, event); break;
    default: break;
    }
}

/* Writes a state when it ends, with its length. */
static void ctf_state(struct probity_export *export, struct probity_export_thread *thread,
                      const struct probity_export_state *state)
{
    const char *name = probity_export_state_name(state->state);
    char *at = begin_event(export, CTF_STATE, thread, state->from_ns + state->ns, -1);

    at = put_text(at, name, strlen(name));
    at = put_u64(at, state->ns);
    at = put_u64(at, state->state == PROBITY_STATE_RUNNING ? state->cpu : UINT64_MAX);
    end_event(export, put_u64(at, state->state == PROBITY_STATE_RUNNABLE ? state->waker
                                                                         : UINT64_MAX));
}

/* ---- Beginning and end -------------------------------------------------------------------------
 */

static FILE *open_in(const struct probity_export *export, const char *name)
{
    char *path = NULL;
    FILE *stream = NULL;

    if (asprintf(&path, "%s/%s", export->path, name) >= 0)
        stream = fopen(path, "wbxe");
    free(path);
    return stream;
}

static int write_metadata(const struct probity_export *export)
{
    FILE *stream = open_in(export, "metadata");

    if (stream == NULL)
        return PROBITY_ERROR_WRITE;
    ctf_metadata_put(stream, &probity_reader_facts(export->reader, 0)->info);
    return probity_export_stream_close(stream);
}

static void put_process(struct probity_export *export, size_t trace)
{
    const struct probity_info *info = &probity_reader_facts(export->reader, trace)->info;
    const struct probity_text *program = &info->text[PROBITY_TAG_PROGRAM];
    const struct probity_export_thread process = {.pid = info->pid, .tid = info->pid};
    char *at = begin_event(export, CTF_PROCESS, &process, export->start_ns, -1);

    end_event(export, put_text(at, program->bytes != NULL ? program->bytes : "",
                               program->length));
}

static int ctf_begin(struct probity_export *export)
{
    struct ctf *ctf = export->state;
    int error = write_metadata(export);

    if (error != 0)
        return error;
    ctf->packet = malloc(PACKET_BYTES + EVENT_BYTES_MAX);
    if (ctf->packet == NULL)
        return PROBITY_ERROR_MEMORY;
    ctf->at = ctf->packet + PACKET_HEADER_BYTES;
    ctf->stream = open_in(export, "stream");
    if (ctf->stream == NULL)
        return PROBITY_ERROR_WRITE;
    for (size_t i = 0; i < probity_reader_traces(export->reader); i++)
        put_process(export, i);
    return 0;
}

static int ctf_end(struct probity_export *export)
{
    struct ctf *ctf = export->state;

    end_packet(export);
    int error = probity_export_stream_close(ctf->stream);
    ctf->stream = NULL;
    return error;
}

static void ctf_release(struct probity_export *export)
{
    struct ctf *ctf = export->state;

    if (ctf->stream != NULL)
        fclose(ctf->stream);
    free(ctf->packet);
}

static const char *const files[] = {"metadata", "stream", NULL};

const struct probity_exporter probity_exporter_ctf = {
    .has_declarations = 1,
    .name = "ctf",
    .target = PROBITY_EXPORT_DIRECTORY,
    .files = files,
    .carries = PROBITY_EXPORT_SCOPES | PROBITY_EXPORT_HITS | PROBITY_EXPORT_VALUES,
    .state_bytes = sizeof(struct ctf),
    .begin = ctf_begin,
    .opened = ctf_opened,
    .closed = ctf_closed,
    .event = ctf_event,
    .state = ctf_state,
    .end = ctf_end,
    .release = ctf_release};
