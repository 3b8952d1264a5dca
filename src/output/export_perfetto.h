/* SPDX-License-Identifier: MIT
 *
 * export_perfetto.h: the sequence of Perfetto's packets as its own files see it: state, tracks and
 * names in export_perfetto_state.c, events in export_perfetto.c.
 */
#ifndef PROBITY_OUTPUT_EXPORT_PERFETTO_H
#define PROBITY_OUTPUT_EXPORT_PERFETTO_H

#include "output/export.h"
#include "output/export_names.h"
#include "output/protobuf.h"

/* Of Trace and TracePacket. */
enum {
    FIELD_PACKET = 1,
    FIELD_CLOCK_SNAPSHOT = 6,
    FIELD_TIMESTAMP = 8,
    FIELD_SEQUENCE = 10,
    FIELD_TRACK_EVENT = 11,
    FIELD_INTERNED = 12,
    FIELD_FLAGS = 13,
    FIELD_TIMESTAMP_CLOCK = 58,
    FIELD_DEFAULTS = 59,
    FIELD_TRACK = 60,
    FIELD_FIRST_PACKET = 87
};

enum { CLOCK_ID_REALTIME = 1, CLOCK_ID_OWN = 64 };

enum { FLAG_NEEDED = 2 };

/* Of InternedData; each entry has its number in field 1. */
enum {
    INTERNED_CATEGORY = 1,
    INTERNED_NAME = 2,
    INTERNED_ANNOTATION = 3,
    INTERNED_LOCATION = 4
};

enum { PAUSES_MAX = 8, NAMES_MAX = 1 << 16 };

/* Of a thread. Pauses are slices inside of their scope, which may end first. */
struct perfetto_thread {
    uint64_t track; /* 0: not told yet; the counter's is one more */
    uint64_t state; /* of the sequence, when cpu_ns was told */
    uint64_t cpu_ns;
    int is_cpu_known;
    uint32_t depth; /* open scopes that began in the range */
    uint32_t pauses[PAUSES_MAX], pause_count; /* their depths */
};

struct perfetto {
    struct export_names names;
    uint64_t state;    /* how often it was begun */
    uint64_t clock_ns; /* of the sequence's own clock */
};

/* Returns where the packet's fields go. */
static char *perfetto_open_packet(char *at, unsigned flags, char **ret_at)
{
    char *content = protobuf_open(at, FIELD_PACKET);

    at = protobuf_put_number(content, FIELD_SEQUENCE, 1);
    *ret_at = protobuf_put_number(at, FIELD_FLAGS, flags);
    return content;
}

char *perfetto_put_text(char *at, uint32_t field, const char *text, size_t bytes);

/* Clocks and defaults anew; all names are forgotten. */
void perfetto_begin_state(struct probity_export *export, uint64_t wall_ns);

/* Processes are tracks 1, 2 ..., then come threads and their counters. */
void perfetto_tell_process(struct probity_export *export, size_t trace);
void perfetto_tell_thread(struct probity_export *export,
                          const struct probity_export_thread *thread);
void perfetto_tell_counter(struct probity_export *export, const struct perfetto_thread *own);

/* Numbers of names, which are told before they are used first; 0 without memory. Of a text that
 * stays where it is; field: INTERNED_... */
uint32_t perfetto_name_of(struct probity_export *export, uint32_t field, const char *name);
uint32_t perfetto_function_of(struct probity_export *export, const struct probity_scope *scope);
uint32_t perfetto_hit_of(struct probity_export *export, const struct probity_event *event);

#endif
