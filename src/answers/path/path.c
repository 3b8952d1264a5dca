/* SPDX-License-Identifier: MIT
 *
 * path.c: follows spans from beginning to end, and stores the waits of all threads during them.
 * When a span ends and is one of the slowest so far, path_walk.c computes its parts.
 */
#include "answers/path/path.h"

#include <stdlib.h>
#include <string.h>

#include "answers/path/path_internal.h"
#include "base/array_grow.h"
#include "probity_typed.h"

enum { BEGINS = 1, ENDS = 2 };

/* ---- Waits -------------------------------------------------------------------------------------
 */

static void free_wait(struct path_wait *wait)
{
    free(wait->name);
    free(wait->holders);
}

static uint64_t needed_ns(const struct probity_path *path)
{
    const struct path_open *open = path->open.oldest != NULL ? path->open.oldest->owner : NULL;

    return open != NULL ? open->since_ns[0] : UINT64_MAX;
}

static uint64_t states_needed_ns(void *context, uint32_t thread_slot)
{
    (void)thread_slot;
    return needed_ns(context);
}

static void drop_oldest(struct probity_path *path, struct path_thread *thread)
{
    free_wait(&thread->waits[thread->first++]);
    path->wait_count--;
    if (thread->first < 64 || thread->first < thread->count / 2)
        return;
    thread->count -= thread->first;
    memmove(thread->waits, thread->waits + thread->first, thread->count * sizeof *thread->waits);
    thread->first = 0;
}

static struct path_thread *thread_at(struct probity_path *path, uint32_t slot)
{
    if (slot >= path->thread_count) {
        void *grown = probity_array_grow(path->of_threads, sizeof *path->of_threads, slot,
                                         &path->thread_count);
        if (grown == NULL)
            return NULL;
        path->of_threads = grown;
    }
    return &path->of_threads[slot];
}

static int copy_wait(const struct probity_wait *wait, const struct probity_wait_name *name,
                     struct path_wait *ret_wait)
{
    size_t bytes = wait->holder_count * sizeof *wait->holders;
    struct path_wait copy = {wait->kind, name->what, strdup(name->text), name->object,
                             wait->from_ns, wait->to_ns, wait->doing, wait->waker_slot,
                             wait->waker_ns, bytes > 0 ? malloc(bytes) : NULL,
                             wait->holder_count};

    if (copy.name == NULL || (bytes > 0 && copy.holders == NULL)) {
        free_wait(&copy);
        return PROBITY_ERROR_MEMORY;
    }
    if (bytes > 0)
        memcpy(copy.holders, wait->holders, bytes);
    *ret_wait = copy;
    return 0;
}

static int take_wait(void *context, const struct probity_wait *wait,
                     const struct probity_event *event)
{
    struct probity_path *path = context;
    struct path_thread *thread = thread_at(path, wait->thread_slot);
    const struct probity_thread_label *label = path_label(path, wait->thread_slot);
    uint64_t need_ns = needed_ns(path);

    (void)event;
    if (thread == NULL)
        return PROBITY_ERROR_MEMORY;
    if (wait->to_ns <= need_ns || label == NULL)
        return 0;
    while (thread->first < thread->count && thread->waits[thread->first].to_ns <= need_ns)
        drop_oldest(path, thread);
    if (path->wait_count >= PROBITY_PATH_WAITS_MAX && thread->first < thread->count) {
        path->waits_forgotten++;
        drop_oldest(path, thread);
    }
    struct path_wait *waits = probity_array_room(thread->waits, sizeof *waits, thread->count,
                                                 &thread->capacity);
    if (waits == NULL)
        return PROBITY_ERROR_MEMORY;
    thread->waits = waits;
    struct probity_wait completed = *wait;
    int error = probity_wait_names_complete_wait(&path->names, label->trace, &completed);
    struct probity_wait_name name = probity_wait_names_of(&path->names, label->trace, wait);
    if (error == 0 && path->options.waited != NULL)
        error = path->options.waited(path->options.context, &completed, &name);
    if (error == 0)
        error = copy_wait(&completed, &name, &waits[thread->count]);
    thread->count += error == 0;
    path->wait_count += error == 0;
    return error;
}

