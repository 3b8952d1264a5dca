/* SPDX-License-Identifier: MIT
 *
 * timeline_tracks.c: turns hits into spans: blocks in the lane of their thread, stages of requests,
 * holders of locks and waiting threads, and lengths of queues. A span is added when the hit that
 * ends it arrives. Both passes over the events make the same tracks in the same order. The table of
 * sums does not use base/hashtable.h, because it becomes the array that is returned.
 *
 *     requests   row 0  [queued → taken][taken → done]   [queued → taken]
 *                row 1        [queued → taken     ][taken → done]
 *     lock       row 0  [held by 17][held by 19  ]
 *                row 1     [19 waits]
 *     queue             [1][2    ][1 ][2]
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/request_flow.h"
#include "answers/timeline/timeline_internal.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "probity.h"
#include "probity_typed.h"

enum { SUMS_FIRST = 256 };

/* Requests in flight are items of probity_inflight. Their members are used as follows: wall_ns is
 * the latest hit, cpu_ns the name of its probe, is_cpu_known the row + 1. */
struct requests {
    struct timeline_thread *track;
    struct probity_inflight_item *rows[PROBITY_TIMELINE_REQUESTS_MAX];
};

enum lock_state { LOCK_FREE, LOCK_WAITS, LOCK_HOLDS };

struct lock_row {
    enum lock_state state;
    uint32_t slot, place; /* of the thread */
    uint64_t since_ns;
};

/* A lock or a queue. */
struct object {
    struct timeline_thread *track;
    struct lock_row rows[PROBITY_TIMELINE_LOCK_ROWS_MAX];
    uint64_t length, since_ns; /* of a queue */
    int is_signal; /* a semaphore that one thread posts and another waits for: it has no holder */
};

struct timeline_tracks {
    struct requests **requests; /* by trace; NULL: none yet */
    uint32_t request_count;
    struct probity_inflight ids;
    struct object *objects[PROBITY_TIMELINE_OBJECTS_MAX];
    size_t object_count, object; /* object: index of the one found last */
    struct probity_timeline_sum *sums; /* a hash table, at most half full; calls 0: free */
    size_t sum_count, sum_capacity;
    int is_finished; /* the sums have become an array */
};

/* ---- Blocks ------------------------------------------------------------------------------------
 */

static struct probity_timeline_sum *sum_place(const struct timeline_tracks *tracks,
                                              uint32_t thread, uint32_t name)
{
    size_t mask = tracks->sum_capacity - 1;
    size_t place = (size_t)probity_hash((uint64_t)thread << 32 | name) & mask;
    struct probity_timeline_sum *sum = &tracks->sums[place];

    while (sum->calls != 0 && (sum->thread != thread || sum->name != name)) {
        place = (place + 1) & mask;
        sum = &tracks->sums[place];
    }
    return sum;
}

static int grow_sums(struct timeline_tracks *tracks)
{
    const struct timeline_tracks old = *tracks;
    size_t capacity = old.sum_capacity > 0 ? 2 * old.sum_capacity : SUMS_FIRST;
    struct probity_timeline_sum *sums = calloc(capacity, sizeof *sums);

    if (sums == NULL)
        return PROBITY_ERROR_MEMORY;
    tracks->sums = sums;
    tracks->sum_capacity = capacity;
    for (size_t i = 0; i < old.sum_capacity; i++) {
        if (old.sums[i].calls != 0)
            *sum_place(tracks, old.sums[i].thread, old.sums[i].name) = old.sums[i];
    }
    free(old.sums);
    return 0;
}

