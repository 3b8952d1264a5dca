/* SPDX-License-Identifier: MIT
 *
 * export_perfetto_spans.c: blocks, requests with their stages, locks and queues in Perfetto's
 * format. Slices of a track must nest, but a block may begin outside a scope and end inside it, so
 * the blocks of a thread have a separate track below that of the thread. Spans that belong to no
 * thread are in tracks of the process, one for each lane (export_lanes.h).
 *
 * The name of a block is known only when it ends: then both of its events are written, the first
 * with an absolute time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "exports/perfetto/export_perfetto.h"
#include "print/values.h"

/* Names of the arguments. */
static const char name_cpu[] = "cpu_ns", name_correlation[] = "correlation",
                  name_object[] = "object", name_tid[] = "tid", name_end[] = "end";

static char *put_number(char *at, uint32_t name, uint64_t number)
{
    char *content = protobuf_open(at, EVENT_ANNOTATION);

    at = protobuf_put_number(content, 1, name);
    return protobuf_close(content, protobuf_put_number(at, 3, number));
}

static uint32_t annotation_of(struct probity_export *export, const char *name)
{
    return perfetto_name_of(export, INTERNED_ANNOTATION, name);
}

/* ---- Tracks ------------------------------------------------------------------------------------
 */

static uint64_t declare(struct probity_export *export, uint64_t parent, const char *name,
                        size_t bytes, int is_counter)
{
    struct perfetto *perfetto = export->state;
    uint64_t track = TRACKS_MORE + perfetto->more_tracks++;

    perfetto_put_track(export, track, parent, name, bytes, is_counter);
    return track;
}

static uint64_t track_of_blocks(struct probity_export *export,
                                const struct probity_export_thread *thread)
{
    struct perfetto_thread *own = thread->user;

    if (__builtin_expect(own->blocks == 0, 0))
        own->blocks = declare(export, own->track, "blocks", 6, 0);
    return own->blocks;
}

static uint64_t track_of_states(struct probity_export *export, struct perfetto_thread *own)
{
    if (own->states == 0)
        own->states = declare(export, own->track, "states", 6, 0);
    return own->states;
}

/* Returns the place of a track by number; NULL if out of memory. */
static uint64_t *place_of(struct probity_export *export, uint64_t **tracks, uint32_t *count,
                          uint32_t number)
{
    if (number < *count)
        return &(*tracks)[number];
    void *grown = probity_array_grow(*tracks, sizeof **tracks, number, count);
    if (grown == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return NULL;
    }
    *tracks = grown;
    return &(*tracks)[number];
}

/* Lanes of the same name are shown as one group of rows. */
static uint64_t track_of_lane(struct probity_export *export, const struct export_span *span)
{
    struct perfetto *perfetto = export->state;
    uint64_t *track = place_of(export, &perfetto->lanes, &perfetto->lane_count, span->lane);
    char name[PROBITY_VALUE_TEXT_MAX], *at;

    if (track == NULL || *track != 0)
        return track != NULL ? *track : 0;
    if (span->kind == EXPORT_LOCK_WAIT || span->kind == EXPORT_LOCK_HOLD)
        at = export_span_name(stpcpy(name, "lock "), name + sizeof name, span);
    else
        at = stpcpy(name, "requests");
    *track = declare(export, span->trace + 1, name, (size_t)(at - name), 0);
    return *track;
}

