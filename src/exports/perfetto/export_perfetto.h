/* SPDX-License-Identifier: MIT
 *
 * export_perfetto.h: the sequence of Perfetto packets, for its implementation files: state, tracks
 * and names in export_perfetto_state.c, events in export_perfetto.c, spans derived from hits
 * (blocks, requests, locks, queues) in export_perfetto_spans.c.
 */
#ifndef PROBITY_EXPORTS_PERFETTO_EXPORT_PERFETTO_H
#define PROBITY_EXPORTS_PERFETTO_EXPORT_PERFETTO_H

#include "exports/export.h"
#include "exports/export_names.h"
#include "exports/export_spans.h"
#include "exports/protobuf.h"

/* Fields of Trace and TracePacket. */
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

/* Fields of TrackEvent. */
enum {
    EVENT_CATEGORY_IID = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_COUNTER_VALUE = 12,
    EVENT_NAME = 23,
    EVENT_VALUE = 30,
    EVENT_COUNTER_TRACK = 31,
    EVENT_LOCATION_IID = 34,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

enum { CLOCK_ID_REALTIME = 1, CLOCK_ID_OWN = 64 };

enum { FLAG_NEEDED = 2 };

/* Fields of InternedData. Field 1 of each entry is its number. */
enum {
    INTERNED_CATEGORY = 1,
    INTERNED_NAME = 2,
    INTERNED_ANNOTATION = 3,
    INTERNED_LOCATION = 4
};

enum { PAUSES_MAX = 8, NAMES_MAX = 1 << 16 };

/* Tracks beyond those of threads, which have two each, are numbered from here. */
enum { TRACKS_MORE = 1 << 27 };

/* State of a thread. Pauses are slices inside their scope, which may end before them. */
struct perfetto_thread {
    uint64_t track; /* 0: not declared yet; the counter's track is the next one */
    uint64_t state; /* state of the sequence when cpu_ns was written */
    uint64_t cpu_ns;
    uint64_t blocks, states; /* tracks of blocks and states; 0: not declared yet */
    int is_cpu_known;
    uint32_t depth; /* open scopes that began in the range */
    uint32_t pauses[PAUSES_MAX], pause_count; /* pauses: depths of their scopes */
};

struct perfetto {
    struct export_names names;
    uint64_t state;    /* number of states begun so far */
    uint64_t clock_ns; /* time of the sequence's clock */
    struct export_spans spans;
    uint64_t more_tracks; /* number of tracks after TRACKS_MORE */
    uint64_t *lanes, *queues; /* tracks by number */
    uint32_t lane_count, queue_count;
};

/* Begins a packet. Returns the position for its fields. */
static inline char *perfetto_open_packet(char *at, unsigned flags, char **ret_at)
{
    char *content = protobuf_open(at, FIELD_PACKET);

    at = protobuf_put_number(content, FIELD_SEQUENCE, 1);
    *ret_at = protobuf_put_number(at, FIELD_FLAGS, flags);
    return content;
}

/* Begins the packet of an event. */
static inline char *perfetto_open_event(struct perfetto *perfetto, uint64_t wall_ns, char *at,
                                        char **ret_at)
{
    char *packet = perfetto_open_packet(at, FLAG_NEEDED, &at);

    if (__builtin_expect(wall_ns >= perfetto->clock_ns, 1)) {
        at = protobuf_put_number(at, FIELD_TIMESTAMP, wall_ns - perfetto->clock_ns);
        perfetto->clock_ns = wall_ns;
    } else {
        at = protobuf_put_number(at, FIELD_TIMESTAMP, wall_ns);
        at = protobuf_put_number(at, FIELD_TIMESTAMP_CLOCK, CLOCK_ID_REALTIME);
    }
    *ret_at = at;
    return packet;
}

char *perfetto_put_text(char *at, uint32_t field, const char *text, size_t bytes);

/* Starts a new state: clocks and defaults; all names are discarded. */
void perfetto_begin_state(struct probity_export *export, uint64_t wall_ns);

/* Declare tracks. Processes have tracks 1, 2 ..., followed by those of threads and their
 * counters. */
void perfetto_put_process(struct probity_export *export, size_t trace);
void perfetto_put_thread(struct probity_export *export,
                          const struct probity_export_thread *thread);
void perfetto_put_counter(struct probity_export *export, const struct perfetto_thread *own);

/* Declares a track below another track. is_counter: its values are numbers of items. */
void perfetto_put_track(struct probity_export *export, uint64_t track, uint64_t parent,
                        const char *name, size_t bytes, int is_counter);

/* Return the numbers of names, writing a name before its first use; 0 if out of memory. The text
 * must stay valid; field: INTERNED_... */
uint32_t perfetto_name_of(struct probity_export *export, uint32_t field, const char *name);
uint32_t perfetto_function_of(struct probity_export *export, const struct probity_scope *scope);
uint32_t perfetto_hit_of(struct probity_export *export, const struct probity_event *event);
uint32_t perfetto_span_of(struct probity_export *export, const struct export_span *span);

/* Blocks, requests, locks and queues. The thread must have been declared. */
/* Writes a state to the thread's track of states. */
void perfetto_put_state(struct probity_export *export, struct perfetto_thread *own,
                        const struct probity_export_state *state);

extern const struct export_spans_listener perfetto_spans_listener;
void perfetto_spans_release(struct perfetto *perfetto);

#endif
