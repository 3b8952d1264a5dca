/* SPDX-License-Identifier: MIT
 *
 * export_spans.c: blocks of threads, stages and requests of correlation ids, locks and queues, from
 * hits in time order. Missing records are treated as in src/answers/blocks/ and src/answers/model/.
 */
#include "exports/export_spans.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "probity_typed.h"

/* A hit that may begin a span. */
struct span_hit {
    const struct probity_probe *probe; /* NULL: no hit */
    uint64_t wall_ns, cpu_ns;
    int is_cpu_known;
};

struct export_span_thread {
    struct span_hit last, wait; /* wait: for the lock `wait_object` */
    uint64_t wait_object, until_ns; /* until_ns: end of the last block */
    uint64_t request, correlation;  /* the request that the thread works on; 0: none */
};

/* The data of an id in flight, which its item owns. */
struct span_flow {
    struct span_hit last, begin; /* begin: of a request */
    struct probity_export_thread *thread; /* thread of the latter */
    uint64_t until_ns; /* end of the last stage */
    uint64_t request;  /* number of the latest request */
    uint32_t lane; /* lane of the latest request */
};

/* ---- Names -------------------------------------------------------------------------------------
 */

static char *put_words(char *at, const char *end, const char *words)
{
    size_t bytes = strlen(words), room = (size_t)(end - at);

    bytes = bytes < room ? bytes : room;
    memcpy(at, words, bytes);
    return at + bytes;
}

static char *put_probe(char *at, const char *end, const struct probity_probe *probe)
{
    at = put_words(at, end, probe->text);
    if (probe->name == NULL)
        return at;
    at = put_words(at, end, " (");
    return put_words(put_words(at, end, probe->name), end, ")");
}

/* Writes "jobs" for a site "jobs:put". */
static char *put_station(char *at, const char *end, const struct probity_probe *probe,
                         const char *ending)
{
    const char *text = probe->name != NULL ? probe->name : probe->text;
    size_t bytes = strlen(text), less = strlen(ending);
    char *until = put_words(at, end, text);

    if (bytes > less && strcmp(text + bytes - less, ending) == 0 && until == at + bytes)
        until -= less;
    return until;
}

char *export_span_name(char *at, const char *end, const struct export_span *span)
{
    switch (span->kind) {
    case EXPORT_REQUEST: return put_station(at, end, span->from, ":begin");
    case EXPORT_LOCK_WAIT:
        return put_words(put_station(at, end, span->from, ":wait"), end, " wait");
    case EXPORT_LOCK_HOLD:
        return put_words(put_station(at, end, span->from, ":hold"), end, " hold");
    default: break;
    }
    at = put_words(put_probe(at, end, span->from), end, " -> ");
    return put_probe(at, end, span->to);
}

char *export_length_name(char *at, char *end, const struct export_length *length)
{
    return put_station(at, end, length->from,
                       length->role == PROBITY_ROLE_QUEUE_PUT ? ":put" : ":get");
}

/* Returns a key that differs from those of functions and hits (export_names.h), and from addresses
 * with a small tag. */
uint64_t export_span_key(const struct export_span *span)
{
    if (span->to == NULL)
        return UINT64_C(1) << 63 | (uint64_t)(span->kind + 1) << 50 |
               (uint64_t)(span->from->name != NULL) << 49 | span->from->place;
    return UINT64_C(3) << 62 | (uint64_t)(span->from->name != NULL) << 61 |
           (uint64_t)(span->to->name != NULL) << 60 | (uint64_t)(span->kind == EXPORT_STAGE) << 59 |
           (uint64_t)span->from->place << 29 | span->to->place;
}

const char *export_span_category(enum export_span_kind kind)
{
    static const char *const categories[EXPORT_SPAN_KINDS] = {
        [EXPORT_BLOCK] = "block", [EXPORT_STAGE] = "stage", [EXPORT_REQUEST] = "request",
        [EXPORT_LOCK_WAIT] = "lock wait", [EXPORT_LOCK_HOLD] = "lock hold"};

    return categories[kind];
}

/* ---- Lanes -------------------------------------------------------------------------------------
 */

/* Returns the lanes of a span. Requests of a trace share their lanes with their stages; locks have
 * one set for each probe, not for each lock, since the number of locks is unlimited. */
