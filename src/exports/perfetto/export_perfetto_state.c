/* SPDX-License-Identifier: MIT
 *
 * export_perfetto_state.c: parts of Perfetto packets that precede the events: clocks, tracks,
 * names.
 */
#include "exports/perfetto/export_perfetto.h"

#include <string.h>

#include "print/text.h"
#include "print/values.h"

enum { CLOCK_ID_MONOTONIC = 3, CLOCK_ID_BOOTTIME = 6, FLAG_CLEARED = 1 };

/* ---- Packets -----------------------------------------------------------------------------------
 */

char *perfetto_put_text(char *at, uint32_t field, const char *text, size_t bytes)
{
    char *content = protobuf_open(at, field);

    return protobuf_close(content, probity_text_put(content, content + PROBITY_VALUE_TEXT_MAX, text,
                                                    bytes, '\0'));
}

static char *put_clock(char *at, uint64_t clock, uint64_t ns)
{
    char *content = protobuf_open(at, 1);

    at = protobuf_put_number(content, 1, clock);
    at = protobuf_put_number(at, 2, ns);
    if (clock == CLOCK_ID_OWN)
        at = protobuf_put_number(at, 3, 1);
    return protobuf_close(content, at);
}

/* Uses the same clock difference for the whole trace, so that durations stay exact. */
void perfetto_begin_state(struct probity_export *export, uint64_t wall_ns)
{
    struct perfetto *perfetto = export->state;
    const struct probity_anchor *anchor = &probity_reader_facts(export->reader, 0)->info.anchor;
    uint64_t monotonic_ns = wall_ns - anchor->realtime_ns + anchor->monotonic_ns;
    char *at, *packet = perfetto_open_packet(export->out.at, FLAG_CLEARED, &at);

    if (perfetto->state == 0)
        at = protobuf_put_number(at, FIELD_FIRST_PACKET, 1);
    char *message = protobuf_open(at, FIELD_CLOCK_SNAPSHOT);
    at = put_clock(message, CLOCK_ID_BOOTTIME, monotonic_ns);
    at = put_clock(at, CLOCK_ID_MONOTONIC, monotonic_ns);
    at = put_clock(at, CLOCK_ID_REALTIME, wall_ns);
    at = protobuf_close(message, put_clock(at, CLOCK_ID_OWN, wall_ns));
    message = protobuf_open(at, FIELD_DEFAULTS);
    at = protobuf_close(message, protobuf_put_number(message, FIELD_TIMESTAMP_CLOCK, CLOCK_ID_OWN));
    export->out.at = protobuf_close(packet, at);
    export_names_release(&perfetto->names);
    perfetto->clock_ns = wall_ns;
    perfetto->state++;
}

/* ---- Tracks ------------------------------------------------------------------------------------
 */

static char *put_process(char *at, const struct probity_info *info)
{
    const struct probity_text *command = &info->text[PROBITY_TAG_COMMAND];
    const struct probity_text *program = &info->text[PROBITY_TAG_PROGRAM];
    char *content = protobuf_open(at, 3);

    at = protobuf_put_number(content, 1, info->pid);
    for (size_t from = 0; from < command->length;) {
        size_t bytes = strnlen(command->bytes + from, command->length - from);
        /* a command line may be longer than any buffer */
        if (from + bytes < LOG_LINE_BYTES_MAX / 8)
            at = perfetto_put_text(at, 2, command->bytes + from, bytes);
        from += bytes + 1;
    }
    if (program->bytes != NULL)
        at = perfetto_put_text(at, 6, program->bytes, program->length);
    return protobuf_close(content, at);
}

void perfetto_put_process(struct probity_export *export, size_t trace)
{
    char *at, *packet = perfetto_open_packet(export->out.at, FLAG_NEEDED, &at);
    char *track = protobuf_open(at, FIELD_TRACK);

    at = protobuf_put_number(track, 1, trace + 1);
    at = protobuf_close(track, put_process(at, &probity_reader_facts(export->reader, trace)->info));
    export->out.at = protobuf_close(packet, at);
}

void perfetto_put_thread(struct probity_export *export, const struct probity_export_thread *thread)
{
    const struct perfetto_thread *own = thread->user;
    char *at, *packet = perfetto_open_packet(export->out.at, FLAG_NEEDED, &at);
    char *track = protobuf_open(at, FIELD_TRACK);

    at = protobuf_put_number(track, 1, own->track);
    at = protobuf_put_number(at, 5, thread->trace + 1);
    char *content = protobuf_open(at, 4);
    at = protobuf_put_number(content, 1, thread->pid);
    at = protobuf_put_number(at, 2, thread->tid);
    if (thread->name != NULL)
        at = perfetto_put_text(at, 5, thread->name, strlen(thread->name));
    at = protobuf_close(track, protobuf_close(content, at));
    export->out.at = protobuf_close(packet, at);
}