static uint64_t track_of_queue(struct probity_export *export, const struct export_length *length)
{
    struct perfetto *perfetto = export->state;
    uint64_t *track = place_of(export, &perfetto->queues, &perfetto->queue_count, length->number);
    char name[PROBITY_VALUE_TEXT_MAX + 32], *at = name + sizeof name - 32;

    if (track == NULL || *track != 0)
        return track != NULL ? *track : 0;
    memcpy(name, "queue ", 6);
    at = export_length_name(name + 6, at, length);
    at += snprintf(at, 32, " %#" PRIx64, length->object);
    *track = declare(export, length->trace + 1, name, (size_t)(at - name), 1);
    return *track;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

/* An event; its next field is written at `at`. */
struct open_event {
    char *packet, *event, *at;
};

static struct open_event open_event(struct probity_export *export, uint64_t ns, uint64_t type,
                                    uint64_t track)
{
    struct open_event open;

    open.packet = perfetto_open_event(export->state, ns, export->out.at, &open.at);
    open.event = protobuf_open(open.at, FIELD_TRACK_EVENT);
    open.at = protobuf_put_number(open.event, EVENT_TYPE, type);
    open.at = protobuf_put_number(open.at, EVENT_TRACK, track);
    return open;
}

static struct open_event open_begin(struct probity_export *export, uint64_t ns, uint64_t track,
                                    uint32_t category, uint32_t name)
{
    struct open_event open = open_event(export, ns, TYPE_BEGIN, track);

    open.at = protobuf_put_number(open.at, EVENT_CATEGORY_IID, category);
    open.at = protobuf_put_number(open.at, EVENT_NAME_IID, name);
    return open;
}

static void close_event(struct probity_export *export, const struct open_event *open, char *at)
{
    export->out.at = protobuf_close(open->packet, protobuf_close(open->event, at));
}

/* Writes the beginning of a span, when all its names are known. */
static void put_begin(struct probity_export *export, const struct export_span *span, uint64_t track)
{
    uint32_t name = perfetto_span_of(export, span);
    uint32_t category =
        perfetto_name_of(export, INTERNED_CATEGORY, export_span_category(span->kind));
    uint32_t cpu = span->is_cpu_known ? annotation_of(export, name_cpu) : 0;
    int is_lock = span->kind == EXPORT_LOCK_WAIT || span->kind == EXPORT_LOCK_HOLD;
    uint32_t id = span->kind == EXPORT_BLOCK ? 0
                  : annotation_of(export, is_lock ? name_object : name_correlation);
    uint32_t tid = id != 0 ? annotation_of(export, name_tid) : 0;
    struct open_event open = open_begin(export, span->start_ns, track, category, name);
    char *at = open.at;

    if (cpu != 0)
        at = put_number(at, cpu, span->cpu_ns);
    if (id != 0) {
        at = put_number(at, id, is_lock ? span->object : span->correlation);
        at = put_number(at, tid, span->thread->tid);
    }
    close_event(export, &open, at);
}

static void put_end(struct probity_export *export, const struct export_span *span, uint64_t track)
{
    uint32_t end = span->is_open ? annotation_of(export, name_end) : 0;
    struct open_event open = open_event(export, span->end_ns, TYPE_END, track);
    char *at = open.at;

    if (end != 0) {
        char *content = protobuf_open(at, EVENT_ANNOTATION);
        at = protobuf_put_number(content, 1, end);
        at = protobuf_close(content, perfetto_put_text(at, 6, "open", 4));
    }
    close_event(export, &open, at);
}

static void put_span(struct probity_export *export, const struct export_span *span)
{
    uint64_t track = span->kind == EXPORT_BLOCK ? track_of_blocks(export, span->thread)
                                                : track_of_lane(export, span);

    if (track == 0)
        return;
    if (span->kind != EXPORT_REQUEST)
        put_begin(export, span, track);
    put_end(export, span, track);
}

static void put_began(struct probity_export *export, const struct export_span *span)
{
    uint64_t track = track_of_lane(export, span);

    if (track != 0)
        put_begin(export, span, track);
}

static void put_length(struct probity_export *export, const struct export_length *length)
{
    uint64_t track = track_of_queue(export, length);

    if (track == 0)
        return;
    struct open_event open = open_event(export, length->wall_ns, TYPE_COUNTER, track);
    close_event(export, &open, protobuf_put_number(open.at, EVENT_VALUE, length->length));
}

void perfetto_put_state(struct probity_export *export, struct perfetto_thread *own,
                        const struct probity_export_state *state)
{
    static const char category_state[] = "state", name_running[] = "cpu", name_waker[] = "waker";
    uint64_t track = track_of_states(export, own);
    uint32_t name = perfetto_name_of(export, INTERNED_NAME,
                                     probity_export_state_name(state->state));
    uint32_t category = perfetto_name_of(export, INTERNED_CATEGORY, category_state);
    int is_running = state->state == PROBITY_STATE_RUNNING;
    int has_number = is_running || (state->state == PROBITY_STATE_RUNNABLE && state->waker != 0);
    uint32_t number = has_number ? annotation_of(export, is_running ? name_running : name_waker)
                                 : 0;
    struct open_event open = open_begin(export, state->from_ns, track, category, name);
    char *at = open.at;

    if (has_number)
        at = put_number(at, number, is_running ? state->cpu : state->waker);
    close_event(export, &open, at);
    open = open_event(export, state->from_ns + state->ns, TYPE_END, track);
    close_event(export, &open, open.at);
}

const struct export_spans_listener perfetto_spans_listener = {
    .span = put_span, .began = put_began, .length = put_length};

void perfetto_spans_release(struct perfetto *perfetto)
{
    export_spans_release(&perfetto->spans);
    free(perfetto->lanes);
    free(perfetto->queues);
}
