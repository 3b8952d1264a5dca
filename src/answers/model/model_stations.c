/* SPDX-License-Identifier: MIT
 *
 * model_stations.c: queues, locks, requests and conditions while hits are read. An id is open from
 * arrival to departure. Departures without an arrival in the trace are counted, but do not affect
 * levels and times.
 */
#include <stdlib.h>
#include <string.h>

#include "answers/model/model_internal.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "probity.h"

static void change_level(struct probity_model_level *level, uint64_t now_ns, int by)
{
    level->area += (probity_wide_sum)level->now * (now_ns - level->since_ns);
    level->since_ns = now_ns;
    level->now += (uint64_t)(int64_t)by;
    if (level->now > level->max)
        level->max = level->now;
}

/* Few nodes use a station, so a move-to-front list suffices. */
static int count_user(struct probity_model_user **users, const struct model_node *node,
                      uint32_t role)
{
    struct probity_model_user **place = users, *user;

    while ((user = *place) != NULL && (user->node != &node->node || user->role != role))
        place = &user->next;
    if (user == NULL) {
        user = calloc(1, sizeof *user);
        if (user == NULL)
            return PROBITY_ERROR_MEMORY;
        user->node = &node->node;
        user->role = role;
    } else {
        *place = user->next;
    }
    user->count++;
    user->next = *users;
    *users = user;
    return 0;
}

/* ---- Stations ----------------------------------------------------------------------------------
 */

/* Identity of a station. */
struct station_key {
    enum probity_model_kind kind;
    uint32_t trace;
    uint64_t object;
    const struct probity_probe *begin;
};

static int is_station(const struct probity_model_station *station, const struct station_key *key)
{
    return station->object == key->object && station->kind == key->kind &&
           station->trace == key->trace && station->begin == key->begin;
}

static struct model_station *make_station(struct probity_model *model,
                                          const struct station_key *key)
{
    struct model_station *item = calloc(1, sizeof *item);

    if (item == NULL)
        return NULL;
    item->station.kind = key->kind;
    item->station.trace = key->trace;
    item->station.object = key->object;
    item->station.begin = key->begin;
    item->station.level.since_ns = model->now_ns;
    model->result.station_counts[key->kind]++;
    return item;
}

/* Returns 0 with *ret_station NULL if there are too many stations, or PROBITY_ERROR_MEMORY. */
static int find_station(struct probity_model *model, const struct station_key *key,
                        struct probity_model_station **ret_station)
{
    uint64_t hash = probity_hash(key->object ^ (uint64_t)key->trace << 48 ^
                                 (key->begin != NULL ? key->begin->place : 0));
    struct model_station **chain = &model->stations[hash & (MODEL_STATION_CHAINS - 1)];
    struct model_station *item = *chain;

    while (item != NULL && !is_station(&item->station, key))
        item = item->chain;
    *ret_station = NULL;
    if (item == NULL) {
        if (model->result.station_counts[key->kind] == PROBITY_MODEL_STATIONS_MAX) {
            model->result.hits_left_out++;
            return 0;
        }
        item = make_station(model, key);
        if (item == NULL)
            return PROBITY_ERROR_MEMORY;
        item->chain = *chain;
        *chain = item;
    }
    *ret_station = &item->station;
    return 0;
}

/* ---- Arrivals and departures -------------------------------------------------------------------
 */

/* Closes an id whose departure is missing. */
static void drop_id(struct probity_model *model, struct probity_inflight_item *open)
{
    struct probity_model_station *station = open->owner;

    change_level(&station->level, model->now_ns, -1);
    probity_inflight_remove(&model->open, open);
}

int probity_model_forget(struct probity_model *model, uint32_t trace)
{
    struct probity_inflight_item *item = model->open.oldest;

    while (item != NULL) {
        struct probity_inflight_item *newer = item->newer;
        if (item->key.trace == trace)
            drop_id(model, item);
        item = newer;
    }
    if (trace >= model->switched_count) {
        void *grown = probity_array_grow(model->switched, sizeof *model->switched, trace,
                                         &model->switched_count);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        model->switched = grown;
    }
    model->switched[trace] = ++model->switches;
    return 0;
}