static struct export_lanes *lanes_of(struct probity_export *export, struct export_spans *spans,
                                     const struct export_span *span)
{
    int is_lock = span->kind == EXPORT_LOCK_WAIT || span->kind == EXPORT_LOCK_HOLD;
    uint64_t key = UINT64_C(1) << 63 | (uint64_t)span->trace << 40;

    if (is_lock)
        key |= (uint64_t)(span->kind + 1) << 56 | span->from->place;
    const struct export_name *set = export_names_at(&spans->sets, key);
    if (set != NULL && set->number >= spans->lanes_count) {
        void *grown = probity_array_grow(spans->lanes, sizeof *spans->lanes, set->number,
                                         &spans->lanes_count);
        spans->lanes = grown != NULL ? grown : spans->lanes;
    }
    if (set != NULL && set->number < spans->lanes_count)
        return &spans->lanes[set->number];
    probity_export_fail(export, PROBITY_ERROR_MEMORY);
    return NULL;
}

/* Takes a lane for a span. Returns its index, or EXPORT_LANE_NONE. */
static uint32_t take_lane(struct probity_export *export, struct export_spans *spans,
                          struct export_lanes *lanes, struct export_span *span,
                          uint32_t preferred)
{
    uint32_t known = lanes != NULL ? lanes->count : 0;
    uint32_t lane = lanes != NULL ? export_lanes_take(lanes, span->start_ns, preferred,
                                                      spans->lane_ids)
                                  : EXPORT_LANE_NONE;

    if (lane == EXPORT_LANE_NONE) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return lane;
    }
    span->is_lane_new = lane >= known;
    spans->lane_ids += (uint32_t)span->is_lane_new;
    span->lane = lanes->ids[lane];
    return lane;
}

static void pass_on(struct probity_export *export, const struct export_spans *spans,
                    const struct export_span *span)
{
    log_writer_make_room(&export->out, NULL);
    spans->listener->span(export, span);
}

/* Passes on a span that has ended, in a lane. Returns the lane. */
static uint32_t put_in_lane(struct probity_export *export, struct export_spans *spans,
                            struct export_span *span, uint32_t preferred)
{
    struct export_lanes *lanes = lanes_of(export, spans, span);
    uint32_t lane = take_lane(export, spans, lanes, span, preferred);

    if (lane == EXPORT_LANE_NONE)
        return lane;
    pass_on(export, spans, span);
    export_lanes_put(lanes, lane, span->end_ns);
    return lane;
}

/* ---- Blocks and stages -------------------------------------------------------------------------
 */

static struct span_hit hit_of(const struct probity_probe *probe, const struct probity_event *event)
{
    return (struct span_hit){probe, event->wall_ns, event->cpu_ns, event->cpu_known != 0};
}

/* Returns the span since an earlier hit. If CLOCK_REALTIME was set back in between, its duration is
 * 0. */
static struct export_span span_from(enum export_span_kind kind, const struct span_hit *hit,
                                    struct probity_export_thread *thread, uint64_t end_ns)
{
    return (struct export_span){.kind = kind, .trace = thread->trace, .from = hit->probe,
                                .thread = thread, .start_ns = hit->wall_ns,
                                .end_ns = end_ns > hit->wall_ns ? end_ns : hit->wall_ns};
}

/* Prevents overlaps: if the clock was set back, the next span would overlap the previous one, which
 * no format can show, so the overlapping part is omitted. */
static inline void keep_apart(struct export_span *span, uint64_t *until_ns)
{
    if (__builtin_expect(span->start_ns < *until_ns, 0))
        span->start_ns = *until_ns;
    if (span->end_ns < span->start_ns)
        span->end_ns = span->start_ns;
    *until_ns = span->end_ns;
}

static void set_cpu(struct export_span *span, const struct span_hit *hit,
                    const struct probity_event *event)
{
    span->is_cpu_known = hit->is_cpu_known && event->cpu_known;
    span->cpu_ns = event->cpu_ns > hit->cpu_ns ? event->cpu_ns - hit->cpu_ns : 0;
}

uint64_t export_spans_within(struct export_spans *spans, const struct probity_export_thread *thread,
                             uint64_t *ret_correlation)
{
    if (thread->slot >= spans->thread_count || spans->threads[thread->slot].request == 0)
        return 0;
    struct export_span_thread *own = &spans->threads[thread->slot];
    const struct probity_inflight_key key = {own->correlation, 0, thread->trace, 0};
    const struct probity_inflight_item *item = probity_inflight_find(&spans->flows, &key);
    const struct span_flow *flow = item != NULL ? item->owner : NULL;

    /* the request may have ended in another thread */
    if (flow == NULL || flow->begin.probe == NULL || flow->request != own->request)
        own->request = 0;
    *ret_correlation = own->correlation;
    return own->request;
}