/* Declares a counter of the type thread time, in ns, whose values are written as differences. */
void perfetto_put_counter(struct probity_export *export, const struct perfetto_thread *own)
{
    char *at, *packet = perfetto_open_packet(export->out.at, FLAG_NEEDED, &at);
    char *track = protobuf_open(at, FIELD_TRACK);

    at = protobuf_put_number(track, 1, own->track + 1);
    at = protobuf_put_number(at, 5, own->track);
    char *content = protobuf_open(at, 8);
    at = protobuf_put_number(content, 1, 1);
    at = protobuf_put_number(at, 3, 1);
    at = protobuf_close(content, protobuf_put_number(at, 5, 1));
    export->out.at = protobuf_close(packet, protobuf_close(track, at));
}

void perfetto_put_track(struct probity_export *export, uint64_t track, uint64_t parent,
                        const char *name, size_t bytes, int is_counter)
{
    char *at, *packet = perfetto_open_packet(export->out.at, FLAG_NEEDED, &at);
    char *message = protobuf_open(at, FIELD_TRACK);

    at = protobuf_put_number(message, 1, track);
    at = perfetto_put_text(at, 2, name, bytes);
    at = protobuf_put_number(at, 5, parent);
    if (is_counter) {
        char *content = protobuf_open(at, 8);
        at = protobuf_close(content, protobuf_put_number(content, 3, 2)); /* unit: count */
    }
    export->out.at = protobuf_close(packet, protobuf_close(message, at));
}

/* ---- Names -------------------------------------------------------------------------------------
 */

/* Writes one entry of interned data in a separate packet. */
static void put_name(struct probity_export *export, uint32_t field, uint32_t number,
                      const char *name, size_t bytes)
{
    char *at, *packet = perfetto_open_packet(export->out.at, FLAG_NEEDED, &at);
    char *interned = protobuf_open(at, FIELD_INTERNED);
    char *entry = protobuf_open(interned, field);

    at = perfetto_put_text(protobuf_put_number(entry, 1, number), 2, name, bytes);
    at = protobuf_close(interned, protobuf_close(entry, at));
    export->out.at = protobuf_close(packet, at);
}

/* Returns the number of a key, or 0 if out of memory; *ret_is_new is 1 if it is new. */
static inline uint32_t number_of(struct probity_export *export, uint64_t key, int *ret_is_new)
{
    struct perfetto *perfetto = export->state;
    struct export_name *name = export_names_at(&perfetto->names, key);

    *ret_is_new = 0;
    if (__builtin_expect(name == NULL, 0)) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return 0;
    }
    *ret_is_new = !name->bytes;
    name->bytes = 1;
    return name->number + 1;
}

/* The text must stay valid. */
uint32_t perfetto_name_of(struct probity_export *export, uint32_t field, const char *name)
{
    int is_new;
    uint32_t number =
        number_of(export, (uint64_t)field << 56 | (uint64_t)(uintptr_t)name, &is_new);

    if (__builtin_expect(is_new, 0))
        put_name(export, field, number, name, strlen(name));
    return number;
}

/* Writes a function. Its source location has the same number. */
static void put_function(struct probity_export *export, uint32_t number,
                          const struct probity_function *function, uint32_t site)
{
    char lost[32];
    size_t bytes;
    const char *name = probity_export_function_name(function, site, lost, &bytes);

    put_name(export, INTERNED_NAME, number, name, bytes);
    if (function == NULL || function->line == 0)
        return;
    char *at, *packet = perfetto_open_packet(export->out.at, FLAG_NEEDED, &at);
    char *interned = protobuf_open(at, FIELD_INTERNED);
    char *entry = protobuf_open(interned, INTERNED_LOCATION);
    at = perfetto_put_text(protobuf_put_number(entry, 1, number), 2, function->file,
                  strlen(function->file));
    at = protobuf_put_number(at, 4, function->line);
    at = protobuf_close(interned, protobuf_close(entry, at));
    export->out.at = protobuf_close(packet, at);
}

uint32_t perfetto_function_of(struct probity_export *export, const struct probity_scope *scope)
{
    int is_new;
    uint32_t number = number_of(
        export, export_key_of_function(scope->function, scope->trace, scope->number), &is_new);

    if (__builtin_expect(is_new, 0))
        put_function(export, number, scope->function, scope->number);
    return number;
}

static __attribute__((noinline)) void put_hit(struct probity_export *export, uint32_t number,
                                               const struct probity_event *event)
{
    char lost[32];
    size_t bytes;
    const char *name = probity_export_hit_name(event, lost, &bytes);

    put_name(export, INTERNED_NAME, number, name, bytes);
}

uint32_t perfetto_hit_of(struct probity_export *export, const struct probity_event *event)
{
    int is_new;
    uint32_t number = number_of(export, export_key_of_hit(event), &is_new);

    if (__builtin_expect(is_new, 0))
        put_hit(export, number, event);
    return number;
}

uint32_t perfetto_span_of(struct probity_export *export, const struct export_span *span)
{
    char name[PROBITY_VALUE_TEXT_MAX];
    int is_new;
    uint32_t number = number_of(export, export_span_key(span), &is_new);

    if (__builtin_expect(is_new, 0)) {
        const char *end = export_span_name(name, name + sizeof name, span);
        put_name(export, INTERNED_NAME, number, name, (size_t)(end - name));
    }
    return number;
}