static int add_sum(struct timeline_tracks *tracks, uint32_t thread, uint32_t name,
                   const struct probity_timeline_span *span, int is_cpu_known)
{
    if (2 * tracks->sum_count + 2 >= tracks->sum_capacity && grow_sums(tracks) != 0)
        return PROBITY_ERROR_MEMORY;
    struct probity_timeline_sum *sum = sum_place(tracks, thread, name);
    if (sum->calls == 0) {
        if (tracks->sum_count >= PROBITY_TIMELINE_PAIRS_MAX)
            return 0;
        *sum = (struct probity_timeline_sum){.thread = thread, .name = name};
        tracks->sum_count++;
    }
    sum->calls++;
    sum->wall_ns += span->length_ns;
    if (is_cpu_known) {
        sum->off_ns += span->off_ns;
        sum->cpu_ns += span->length_ns - span->off_ns;
    }
    return 0;
}

/* Adds the block between the thread's previous hit and this one. */
static int end_block(struct probity_timeline *timeline, struct timeline_thread *thread,
                     const struct probity_event *event, uint32_t name)
{
    const struct timeline_hit *hit = &thread->hit;
    uint64_t wall_ns = event->wall_ns > hit->wall_ns ? event->wall_ns - hit->wall_ns : 0;
    int is_cpu_known = event->cpu_known && hit->is_cpu_known;
    uint64_t cpu_ns = is_cpu_known && event->cpu_ns > hit->cpu_ns ? event->cpu_ns - hit->cpu_ns : 0;
    struct probity_timeline_span span = {
        .start_ns = hit->wall_ns, .length_ns = wall_ns, .busy_ns = wall_ns, .count = 1,
        .off_ns = is_cpu_known && wall_ns > cpu_ns ? wall_ns - cpu_ns : 0};
    int error = timeline_names_pair(&timeline->names, PROBITY_TIMELINE_BLOCK, hit->name, name,
                                    &span.name);

    timeline->facts.blocks++;
    if (error == 0)
        error = add_sum(timeline->tracks, thread->place, span.name, &span, is_cpu_known);
    if (error == 0 && timeline_is_inside(timeline, span.start_ns))
        error = timeline_add_timed(timeline, thread, &thread->facts.blocks, 0, &span,
                                   &hit->values);
    return error;
}

static int put_block(struct probity_timeline *timeline, struct timeline_thread *thread,
                     const struct probity_event *event, uint32_t name)
{
    int error = thread->hit.is_set ? end_block(timeline, thread, event, name) : 0;

    thread->hit.wall_ns = event->wall_ns;
    thread->hit.cpu_ns = event->cpu_ns;
    thread->hit.is_cpu_known = event->cpu_known;
    thread->hit.name = name;
    thread->hit.is_set = 1;
    thread->hit.values.used = 0;
    return error == 0 ? timeline_keep_values(&thread->hit.values, event) : error;
}

/* A thread's last hit, or the last one before hits may be missing, begins a block without an
 * end. */
static int finish_block(struct probity_timeline *timeline, struct timeline_thread *thread)
{
    struct probity_timeline_span span = {.start_ns = thread->hit.wall_ns, .count = 1,
                                         .flags = PROBITY_TIMELINE_OPEN};

    int is_shown = thread->hit.is_set && timeline_is_inside(timeline, span.start_ns);
    thread->hit.is_set = 0;
    if (!is_shown)
        return 0;
    int error = timeline_names_pair(&timeline->names, PROBITY_TIMELINE_BLOCK, thread->hit.name,
                                    PROBITY_TIMELINE_NO_NAME, &span.name);
    if (thread->hit.values.used > 0)
        timeline_keeper_drop(&timeline->keeper);
    if (error == 0 && thread->hit.values.used > 0 && timeline->facts.values_min_ns == 0)
        error = probity_timeline_bytes_keep(&timeline->values, &thread->hit.values, &span.values);
    return error == 0 ? timeline_add_span(timeline, &thread->facts.blocks, &span) : error;
}

/* ---- Tracks ------------------------------------------------------------------------------------
 */

static int add_track(struct probity_timeline *timeline, const struct probity_event *event,
                     enum probity_timeline_track kind, struct timeline_thread **ret_track)
{
    int error = timeline_add_thread(timeline, event, ret_track);