/* ---- Spans that have ended ---------------------------------------------------------------------
 */

static void free_span(struct probity_path_span *span)
{
    for (size_t i = 0; i < span->link_count; i++) {
        free(span->links[i]->name);
        free(span->links[i]);
    }
    free(span->links);
    free(span->parts);
    free(span);
}

static uint64_t length_of(const struct probity_path_span *span)
{
    return span->to_ns - span->from_ns;
}

/* Adds a span to the slowest ones; takes ownership of it. */
static int keep_span(struct probity_path *path, struct probity_path_span *span)
{
    struct probity_path_span **spans = probity_array_room(path->spans, sizeof *spans,
                                                          path->span_count, &path->span_capacity);
    size_t at = path->span_count;

    if (spans == NULL) {
        free_span(span);
        return PROBITY_ERROR_MEMORY;
    }
    path->spans = spans;
    for (; at > 0 && length_of(spans[at - 1]) < length_of(span); at--)
        spans[at] = spans[at - 1];
    spans[at] = span;
    if (++path->span_count > path->options.slowest)
        free_span(spans[--path->span_count]);
    return 0;
}

static int is_in_range(const struct probity_path_options *options, uint64_t from_ns)
{
    return from_ns >= options->from_ns && (options->to_ns == 0 || from_ns < options->to_ns);
}

static int is_wanted(const struct probity_path_options *options,
                     const struct probity_event *event, uint64_t from_ns, uint64_t to_ns)
{
    if (!is_in_range(options, from_ns))
        return 0;
    if (options->has_request && event->correlation != options->request)
        return 0;
    return options->at_ns == 0 ||
           (from_ns <= options->at_ns && options->at_ns <= to_ns &&
            (options->at_tid == 0 || event->tid == options->at_tid));
}

static int is_of_thread(const struct probity_path *path, uint32_t slot)
{
    const struct probity_path_options *options = &path->options;
    const struct probity_thread_label *label = path_label(path, slot);

    return options->is_wanted == NULL ||
           (label != NULL && options->is_wanted(options->context, label->tid));
}

static int end_span(struct probity_path *path, const struct probity_event *event,
                    const struct path_open *open, int has_id)
{
    const struct probity_path_options *options = &path->options;
    uint64_t from_ns = open->since_ns[0], to_ns = probity_waits_now(path->waits);

    if (!is_wanted(options, event, from_ns, to_ns) || !is_of_thread(path, open->slots[0]) ||
        (path->span_count == options->slowest &&
         length_of(path->spans[path->span_count - 1]) >= to_ns - from_ns))
        return 0;
    struct probity_path_span *span = calloc(1, sizeof *span);
    if (span == NULL)
        return PROBITY_ERROR_MEMORY;
    span->from_ns = from_ns;
    span->to_ns = to_ns;
    span->thread_slot = event->thread_slot;
    span->has_id = has_id;
    span->id = has_id ? event->correlation : 0;
    int error = path_walk(path, open, span);
    if (error != 0)
        free_span(span);
    return error != 0 ? error : keep_span(path, span);
}

/* ---- Spans that are open -----------------------------------------------------------------------
 */

static struct probity_inflight_key shared_key(uint64_t id)
{
    return (struct probity_inflight_key){id, 0, 0, 3};
}

/* Called when the request has ended: its id may be reused for something else, also in other
 * traces. */
static void forget_shared(struct probity_path *path, const struct probity_inflight_key *own)
{
    const struct probity_inflight_key key = shared_key(own->correlation);

    if (own->kind != 0)
        return;
    struct probity_inflight_item *shared = probity_inflight_find(&path->shared, &key);
    if (shared != NULL && shared->thread_slot == own->trace)
        probity_inflight_remove(&path->shared, shared);
}