/* Whether no sites of the trace have been switched since the given number of switches. */
static int is_unswitched(const struct probity_model *model, uint32_t trace, uint64_t switches)
{
    return trace >= model->switched_count || model->switched[trace] <= switches;
}

/* Requests of one kind may arrive in several traces. Between two arrivals, others may be missing
 * from the trace of either. */
static int add_gap(const struct probity_model *model, struct probity_model_station *station,
                   uint32_t trace)
{
    uint64_t switches = station->last_arrival_switches;
    int is_known = station->arrivals++ > 0 && is_unswitched(model, trace, switches) &&
                   is_unswitched(model, station->last_arrival_trace, switches);
    int error = is_known ? probity_duration_stats_add(&station->gaps, model->now_ns -
                                                                          station->last_arrival_ns)
                         : 0;

    station->last_arrival_ns = model->now_ns;
    station->last_arrival_switches = model->switches;
    station->last_arrival_trace = trace;
    return error;
}

static int open_id(struct probity_model *model, const struct probity_inflight_key *key,
                   struct probity_model_station *station)
{
    struct probity_inflight_item *open = probity_inflight_surplus(&model->open);

    if (open != NULL) {
        ((struct probity_model_station *)open->owner)->forgotten++;
        model->result.forgotten++;
        drop_id(model, open);
    }
    open = probity_inflight_add(&model->open, key);
    if (open == NULL)
        return PROBITY_ERROR_MEMORY;
    open->owner = station;
    open->wall_ns = model->now_ns;
    change_level(&station->level, model->now_ns, 1);
    return 0;
}

static int arrive(struct probity_model *model, struct probity_model_station *station,
                  const struct probity_inflight_key *key)
{
    struct probity_inflight_item *open = probity_inflight_find(&model->open, key);
    int error = add_gap(model, station, key->trace);

    if (error != 0)
        return error;
    if (open != NULL) {
        /* If a lock, its holder took it again. Otherwise the id was reused, and the departure of
         * its earlier use is missing. */
        ((struct probity_model_station *)open->owner)->again++;
        if (station->kind == PROBITY_MODEL_LOCK)
            return 0;
        drop_id(model, open);
    }
    return open_id(model, key, station);
}

/* Closes an id that departs. */
static int depart(struct probity_model *model, struct probity_inflight_item *open)
{
    struct probity_model_station *station = open->owner;
    int error = probity_duration_stats_add(&station->stays, model->now_ns - open->wall_ns);

    station->departures++;
    drop_id(model, open);
    return error;
}

/* Closes the id if it is open. Otherwise its arrival is not in the trace. */
static int depart_from(struct probity_model *model, struct probity_model_station *station,
                       const struct probity_inflight_key *key)
{
    struct probity_inflight_item *open = probity_inflight_find(&model->open, key);

    if (open != NULL)
        return depart(model, open);
    station->departures++;
    station->strays++;
    return 0;
}

/* ---- Roles -------------------------------------------------------------------------------------
 */

static int take_lock(struct probity_model *model, struct probity_model_station *station,
                     struct model_thread *thread, const struct probity_inflight_key *key)
{
    int error = 0;

    if (thread->is_waiting && thread->wait_object == station->object)
        error = probity_duration_stats_add(&station->waits, model->now_ns - thread->wait_since_ns);
    thread->is_waiting = 0;
    return error != 0 ? error : arrive(model, station, key);
}