static inline void put_block(struct probity_export *export, struct export_spans *spans,
                             struct probity_export_thread *thread, struct export_span_thread *own,
                             const struct probity_probe *probe, const struct probity_event *event)
{
    struct span_hit *last = &own->last;

    if (last->probe != NULL) {
        struct export_span span = span_from(EXPORT_BLOCK, last, thread, event->wall_ns);
        span.to = probe;
        keep_apart(&span, &own->until_ns);
        set_cpu(&span, last, event);
        if (__builtin_expect(own->request != 0, 0))
            span.within = export_spans_within(spans, thread, &span.correlation);
        pass_on(export, spans, &span);
    }
    *last = hit_of(probe, event);
}

static void put_stage(struct probity_export *export, struct export_spans *spans,
                      struct probity_export_thread *thread, struct probity_inflight_item *item,
                      const struct probity_probe *probe, const struct probity_event *event)
{
    struct span_flow *flow = item->owner;
    struct export_span span = span_from(EXPORT_STAGE, &flow->last, thread, event->wall_ns);

    span.to = probe;
    span.correlation = item->key.correlation;
    keep_apart(&span, &flow->until_ns);
    if (item->thread_slot == thread->slot)
        set_cpu(&span, &flow->last, event);
    if (flow->begin.probe == NULL) {
        flow->lane = put_in_lane(export, spans, &span, flow->lane);
        return;
    }
    const struct export_lanes *lanes = lanes_of(export, spans, &span);
    if (lanes == NULL)
        return;
    span.lane = lanes->ids[flow->lane];
    span.within = flow->request;
    pass_on(export, spans, &span);
}

/* ---- Requests ----------------------------------------------------------------------------------
 */

static struct export_span request_of(const struct probity_inflight_item *item,
                                     struct probity_export_thread *thread, uint64_t end_ns)
{
    const struct span_flow *flow = item->owner;
    struct export_span span = span_from(EXPORT_REQUEST, &flow->begin, thread, end_ns);

    span.correlation = item->key.correlation;
    span.number = flow->request;
    return span;
}

/* Ends the request of an id, if there is one. */
static void end_request(struct probity_export *export, struct export_spans *spans,
                        const struct probity_inflight_item *item,
                        struct probity_export_thread *thread)
{
    struct span_flow *flow = item->owner;
    struct export_span span = {.kind = EXPORT_REQUEST, .trace = item->key.trace};
    struct export_lanes *lanes = lanes_of(export, spans, &span);

    if (flow->begin.probe == NULL || lanes == NULL)
        return;
    span = request_of(item, thread != NULL ? thread : flow->thread, spans->now_ns);
    span.is_open = thread == NULL;
    span.lane = lanes->ids[flow->lane];
    pass_on(export, spans, &span);
    export_lanes_put(lanes, flow->lane, span.end_ns);
    flow->begin.probe = NULL;
}

static void begin_request(struct probity_export *export, struct export_spans *spans,
                          struct probity_export_thread *thread,
                          const struct probity_inflight_item *item,
                          const struct probity_probe *probe, const struct probity_event *event)
{
    struct span_flow *flow = item->owner;

    flow->begin = hit_of(probe, event);
    flow->begin.wall_ns = flow->until_ns = spans->now_ns;
    flow->thread = thread;
    if (spans->numbers != NULL)
        flow->request = ++*spans->numbers;
    struct export_span span = request_of(item, thread, event->wall_ns);
    flow->lane = take_lane(export, spans, lanes_of(export, spans, &span), &span, flow->lane);
    if (flow->lane == EXPORT_LANE_NONE) {
        flow->begin.probe = NULL;
        return;
    }
    log_writer_make_room(&export->out, NULL);
    spans->listener->began(export, &span);
}

static void end_flow(struct probity_export *export, struct export_spans *spans,
                     struct probity_inflight_item *item, struct probity_export_thread *thread)
{
    end_request(export, spans, item, thread);
    free(item->owner);
    probity_inflight_remove(&spans->flows, item);
}