static void forget_open(struct probity_path *path, struct probity_inflight_item *item)
{
    struct path_open *open = item->owner;

    forget_shared(path, &item->key);
    path->pending -= (uint64_t)open->is_in_range;
    open->next = path->free;
    path->free = open;
    probity_inflight_remove(&path->open, item);
}

/* Returns a span without hops, or NULL if out of memory. */
static struct path_open *new_open(struct probity_path *path)
{
    struct path_open *open = path->free;

    if (open == NULL)
        return calloc(1, sizeof *open);
    path->free = open->next;
    return open;
}

static int begin_span(struct probity_path *path, const struct probity_event *event,
                      const struct probity_inflight_key *key)
{
    struct probity_inflight_item *item = probity_inflight_find(&path->open, key);
    struct path_open *open;

    if (item != NULL) /* its end is missing */
        forget_open(path, item);
    if (path->open.table.items >= PATH_OPEN_MAX) {
        path->open.forgotten++;
        forget_open(path, path->open.oldest);
    }
    open = new_open(path);
    item = open != NULL ? probity_inflight_add(&path->open, key) : NULL;
    if (item == NULL) {
        free(open);
        return PROBITY_ERROR_MEMORY;
    }
    open->slots[0] = event->thread_slot;
    open->is_wire[0] = 0;
    open->since_ns[0] = open->latest_ns = probity_waits_now(path->waits);
    open->hop_count = 1;
    open->is_in_range = is_in_range(&path->options, open->since_ns[0]);
    path->pending += (uint64_t)open->is_in_range;
    item->owner = open;
    return 0;
}

static uint32_t trace_of(const struct probity_path *path, uint32_t slot)
{
    const struct probity_thread_label *label = path_label(path, slot);

    return label != NULL ? label->trace : UINT32_MAX;
}

/* Takes a hit of the same request, possibly in another thread. Between two traces, the time since
 * the latest hit belongs to neither thread. */
static void go_on(struct probity_path *path, struct path_open *open, uint32_t slot)
{
    uint32_t *last = &open->slots[open->hop_count - 1];
    uint64_t now_ns = probity_waits_now(path->waits);
    int is_wire = *last != PROBITY_WAITS_NO_THREAD && *last != slot &&
                  trace_of(path, *last) != trace_of(path, slot);

    if (*last != slot && open->hop_count + (size_t)is_wire < PROBITY_PATH_HOPS_MAX) {
        for (int hop = 0; hop <= is_wire; hop++) {
            open->since_ns[open->hop_count] = hop == is_wire && is_wire ? now_ns : open->latest_ns;
            open->is_wire[open->hop_count] = is_wire && hop == 0;
            open->slots[open->hop_count++] = slot;
        }
    } else if (*last != slot) {
        *last = PROBITY_WAITS_NO_THREAD;
    }
    open->latest_ns = now_ns;
}

/* ---- Requests in several traces (doc/hosts.md) -------------------------------------------------
 */

/* Smaller ids may have another meaning in another trace, unless they were sent. */
#define SHARED_ID_LEAST (UINT64_C(1) << 48)

/* From now on, hits of the id in other traces belong to this request. */
static int share_request(struct probity_path *path, const struct probity_event *event)
{
    const struct probity_inflight_key key = shared_key(event->correlation);
    struct probity_inflight_item *item = probity_inflight_find(&path->shared, &key);

    if (item == NULL) {
        struct probity_inflight_item *surplus = probity_inflight_surplus(&path->shared);
        if (surplus != NULL)
            probity_inflight_remove(&path->shared, surplus);
        item = probity_inflight_add(&path->shared, &key);
    }
    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    item->thread_slot = event->trace;
    probity_inflight_touch(&path->shared, item);
    return 0;
}

/* Returns the request of another trace to which a hit belongs, or NULL. */
static struct probity_inflight_item *find_shared(struct probity_path *path,
                                                 const struct probity_event *event)
{
    const struct probity_inflight_key key = shared_key(event->correlation);
    const struct probity_inflight_item *shared = probity_inflight_find(&path->shared, &key);

    if (shared == NULL || shared->thread_slot == event->trace)
        return NULL;
    return probity_inflight_find(&path->open, &(struct probity_inflight_key){
                                                  event->correlation, 0, shared->thread_slot, 0});
}