/* Handles queues and locks: the object identifies the station. */
static int put_at_object(struct probity_model *model, struct model_thread *thread,
                         const struct probity_event *event, enum probity_model_kind kind)
{
    const struct station_key station_key = {kind, event->trace, event->object, NULL};
    /* A read lock may have several holders, one per thread. */
    const struct probity_inflight_key key = {
        kind == PROBITY_MODEL_LOCK ? event->thread_slot : event->correlation, event->object,
        event->trace, kind};
    struct probity_model_station *station;
    int error = find_station(model, &station_key, &station);

    if (error != 0 || station == NULL)
        return error;
    error = count_user(&station->users, thread->last, event->role);
    if (error != 0)
        return error;
    if (event->role == PROBITY_ROLE_QUEUE_PUT)
        return arrive(model, station, &key);
    if (event->role == PROBITY_ROLE_LOCK_HOLD)
        return take_lock(model, station, thread, &key);
    if (event->role == PROBITY_ROLE_LOCK_WAIT) {
        thread->is_waiting = 1;
        thread->wait_object = event->object;
        thread->wait_since_ns = model->now_ns;
        return 0;
    }
    return depart_from(model, station, &key);
}

/* Handles a condition, barrier or join: which threads wait, and how long. */
static int put_condition(struct probity_model *model, const struct model_thread *thread,
                         const struct probity_event *event)
{
    const struct station_key station_key = {PROBITY_MODEL_CONDITION, event->trace, event->object,
                                            NULL};
    const struct probity_inflight_key key = {event->thread_slot, event->object, event->trace,
                                             PROBITY_MODEL_CONDITION};
    struct probity_model_station *station;
    int error = event->has_object ? find_station(model, &station_key, &station) : 0;

    if (!event->has_object || error != 0 || station == NULL)
        return error;
    error = count_user(&station->users, thread->last, event->role);
    if (error != 0)
        return error;
    if (event->role == PROBITY_ROLE_NOTIFY) {
        station->notifies++;
        return 0;
    }
    if (event->role == PROBITY_ROLE_CONDITION_WAIT) {
        station->mutex = event->has_correlation ? event->correlation : 0;
        return arrive(model, station, &key);
    }
    return depart_from(model, station, &key);
}

/* The thread has stopped waiting and did not get the lock. */
static void give_up(struct model_thread *thread, const struct probity_event *event)
{
    if (thread->wait_object == event->object)
        thread->is_waiting = 0;
}

static int put_request(struct probity_model *model, struct model_thread *thread,
                       const struct probity_event *event)
{
    const struct probity_inflight_key key = {event->correlation, 0, event->trace,
                                             PROBITY_MODEL_REQUEST};
    const struct station_key station_key = {PROBITY_MODEL_REQUEST, 0, 0, thread->last->node.probe};
    struct probity_inflight_item *open = NULL;
    struct probity_model_station *station;
    int error = 0;

    if (event->role == PROBITY_ROLE_REQUEST_BEGIN) {
        error = find_station(model, &station_key, &station);
    } else {
        open = probity_inflight_find(&model->open, &key);
        station = open != NULL ? open->owner : NULL;
        model->result.ends_without_begin += open == NULL;
    }
    if (error != 0 || station == NULL)
        return error;
    error = count_user(&station->users, thread->last, event->role);
    if (error != 0)
        return error;
    return open != NULL ? depart(model, open) : arrive(model, station, &key);
}

int probity_model_put_role(struct probity_model *model, struct model_thread *thread,
                           const struct probity_event *event)
{
    switch (event->role) {
    case PROBITY_ROLE_LOCK_WAIT:
    case PROBITY_ROLE_LOCK_HOLD:
    case PROBITY_ROLE_LOCK_RELEASE:
        return put_at_object(model, thread, event, PROBITY_MODEL_LOCK);
    case PROBITY_ROLE_QUEUE_PUT:
    case PROBITY_ROLE_QUEUE_GET:
        return put_at_object(model, thread, event, PROBITY_MODEL_QUEUE);
    case PROBITY_ROLE_REQUEST_BEGIN:
    case PROBITY_ROLE_REQUEST_END: return put_request(model, thread, event);
    case PROBITY_ROLE_CONDITION_WAIT:
    case PROBITY_ROLE_WOKEN:
    case PROBITY_ROLE_NOTIFY: return put_condition(model, thread, event);
    case PROBITY_ROLE_GIVEN_UP: give_up(thread, event); return 0;
    default: return 0;
    }
}