/* Returns the item of the id in flight, added if necessary; NULL if out of memory. */
static struct probity_inflight_item *flow_of(struct probity_export *export,
                                             struct export_spans *spans,
                                             const struct probity_event *event)
{
    const struct probity_inflight_key key = {event->correlation, 0, event->trace, 0};
    struct probity_inflight_item *item = probity_inflight_find(&spans->flows, &key);

    if (item != NULL)
        return item;
    struct probity_inflight_item *surplus = probity_inflight_surplus(&spans->flows);
    if (surplus != NULL) {
        spans->flows.forgotten++;
        end_flow(export, spans, surplus, NULL);
    }
    struct span_flow *flow = calloc(1, sizeof *flow);
    item = flow != NULL ? probity_inflight_add(&spans->flows, &key) : NULL;
    if (item == NULL) {
        free(flow);
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return NULL;
    }
    flow->lane = EXPORT_LANE_NONE;
    item->owner = flow;
    return item;
}

static void put_flow(struct probity_export *export, struct export_spans *spans,
                     struct probity_export_thread *thread, const struct probity_probe *probe,
                     const struct probity_event *event)
{
    struct probity_inflight_item *item = flow_of(export, spans, event);
    struct span_flow *flow = item != NULL ? item->owner : NULL;
    struct export_span_thread *own = &spans->threads[thread->slot];

    own->request = 0;
    if (flow == NULL)
        return;
    if (flow->last.probe != NULL)
        put_stage(export, spans, thread, item, probe, event);
    flow->last = hit_of(probe, event);
    item->thread_slot = thread->slot;
    if (event->role == PROBITY_ROLE_REQUEST_END) {
        end_flow(export, spans, item, thread);
        return;
    }
    if (event->role == PROBITY_ROLE_REQUEST_BEGIN) {
        end_request(export, spans, item, NULL); /* the id was reused */
        begin_request(export, spans, thread, item, probe, event);
    }
    if (flow->begin.probe != NULL && event->role != PROBITY_ROLE_QUEUE_PUT) {
        own->request = flow->request;
        own->correlation = event->correlation;
    }
    probity_inflight_touch(&spans->flows, item);
}

/* ---- Locks -------------------------------------------------------------------------------------
 */

static void put_lock(struct probity_export *export, struct export_spans *spans,
                     enum export_span_kind kind, const struct span_hit *hit,
                     struct probity_export_thread *thread, uint64_t object)
{
    struct export_span span = span_from(kind, hit, thread, spans->now_ns);

    span.object = object;
    put_in_lane(export, spans, &span, EXPORT_LANE_NONE);
}

/* Ends a hold, and passes on its span. */
static void end_hold(struct probity_export *export, struct export_spans *spans,
                     struct probity_inflight_item *item, int is_open)
{
    struct span_hit *hit = item->owner;
    struct export_span span = span_from(EXPORT_LOCK_HOLD, hit, export->threads[item->thread_slot],
                                        spans->now_ns);

    span.object = item->key.object;
    span.is_open = is_open;
    put_in_lane(export, spans, &span, EXPORT_LANE_NONE);
    free(hit);
    probity_inflight_remove(&spans->holds, item);
}