static int is_work(const struct probity_path *path, const struct probity_event *event)
{
    return !path->options.is_threadwise && event->kind == PROBITY_EVENT_HIT &&
           event->has_correlation &&
           probity_role_is_of_work(event->role);
}

/* Calls are identified by thread and depth, hits without ids by thread. */
static struct probity_inflight_key key_of(const struct probity_path *path,
                                          const struct probity_event *event)
{
    uint32_t depth = probity_scopes_depth(probity_waits_scopes(path->waits), event->thread_slot);

    if (is_work(path, event))
        return (struct probity_inflight_key){event->correlation, 0, event->trace, 0};
    if (event->kind == PROBITY_EVENT_HIT)
        return (struct probity_inflight_key){event->thread_slot, 0, event->trace, 1};
    return (struct probity_inflight_key){event->thread_slot,
                                         depth + (event->kind == PROBITY_EVENT_LEAVE),
                                         event->trace, 2};
}

static unsigned marks_of(const struct probity_path *path, const struct probity_event *event)
{
    if (path->options.marks != NULL)
        return path->options.marks(path->options.context, event);
    if (!is_work(path, event))
        return 0;
    return event->role == PROBITY_ROLE_REQUEST_BEGIN ? BEGINS
           : event->role == PROBITY_ROLE_REQUEST_END ? ENDS
                                                     : 0;
}