    if (error != 0)
        return error;
    (*ret_track)->facts.track = kind;
    (*ret_track)->facts.thread = (*ret_track)->facts.tid = 0;
    return 0;
}

/* Adds a span to a row of a track. */
static int add_to_row(struct probity_timeline *timeline, struct timeline_thread *track,
                      uint32_t row, struct probity_timeline_span *span)
{
    int error = timeline_reach_depth(track, row);

    if (error != 0 || !timeline_is_inside(timeline, span->start_ns))
        return error;
    return timeline_add_span(timeline, &track->facts.calls[row], span);
}

/* ---- Requests ----------------------------------------------------------------------------------
 */

static int requests_of(struct probity_timeline *timeline, const struct probity_event *event,
                       struct requests **ret_requests)
{
    struct timeline_tracks *tracks = timeline->tracks;
    uint32_t count = tracks->request_count;

    if (event->trace >= count) {
        struct requests **grown =
            probity_array_grow(tracks->requests, sizeof(struct requests *), event->trace, &count);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        tracks->requests = grown;
        tracks->request_count = count;
    }
    *ret_requests = tracks->requests[event->trace];
    if (*ret_requests != NULL)
        return 0;
    struct requests *requests = calloc(1, sizeof *requests);
    if (requests == NULL)
        return PROBITY_ERROR_MEMORY;
    *ret_requests = tracks->requests[event->trace] = requests;
    return add_track(timeline, event, PROBITY_TIMELINE_REQUESTS, &requests->track);
}

/* Takes the lowest free row or, if there is none, the row of the request that has been inactive for
 * longest. */
static void take_row(struct probity_timeline *timeline, struct requests *requests,
                     struct probity_inflight_item *item)
{
    size_t row = 0;

    for (size_t i = 0; i < PROBITY_TIMELINE_REQUESTS_MAX; i++) {
        if (requests->rows[i] == NULL) {
            row = i;
            break;
        }
        if (requests->rows[i]->wall_ns < requests->rows[row]->wall_ns)
            row = i;
    }
    if (requests->rows[row] != NULL) {
        requests->rows[row]->is_cpu_known = 0;
        timeline->facts.requests_beyond++;
    }
    requests->rows[row] = item;
    item->is_cpu_known = (uint32_t)row + 1;
}

static void leave_row(struct requests *requests, struct probity_inflight_item *item)
{
    if (item->is_cpu_known != 0)
        requests->rows[item->is_cpu_known - 1] = NULL;
    item->is_cpu_known = 0;
}

/* Adds the stage between the request's previous hit and this one. */
static int end_stage(struct probity_timeline *timeline, struct requests *requests,
                     const struct probity_inflight_item *item, const struct probity_event *event,
                     uint32_t name)
{
    uint64_t wall_ns = event->wall_ns > item->wall_ns ? event->wall_ns - item->wall_ns : 0;
    struct probity_timeline_span span = {.start_ns = item->wall_ns, .length_ns = wall_ns,
                                         .busy_ns = wall_ns, .count = 1,
                                         .off_ns = event->correlation};

    if (item->is_cpu_known == 0)
        return 0;
    int error = timeline_names_pair(&timeline->names, PROBITY_TIMELINE_BLOCK,
                                    (uint32_t)item->cpu_ns, name, &span.name);
    return error == 0 ? add_to_row(timeline, requests->track, item->is_cpu_known - 1, &span)
                      : error;
}

static int put_request(struct probity_timeline *timeline, const struct probity_event *event,
                       uint32_t name)
{
    struct probity_inflight *ids = &timeline->tracks->ids;
    struct probity_inflight_item *item, *surplus = probity_inflight_surplus(ids);
    struct requests *requests;

    if (surplus != NULL)
        leave_row(timeline->tracks->requests[surplus->key.trace], surplus);
    int error = requests_of(timeline, event, &requests);
    if (error == 0)
        error = probity_request_flow_find(ids, event, &item);
    if (error != 0 || item == NULL)
        return error;
    if (item->wall_ns == 0)
        take_row(timeline, requests, item);
    else
        error = end_stage(timeline, requests, item, event, name);
    item->wall_ns = event->wall_ns;
    item->cpu_ns = name;
    if (event->role == PROBITY_ROLE_REQUEST_END)
        leave_row(requests, item);
    probity_request_flow_step(ids, event, item);
    return error;
}