static void begin_hold(struct probity_export *export, struct export_spans *spans,
                       const struct probity_inflight_key *key, const struct probity_probe *probe,
                       const struct probity_event *event)
{
    struct probity_inflight_item *item = probity_inflight_surplus(&spans->holds);

    if (item != NULL)
        end_hold(export, spans, item, 1);
    struct span_hit *hit = malloc(sizeof *hit);
    item = hit != NULL ? probity_inflight_add(&spans->holds, key) : NULL;
    if (item == NULL) {
        free(hit);
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    *hit = hit_of(probe, event);
    hit->wall_ns = spans->now_ns;
    item->owner = hit;
    item->thread_slot = event->thread_slot;
}

static void put_lock_hit(struct probity_export *export, struct export_spans *spans,
                         struct probity_export_thread *thread, const struct probity_probe *probe,
                         const struct probity_event *event)
{
    struct export_span_thread *own = &spans->threads[thread->slot];
    /* Several threads may hold a read lock, so the key includes the thread. */
    const struct probity_inflight_key key = {thread->slot, event->object, event->trace, 0};

    if (event->role == PROBITY_ROLE_LOCK_WAIT) {
        own->wait = hit_of(probe, event);
        own->wait.wall_ns = spans->now_ns;
        own->wait_object = event->object;
        return;
    }
    struct probity_inflight_item *item = probity_inflight_find(&spans->holds, &key);
    if (event->role == PROBITY_ROLE_LOCK_RELEASE) {
        if (item != NULL)
            end_hold(export, spans, item, 0);
        return;
    }
    if (own->wait.probe != NULL && own->wait_object == event->object)
        put_lock(export, spans, EXPORT_LOCK_WAIT, &own->wait, thread, event->object);
    own->wait.probe = NULL;
    if (item == NULL) /* otherwise, its holder has taken it again */
        begin_hold(export, spans, &key, probe, event);
}

/* ---- Queues ------------------------------------------------------------------------------------
 */

/* Returns the queue of a hit; NULL if there are too many, or out of memory. */
static struct export_length *queue_of(struct probity_export *export, struct export_spans *spans,
                                      const struct probity_probe *probe,
                                      const struct probity_event *event)
{
    uint64_t key = probity_hash(event->object) ^ (uint64_t)event->trace << 48;
    size_t known = spans->queues.table.items;

    key = key != 0 ? key : 1;
    if (known >= EXPORT_QUEUES_MAX && export_names_find(&spans->queues, key) == NULL) {
        export->counts.queue_hits++;
        return NULL;
    }
    const struct export_name *queue = export_names_at(&spans->queues, key);
    if (queue != NULL && queue->number >= spans->lengths_count) {
        void *grown = probity_array_grow(spans->lengths, sizeof *spans->lengths, queue->number,
                                         &spans->lengths_count);
        spans->lengths = grown != NULL ? grown : spans->lengths;
    }
    if (queue == NULL || queue->number >= spans->lengths_count) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return NULL;
    }
    struct export_length *length = &spans->lengths[queue->number];
    if (spans->queues.table.items > known)
        *length = (struct export_length){.trace = event->trace, .number = queue->number,
                                         .from = probe, .role = event->role,
                                         .object = event->object};
    return length;
}

/* Updates the length. An item that was put twice is in the queue once; an item that was never put
 * is not removed. */
static int change_length(struct export_spans *spans, const struct probity_event *event,
                         struct export_length *length)
{
    const struct probity_inflight_key key = {event->correlation, event->object, event->trace, 0};
    struct probity_inflight_item *item = probity_inflight_find(&spans->items, &key);

    if (event->role == PROBITY_ROLE_QUEUE_GET) {
        if (item == NULL)
            return 0;
        probity_inflight_remove(&spans->items, item);
        length->length--;
        return 0;
    }
    if (item != NULL)
        return 0;
    item = probity_inflight_surplus(&spans->items);
    if (item != NULL) {
        spans->lengths[item->thread_slot].length--;
        probity_inflight_remove(&spans->items, item);
    }
    item = probity_inflight_add(&spans->items, &key);
    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    item->thread_slot = length->number;
    length->length++;
    return 0;
}

static void put_queue_hit(struct probity_export *export, struct export_spans *spans,
                          const struct probity_probe *probe, const struct probity_event *event)
{
    struct export_length *length = queue_of(export, spans, probe, event);

    if (length == NULL)
        return;
    if (change_length(spans, event, length) != 0) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    length->wall_ns = event->wall_ns;
    log_writer_make_room(&export->out, NULL);
    spans->listener->length(export, length);
}

/* ---- Hits --------------------------------------------------------------------------------------
 */

static __attribute__((noinline)) void put_ids(struct probity_export *export,
                                              struct export_spans *spans,
                                              struct probity_export_thread *thread,
                                              const struct probity_probe *probe,
                                              const struct probity_event *event)
{
    int is_lock = event->role >= PROBITY_ROLE_LOCK_WAIT && event->role <= PROBITY_ROLE_LOCK_RELEASE;

    if (is_lock && event->has_object)
        put_lock_hit(export, spans, thread, probe, event);
    if ((event->role == PROBITY_ROLE_QUEUE_PUT || event->role == PROBITY_ROLE_QUEUE_GET) &&
        event->has_object && spans->listener->length != NULL)
        put_queue_hit(export, spans, probe, event);
    if (event->has_correlation && probity_role_is_of_work(event->role))
        put_flow(export, spans, thread, probe, event);
}

static struct export_span_thread *thread_at(struct export_spans *spans, uint32_t slot)
{
    if (__builtin_expect(slot >= spans->thread_count, 0)) {
        void *grown = probity_array_grow(spans->threads, sizeof *spans->threads, slot,
                                         &spans->thread_count);
        if (grown == NULL)
            return NULL;
        spans->threads = grown;
    }
    return &spans->threads[slot];
}