static int put_span(struct probity_path *path, const struct probity_event *event)
{
    unsigned marks = marks_of(path, event);
    int error = 0;

    if (marks == 0 && !is_work(path, event))
        return 0;
    const struct probity_inflight_key key = key_of(path, event);
    struct probity_inflight_item *item = probity_inflight_find(&path->open, &key), *shared;
    if (item == NULL && is_work(path, event) && (shared = find_shared(path, event)) != NULL) {
        go_on(path, shared->owner, event->thread_slot);
        return 0;
    }
    if (item != NULL && is_work(path, event))
        go_on(path, item->owner, event->thread_slot);
    if (item != NULL && marks & ENDS) {
        error = end_span(path, event, item->owner, is_work(path, event));
        forget_open(path, item);
    }
    if (error == 0 && marks & BEGINS)
        error = begin_span(path, event, &key);
    if (error == 0 && is_work(path, event) &&
        ((marks & BEGINS && event->correlation >= SHARED_ID_LEAST) ||
         (item != NULL && event->role == PROBITY_ROLE_SEND)))
        error = share_request(path, event);
    probity_waits_need(path->waits, needed_ns(path));
    return error;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static int know_thread(struct probity_path *path, const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;

    if (slot < path->label_count && path->labels[slot] != NULL)
        return 0;
    if (slot >= path->label_count) {
        void *grown = probity_array_grow(path->labels, sizeof *path->labels, slot,
                                         &path->label_count);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        path->labels = grown;
    }
    path->labels[slot] = probity_thread_table_at(&path->threads, event);
    return path->labels[slot] != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

void probity_path_choose(struct probity_path *path, uint64_t at_ns)
{
    path->options.at_ns = at_ns;
}

/* Called when sites were switched: hits may be missing before or after this time. */
static void forget_all(struct probity_path *path, uint32_t trace)
{
    struct probity_inflight_item *item = path->open.oldest;

    while (item != NULL) {
        struct probity_inflight_item *newer = item->newer;
        if (item->key.trace == trace)
            forget_open(path, item);
        item = newer;
    }
}

int probity_path_note_thread(struct probity_path *path, const struct probity_event *event)
{
    int error = know_thread(path, event);

    return error == 0 && event->kind == PROBITY_EVENT_THREAD_NAME
               ? probity_thread_table_name(&path->threads, event)
               : error;
}

int probity_path_put(struct probity_path *path, const struct probity_event *event)
{
    int error = probity_path_note_thread(path, event);

    if (event->kind == PROBITY_EVENT_SITES_SWITCHED)
        forget_all(path, event->trace);
    if (error != 0)
        return error;
    if (event->kind == PROBITY_EVENT_THREAD_STATE) {
        path->has_states = 1;
        error = probity_thread_states_put(path->states, event);
    }
    if (error != 0)
        return error;
    error = probity_wait_names_put(&path->names, path->waits, event);
    return error == 0 ? put_span(path, event) : error;
}

uint64_t probity_path_pending(const struct probity_path *path)
{
    return path->pending + probity_scopes_pending(probity_waits_scopes(path->waits));
}

const struct probity_path_span *const *probity_path_spans(const struct probity_path *path,
                                                          size_t *ret_count)
{
    *ret_count = path->span_count;
    return (const struct probity_path_span *const *)path->spans;
}

const struct probity_thread_label *probity_path_thread(const struct probity_path *path,
                                                       uint32_t thread_slot)
{
    return path_label(path, thread_slot);
}

/* Whether a part of a path is unknown. */
static int is_incomplete(const struct probity_path *path)
{
    for (size_t i = 0; i < path->span_count; i++) {
        const struct probity_path_span *span = path->spans[i];
        for (size_t part = 0; part < span->part_count; part++) {
            if (span->parts[part].state == PROBITY_PATH_UNKNOWN)
                return 1;
        }
    }
    return 0;
}

/* Without waits, no path leads to another thread, so evicted records of other threads do not
 * matter. Their number would depend on where reading began. */
struct probity_waits_facts probity_path_facts(const struct probity_path *path)
{
    struct probity_waits_facts facts = probity_waits_facts(path->waits);

    facts.holds_forgotten += path->waits_forgotten;
    facts.points_forgotten += probity_thread_states_forgotten(path->states);
    if (facts.waits == 0 && !path->has_states && !is_incomplete(path))
        facts.points_forgotten = 0;
    return facts;
}

const struct probity_scopes_repairs *probity_path_repairs(const struct probity_path *path)
{
    return probity_scopes_repairs(probity_waits_scopes(path->waits));
}

int probity_path_open(const struct probity_path_options *options, struct probity_path **ret_path)
{
    struct probity_path *path = calloc(1, sizeof *path);

    if (path == NULL || probity_waits_open(take_wait, path, &path->waits) != 0) {
        free(path);
        return PROBITY_ERROR_MEMORY;
    }
    if (probity_wait_names_resume(&path->names, path->waits, options->resumed) != 0 ||
        probity_thread_states_open(1, &path->states) != 0) {
        probity_wait_names_release(&path->names);
        probity_waits_close(path->waits);
        free(path);
        return PROBITY_ERROR_MEMORY;
    }
    probity_thread_states_forget(path->states, states_needed_ns, path);
    probity_waits_set_range(path->waits, options->from_ns, options->to_ns);
    path->options = *options;
    path->names.symbols = options->symbols;
    *ret_path = path;
    return 0;
}

void probity_path_close(struct probity_path *path)
{
    for (size_t i = 0; i < path->span_count; i++)
        free_span(path->spans[i]);
    free(path->spans);
    while (path->open.oldest != NULL)
        forget_open(path, path->open.oldest);
    for (struct path_open *open; (open = path->free) != NULL;) {
        path->free = open->next;
        free(open);
    }
    probity_inflight_release(&path->open);
    probity_inflight_release(&path->shared);
    for (uint32_t slot = 0; slot < path->thread_count; slot++) {
        struct path_thread *thread = &path->of_threads[slot];
        while (thread->first < thread->count)
            free_wait(&thread->waits[thread->first++]);
        free(thread->waits);
    }
    free(path->of_threads);
    probity_waits_close(path->waits);
    probity_thread_states_close(path->states);
    probity_wait_names_release(&path->names);
    probity_thread_table_release(&path->threads);
    free(path->labels);
    free(path);
}