/* ---- Locks and queues --------------------------------------------------------------------------
 */

/* Takes "cache" from a site "cache:wait". */
static int set_name(struct timeline_thread *track, const struct probity_event *event)
{
    const char *colon =
        event->is_site && event->name != NULL ? memchr(event->name, ':', event->name_bytes) : NULL;

    if (colon == NULL)
        return 0;
    track->facts.name = strndup(event->name, (size_t)(colon - event->name));
    return track->facts.name != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

/* Returns 0 with NULL if there are too many. */
static int object_of(struct probity_timeline *timeline, const struct probity_event *event,
                     enum probity_timeline_track kind, struct object **ret_object)
{
    struct timeline_tracks *tracks = timeline->tracks;
    size_t count = tracks->object_count;

    for (size_t i = 0; i < count; i++) {
        size_t index = (tracks->object + i) % count;
        const struct probity_timeline_thread *facts = &tracks->objects[index]->track->facts;
        if (facts->object == event->object && facts->trace == event->trace &&
            facts->track == kind) {
            tracks->object = index;
            *ret_object = tracks->objects[index];
            return 0;
        }
    }
    *ret_object = NULL;
    if (count == PROBITY_TIMELINE_OBJECTS_MAX) {
        timeline->facts.objects_beyond++;
        return 0;
    }
    struct timeline_thread *track;
    int error = add_track(timeline, event, kind, &track);
    struct object *object = error == 0 ? calloc(1, sizeof *object) : NULL;
    if (object == NULL)
        return PROBITY_ERROR_MEMORY;
    object->track = track;
    track->facts.object = event->object;
    tracks->objects[tracks->object_count++] = *ret_object = object;
    return set_name(track, event);
}

/* Adds the span of a row of a lock, and frees the row. */
static int end_row(struct probity_timeline *timeline, struct object *object, uint32_t index,
                   uint64_t wall_ns, uint32_t flags)
{
    struct lock_row *row = &object->rows[index];
    struct probity_timeline_span span = {.start_ns = row->since_ns, .count = 1, .flags = flags};
    enum probity_timeline_name_kind kind =
        row->state == LOCK_HOLDS ? PROBITY_TIMELINE_HOLDER : PROBITY_TIMELINE_WAITER;

    span.length_ns = span.busy_ns = wall_ns > row->since_ns ? wall_ns - row->since_ns : 0;
    row->state = LOCK_FREE;
    int error = timeline_names_pair(&timeline->names, kind, row->place, 0, &span.name);
    return error == 0 ? add_to_row(timeline, object->track, index, &span) : error;
}

static struct lock_row *row_of(struct object *object, enum lock_state state, uint32_t slot)
{
    for (size_t i = 0; i < PROBITY_TIMELINE_LOCK_ROWS_MAX; i++) {
        if (object->rows[i].state == state &&
            (state == LOCK_FREE || object->rows[i].slot == slot))
            return &object->rows[i];
    }
    return NULL;
}

/* Called if a thread releases a lock that it does not hold. */
static void note_foreign_release(struct object *object)
{
    const char *name = object->track->facts.name;

    if (object->is_signal || name == NULL || strcmp(name, "semaphore") != 0)
        return;
    object->is_signal = 1;
    for (size_t i = 0; i < PROBITY_TIMELINE_LOCK_ROWS_MAX; i++) {
        if (object->rows[i].state == LOCK_HOLDS)
            object->rows[i].state = LOCK_FREE;
    }
}

/* A hold ends a wait, and a release ends a hold. The first row is reserved for a holder. */
static int put_lock(struct probity_timeline *timeline, const struct timeline_thread *thread,
                    const struct probity_event *event)
{
    enum lock_state ends = event->role == PROBITY_ROLE_LOCK_RELEASE ? LOCK_HOLDS : LOCK_WAITS;
    uint32_t slot = event->thread_slot;
    struct object *object;
    int error = object_of(timeline, event, PROBITY_TIMELINE_LOCK, &object);

    if (error != 0 || object == NULL)
        return error;
    struct lock_row *row = row_of(object, ends, slot);
    if (row != NULL)
        error = end_row(timeline, object, (uint32_t)(row - object->rows), event->wall_ns, 0);
    int is_release = event->role == PROBITY_ROLE_LOCK_RELEASE;
    int is_hold = event->role == PROBITY_ROLE_LOCK_HOLD;
    if (is_release && row == NULL)
        note_foreign_release(object);
    if (is_release || (is_hold && object->is_signal))
        return error;
    struct lock_row kept = object->rows[0];
    if (!is_hold && kept.state == LOCK_FREE)
        object->rows[0].state = LOCK_WAITS;
    row = row_of(object, LOCK_FREE, slot);
    object->rows[0] = kept;
    if (row != NULL)
        *row = (struct lock_row){is_hold ? LOCK_HOLDS : LOCK_WAITS, slot, thread->place,
                                 event->wall_ns};
    return error;
}

/* Adds the time for which the queue had its current length. An empty queue is a gap. */
static int end_length(struct probity_timeline *timeline, struct object *object, uint64_t wall_ns)
{
    uint64_t length_ns = wall_ns > object->since_ns ? wall_ns - object->since_ns : 0;
    struct probity_timeline_span span = {
        .start_ns = object->since_ns, .length_ns = length_ns, .count = 1,
        .busy_ns = length_ns * object->length, .off_ns = object->length};

    object->since_ns = wall_ns;
    if (object->length == 0)
        return 0;
    int error = timeline_names_pair(&timeline->names, PROBITY_TIMELINE_LENGTH, 0, 0, &span.name);
    return error == 0 ? add_to_row(timeline, object->track, 0, &span) : error;
}

static int put_queue(struct probity_timeline *timeline, const struct probity_event *event)
{
    struct object *object;
    int error = object_of(timeline, event, PROBITY_TIMELINE_QUEUE, &object);

    if (error != 0 || object == NULL)
        return error;
    error = end_length(timeline, object, event->wall_ns);
    if (event->role == PROBITY_ROLE_QUEUE_PUT)
        object->length++;
    else if (object->length > 0) /* the item may have been put before the records began */
        object->length--;
    return error;
}

/* Ends what is open at a lock or queue and has an unknown end. */
static int finish_object(struct probity_timeline *timeline, struct object *object,
                         uint64_t wall_ns)
{
    int error = 0;

    /* In a second pass, the time of the last record may differ. */
    timeline_keeper_drop(&timeline->keeper);
    for (uint32_t row = 0; error == 0 && row < PROBITY_TIMELINE_LOCK_ROWS_MAX; row++) {
        if (object->rows[row].state != LOCK_FREE)
            error = end_row(timeline, object, row, wall_ns, PROBITY_TIMELINE_OPEN);
    }
    if (error == 0 && object->length > 0)
        error = end_length(timeline, object, wall_ns);
    object->length = 0;
    return error;
}

static int finish_objects(struct probity_timeline *timeline)
{
    struct timeline_tracks *tracks = timeline->tracks;
    int error = 0;

    for (size_t i = 0; error == 0 && i < tracks->object_count; i++)
        error = finish_object(timeline, tracks->objects[i], timeline->facts.last_ns);
    return error;
}

/* ---- The tracks --------------------------------------------------------------------------------
 */

int timeline_tracks_open(struct probity_timeline *timeline)
{
    timeline->tracks = calloc(1, sizeof *timeline->tracks);
    return timeline->tracks != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

int timeline_tracks_put(struct probity_timeline *timeline, struct timeline_thread *thread,
                        const struct probity_event *event)
{
    const struct probity_timeline_options *options = &timeline->options;
    uint32_t name;

    if (thread == NULL || event->wall_ns < options->from_ns || event->wall_ns >= options->to_ns)
        return 0;
    int error = timeline_names_mark(&timeline->names, event, &name);
    if (error == 0)
        error = put_block(timeline, thread, event, name);
    if (error != 0)
        return error;
    switch (event->role) {
    case PROBITY_ROLE_LOCK_WAIT:
    case PROBITY_ROLE_LOCK_HOLD:
    case PROBITY_ROLE_LOCK_RELEASE:
        return event->has_object ? put_lock(timeline, thread, event) : 0;
    case PROBITY_ROLE_QUEUE_PUT:
    case PROBITY_ROLE_QUEUE_GET:
        error = event->has_object ? put_queue(timeline, event) : 0;
        break;
    default: break;
    }
    return error == 0 && event->has_correlation && probity_role_is_of_work(event->role)
               ? put_request(timeline, event, name)
               : error;
}

int timeline_tracks_cut(struct probity_timeline *timeline, const struct probity_event *event)
{
    const struct probity_timeline_options *options = &timeline->options;
    struct timeline_tracks *tracks = timeline->tracks;
    int error = 0;

    if (event->wall_ns < options->from_ns || event->wall_ns >= options->to_ns)
        return 0;
    for (size_t i = 0; error == 0 && i < timeline->thread_count; i++) {
        if (timeline->threads[i]->trace == event->trace)
            error = finish_block(timeline, timeline_thread_at(timeline, i));
    }
    for (size_t i = 0; error == 0 && i < tracks->object_count; i++) {
        if (tracks->objects[i]->track->facts.trace == event->trace)
            error = finish_object(timeline, tracks->objects[i], event->wall_ns);
    }
    if (event->trace < tracks->request_count && tracks->requests[event->trace] != NULL) {
        struct requests *requests = tracks->requests[event->trace];
        memset(requests->rows, 0, sizeof requests->rows);
    }
    probity_inflight_forget(&tracks->ids, event->trace);
    return error;
}

static int compare_sums(const void *left, const void *right)
{
    const struct probity_timeline_sum *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

int timeline_tracks_finish(struct probity_timeline *timeline)
{
    struct timeline_tracks *tracks = timeline->tracks;
    size_t kept = 0, threads = timeline->thread_count;
    int error = 0;

    for (size_t i = 0; error == 0 && i < threads; i++)
        error = finish_block(timeline, timeline_thread_at(timeline, i));
    if (error == 0)
        error = finish_objects(timeline);
    for (size_t i = 0; i < tracks->sum_capacity; i++) {
        if (tracks->sums[i].calls != 0)
            tracks->sums[kept++] = tracks->sums[i];
    }
    /* The order of the table varies from run to run. */
    if (kept > 1)
        qsort(tracks->sums, kept, sizeof *tracks->sums, compare_sums);
    tracks->is_finished = 1;
    return error;
}

const struct probity_timeline_sum *probity_timeline_sums(const struct probity_timeline *timeline,
                                                         size_t *ret_count)
{
    const struct timeline_tracks *tracks = timeline->tracks;

    *ret_count = tracks != NULL && tracks->is_finished ? tracks->sum_count : 0;
    return *ret_count > 0 ? tracks->sums : NULL;
}

void timeline_tracks_release(struct probity_timeline *timeline)
{
    struct timeline_tracks *tracks = timeline->tracks;

    if (tracks == NULL)
        return;
    for (uint32_t i = 0; i < tracks->request_count; i++)
        free(tracks->requests[i]);
    for (size_t i = 0; i < tracks->object_count; i++)
        free(tracks->objects[i]);
    probity_inflight_release(&tracks->ids);
    free(tracks->requests);
    free(tracks->sums);
    free(tracks);
}