/* Empties the queues of a trace: the items left in them may have been taken without a record. */
static void empty_queues(struct probity_export *export, struct export_spans *spans,
                         const struct probity_event *event)
{
    probity_inflight_forget(&spans->items, event->trace);
    for (uint32_t i = 0; i < spans->lengths_count; i++) {
        struct export_length *length = &spans->lengths[i];
        if (length->length == 0 || length->trace != event->trace)
            continue;
        length->length = 0;
        length->wall_ns = event->wall_ns;
        log_writer_make_room(&export->out, NULL);
        spans->listener->length(export, length);
    }
}

/* Ends the spans of a trace whose sites were switched: hits may be missing before this time, or
 * after it. */
static void end_trace(struct probity_export *export, struct export_spans *spans,
                      const struct probity_event *event)
{
    struct probity_inflight_item *item, *newer;

    for (uint32_t slot = 0; slot < spans->thread_count; slot++) {
        struct export_span_thread *own = &spans->threads[slot];
        int is_set = own->last.probe != NULL || own->wait.probe != NULL;
        if (is_set && export->threads[slot]->trace == event->trace)
            own->last.probe = own->wait.probe = NULL;
    }
    for (item = spans->flows.oldest; item != NULL; item = newer) {
        newer = item->newer;
        if (item->key.trace == event->trace)
            end_flow(export, spans, item, NULL);
    }
    for (item = spans->holds.oldest; item != NULL; item = newer) {
        newer = item->newer;
        if (item->key.trace == event->trace)
            end_hold(export, spans, item, 1);
    }
    empty_queues(export, spans, event);
}

void export_spans_put(struct probity_export *export, struct export_spans *spans,
                      struct probity_export_thread *thread, const struct probity_event *event)
{
    if (event->kind == PROBITY_EVENT_LOST && thread->slot < spans->thread_count)
        spans->threads[thread->slot].last.probe = spans->threads[thread->slot].wait.probe = NULL;
    if (event->kind == PROBITY_EVENT_SITES_SWITCHED)
        end_trace(export, spans, event);
    if (__builtin_expect(event->kind != PROBITY_EVENT_HIT, 0))
        return;
    struct export_span_thread *own = thread_at(spans, thread->slot);
    const struct probity_probe *probe = own != NULL ? probity_probes_of(&spans->probes, event)
                                                    : NULL;
    if (probe == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    spans->now_ns = event->wall_ns > spans->now_ns ? event->wall_ns : spans->now_ns;
    put_block(export, spans, thread, own, probe, event);
    if ((event->has_correlation || event->has_object) && spans->listener->began != NULL)
        put_ids(export, spans, thread, probe, event);
}

/* ---- Beginning and end -------------------------------------------------------------------------
 */

void export_spans_open(struct export_spans *spans, const struct export_spans_listener *listener)
{
    *spans = (struct export_spans){.listener = listener,
                                   .probes.item_bytes = sizeof(struct probity_probe)};
}

void export_spans_finish(struct probity_export *export, struct export_spans *spans)
{
    while (spans->flows.oldest != NULL)
        end_flow(export, spans, spans->flows.oldest, NULL);
    while (spans->holds.oldest != NULL)
        end_hold(export, spans, spans->holds.oldest, 1);
    for (uint32_t slot = 0; slot < spans->thread_count; slot++) {
        struct export_span_thread *own = &spans->threads[slot];
        if (own->wait.probe == NULL)
            continue;
        struct export_span span = span_from(EXPORT_LOCK_WAIT, &own->wait, export->threads[slot],
                                            spans->now_ns);
        span.object = own->wait_object;
        span.is_open = 1;
        put_in_lane(export, spans, &span, EXPORT_LANE_NONE);
    }
}

static void release_owners(struct probity_inflight *ids)
{
    for (const struct probity_inflight_item *item = ids->oldest; item != NULL; item = item->newer)
        free(item->owner);
    probity_inflight_release(ids);
}

void export_spans_release(struct export_spans *spans)
{
    release_owners(&spans->flows);
    release_owners(&spans->holds);
    probity_inflight_release(&spans->items);
    for (uint32_t set = 0; set < spans->lanes_count; set++)
        export_lanes_release(&spans->lanes[set]);
    free(spans->lanes);
    free(spans->lengths);
    free(spans->threads);
    export_names_release(&spans->sets);
    export_names_release(&spans->queues);
    probity_probes_release(&spans->probes);
}
