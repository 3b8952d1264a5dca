/* SPDX-License-Identifier: MIT
 *
 * ahead.c: a ring of batches between two threads. The second thread runs the merge and writes each
 * event into a batch, in a short form; the reader's thread turns it back into an event. Anything
 * that must happen between two events in the reader's thread is also an item of the batch: the end,
 * an error, a function whose symbol must be looked up, a name that is no longer referred to.
 *
 *     merge ──► batch being filled ──► full batches ──► batch being read ──► events
 *                                  ◄── free batches ◄──
 *
 * Either thread sleeps if it has no batch, and is woken only when there are several.
 */
#include "reader/ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/helper_thread.h"
#include "probity.h"
#include "reader/ahead_items.h"

/* All of them fit into the second-level cache of a CPU. One holds the longest event. */
enum { BATCH_BYTES = 16384, BATCHES = 32, WAKE_FULL = 4, WAKE_FREE = 12 };

/* An event that is not a hit, enter or leave of one word. Its payload follows. */
struct rare_item {
    struct probity_run_event event;
    const char *name;
    const struct probity_function *function;
    const struct probity_format *format;
    uint64_t correlation, object, place, entered_tick, entered_wall_ns;
    uint32_t kind, id, name_bytes, payload_bytes, values_at, value_bytes, role;
    uint8_t is_site, is_raised, has_correlation, has_object, has_place;
};

struct pointer_item {
    struct probity_run_item head;
    void *pointer;
};

struct end_item {
    struct probity_run_item head;
    int result, error_number;
};

struct batch {
    size_t used;
    uint64_t done, total; /* progress; total 0: none to report */
    uint8_t items[BATCH_BYTES];
};

struct probity_ahead {
    /* Used by both threads, under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t has_full, has_free;
    unsigned full; /* batches that are full or being read */
    int wants_full, wants_free, is_stopping;

    /* Used by the second thread. */
    struct probity_merge *merge;
    uint64_t until_ns;
    /* Filled here and copied when full: the ring's cache lines were last used by the other CPU, so
     * storing single words there would wait for each line. */
    struct batch filled;
    unsigned next_filled; /* index of the batch that it becomes */
    int is_over;          /* the batches are no longer read */
    struct probity_ahead_room room; /* room in the batch being filled */
    struct probity_ahead_places places;

    /* Used by the reader's thread. */
    pthread_t thread;
    _Alignas(64) const uint8_t *at;
    const uint8_t *end;
    unsigned next_read;
    int is_reading; /* the thread holds a batch */
    struct probity_ahead_facts facts;
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;

    struct batch *batches;
};

/* ---- The second thread -------------------------------------------------------------------------
 */

static size_t item_bytes(const struct probity_run_item *item)
{
    probity_assert(item->item <= ITEM_END);
    return item->item == ITEM_EVENT ? sizeof(struct probity_run_event) : item->number;
}

/* Frees the names in a batch that is not read. */
static void drop_items(const uint8_t *at, const uint8_t *end)
{
    probity_assert(at <= end);
    while (at < end) {
        const struct probity_run_item *item = (const struct probity_run_item *)(const void *)at;
        if (item->item == ITEM_RENAMED)
            free(((const struct pointer_item *)(const void *)at)->pointer);
        at += item_bytes(item);
    }
}

static void begin_batch(struct probity_ahead *ahead)
{
    ahead->room.at = ahead->filled.items;
    ahead->room.end = ahead->filled.items + BATCH_BYTES;
    probity_assert(ahead->room.at < ahead->room.end);
    ahead->filled.done = ahead->filled.total = 0;
}

/* Passes the batch on and waits for a free one. */
static void pass_batch(struct probity_ahead *ahead, int is_last)
{
    struct batch *batch = &ahead->batches[ahead->next_filled];

    probity_assert(ahead->room.at <= ahead->room.end);
    ahead->filled.used = (size_t)(ahead->room.at - ahead->filled.items);
    memcpy(batch, &ahead->filled, offsetof(struct batch, items) + ahead->filled.used);
    pthread_mutex_lock(&ahead->lock);
    ahead->full++;
    probity_assert(ahead->full <= BATCHES);
    if (ahead->wants_full && (ahead->full >= WAKE_FULL || is_last)) {
        ahead->wants_full = 0;
        pthread_cond_signal(&ahead->has_full);
    }
    while (ahead->full == BATCHES && !ahead->is_stopping && !is_last) {
        ahead->wants_free = 1;
        pthread_cond_wait(&ahead->has_free, &ahead->lock);
    }
    ahead->is_over = ahead->is_stopping;
    if (ahead->is_over)
        ahead->full--;
    pthread_mutex_unlock(&ahead->lock);
    if (ahead->is_over)
        drop_items(ahead->filled.items, ahead->room.at);
    else if (!is_last)
        ahead->next_filled = (ahead->next_filled + 1) % BATCHES;
    if (!is_last || ahead->is_over)
        begin_batch(ahead);
}

/* Returns room for an item, with its head filled in. */
static void *put_item(struct probity_ahead *ahead, enum item_kind kind, size_t bytes)
{
    probity_assert(bytes <= BATCH_BYTES);
    bytes = (bytes + 7) & ~(size_t)7;
    if ((size_t)(ahead->room.end - ahead->room.at) < bytes)
        pass_batch(ahead, 0);
    return probity_ahead_put(&ahead->room, kind, bytes);
}

static void put_pointer(struct probity_ahead *ahead, enum item_kind kind, void *pointer)
{
    struct pointer_item *item = put_item(ahead, kind, sizeof *item);

    item->pointer = pointer;
}

static void put_renamed(void *context, char *name)
{
    struct probity_ahead *ahead = context;

    if (ahead->is_over)
        free(name);
    else
        put_pointer(ahead, ITEM_RENAMED, name);
}

static void put_declared(void *context, struct probity_function_item *function)
{
    put_pointer(context, ITEM_DECLARED, function);
}

static void put_rare(struct probity_ahead *ahead, const struct probity_event *event, uint16_t run)
{
    struct rare_item *item = put_item(ahead, ITEM_RARE, sizeof *item + event->payload_bytes);

    probity_assert(event->payload_bytes <= PROBITY_EVENT_BYTES_MAX);
    item->event.head.run = run;
    item->event.tick = event->tick;
    item->event.wall_ns = event->wall_ns;
    item->event.cpu_ns = event->cpu_ns;
    item->name = event->name;
    item->function = event->function;
    item->format = event->format;
    item->correlation = event->correlation;
    item->object = event->object;
    item->place = event->place;
    item->entered_tick = event->entered_tick;
    item->entered_wall_ns = event->entered_wall_ns;
    item->kind = event->kind;
    item->id = event->id;
    item->name_bytes = (uint32_t)event->name_bytes;
    item->payload_bytes = (uint32_t)event->payload_bytes;
    item->values_at =
        event->values != NULL ? (uint32_t)(event->values - event->payload) : UINT32_MAX;
    item->value_bytes = (uint32_t)event->value_bytes;
    item->role = event->role;
    item->is_site = (uint8_t)event->is_site;
    item->is_raised = (uint8_t)event->is_raised;
    item->has_correlation = (uint8_t)event->has_correlation;
    item->has_object = (uint8_t)event->has_object;
    item->has_place = (uint8_t)event->has_place;
    memcpy(item + 1, event->payload, event->payload_bytes);
}

/* Writes the event that the merge has returned. */
static void put_event(struct probity_ahead *ahead, const struct probity_event *event)
{
    const struct probity_open_block *block = ahead->merge->open[0].block;

    if (ahead->room.end - ahead->room.at < PROBITY_AHEAD_EVENT_BYTES_MAX)
        pass_batch(ahead, 0);
    uint16_t run = probity_ahead_put_run(&ahead->places, &ahead->room, block);
    if (event->payload != NULL) {
        put_rare(ahead, event, run);
        return;
    }
    uint32_t code = probity_ahead_put_code(&ahead->places, &ahead->room, block->trace,
                                           block->record.code);
    probity_assert(code < PROBITY_AHEAD_CODES && run < PROBITY_AHEAD_RUNS);
    struct probity_run_event *item = probity_ahead_put(&ahead->room, ITEM_EVENT, sizeof *item);
    item->head.run = run;
    item->head.number = code;
    item->tick = event->tick;
    item->wall_ns = event->wall_ns;
    item->cpu_ns = event->cpu_ns;
}

/* Writes most events. */
static void put_hits(struct probity_ahead *ahead)
{
    for (;;) {
        probity_ahead_hits(ahead->merge, &ahead->places, ahead->until_ns, &ahead->room);
        if (ahead->is_over || ahead->room.end - ahead->room.at >= PROBITY_AHEAD_EVENT_BYTES_MAX)
            return;
        pass_batch(ahead, 0);
    }
}

static void put_end(struct probity_ahead *ahead, int result)
{
    int error_number = errno;
    struct end_item *item = put_item(ahead, ITEM_END, sizeof *item);

    item->result = result;
    item->error_number = error_number;
    pass_batch(ahead, 1);
}

/* Called by the merge. */
static void note_progress(void *context, uint64_t done, uint64_t total)
{
    struct probity_ahead *ahead = context;

    ahead->filled.done = done;
    ahead->filled.total = total;
    if (ahead->room.at == ahead->filled.items && !ahead->is_over)
        pass_batch(ahead, 0);
}

static void *read_ahead(void *context)
{
    struct probity_ahead *ahead = context;
    const struct probity_event *event;

    while (!ahead->is_over) {
        int got = probity_merge_next(ahead->merge, &event);
        if (got == 1) {
            put_event(ahead, event);
            put_hits(ahead);
        }
        if (got != 1 || event->wall_ns >= ahead->until_ns) {
            put_end(ahead, got != 1 ? got : PROBITY_AHEAD_OVER);
            break;
        }
    }
    return NULL;
}

/* ---- The reader's thread -----------------------------------------------------------------------
 */

static void return_batch(struct probity_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    probity_assert(ahead->full > 0);
    ahead->full--;
    if (ahead->wants_free && ahead->full <= BATCHES - WAKE_FREE) {
        ahead->wants_free = 0;
        pthread_cond_signal(&ahead->has_free);
    }
    pthread_mutex_unlock(&ahead->lock);
    ahead->next_read = (ahead->next_read + 1) % BATCHES;
}

static void take_batch(struct probity_ahead *ahead)
{
    if (ahead->is_reading)
        return_batch(ahead);
    ahead->is_reading = 1;
    pthread_mutex_lock(&ahead->lock);
    while (ahead->full == 0) {
        ahead->wants_full = 1;
        pthread_cond_wait(&ahead->has_full, &ahead->lock);
    }
    pthread_mutex_unlock(&ahead->lock);
    const struct batch *batch = &ahead->batches[ahead->next_read];
    ahead->at = batch->items;
    ahead->end = batch->items + batch->used;
    probity_assert(batch->used <= BATCH_BYTES);
    if (batch->total != 0 && ahead->progress != NULL)
        ahead->progress(ahead->progress_context, batch->done, batch->total);
}

static inline void take_common(struct probity_ahead *ahead, const struct probity_run_event *item)
{
    struct probity_event *event = &ahead->facts.event;

    if (__builtin_expect(item->head.run != ahead->facts.run, 0))
        probity_ahead_take_run(&ahead->facts, item->head.run);
    event->tick = item->tick;
    event->wall_ns = item->wall_ns;
    event->cpu_ns = item->cpu_ns;
}

static void take_rare(struct probity_ahead *ahead, const struct rare_item *item)
{
    struct probity_event *event = &ahead->facts.event;

    take_common(ahead, &item->event);
    event->kind = item->kind;
    event->id = item->id;
    event->is_site = item->is_site;
    event->is_raised = item->is_raised;
    event->name = item->name;
    event->name_bytes = item->name_bytes;
    event->payload = (const uint8_t *)(item + 1);
    event->payload_bytes = item->payload_bytes;
    event->function = item->function;
    event->format = item->format;
    event->values = item->values_at != UINT32_MAX ? event->payload + item->values_at : NULL;
    event->value_bytes = item->value_bytes;
    event->role = item->role;
    event->has_correlation = item->has_correlation;
    event->has_object = item->has_object;
    event->has_place = item->has_place;
    event->correlation = item->correlation;
    event->object = item->object;
    event->place = item->place;
    event->entered_tick = item->entered_tick;
    event->entered_wall_ns = item->entered_wall_ns;
}

/* Handles an item that is not a plain event. Returns 1 with the result for next, or 0 to
 * continue. */
static int take_other(struct probity_ahead *ahead, const void *item, int *ret_result)
{
    const struct end_item *end = item;

    switch (((const struct probity_run_item *)item)->item) {
    case ITEM_CODE: probity_ahead_store_code(&ahead->facts, item); return 0;
    case ITEM_RUN: probity_ahead_store_run(&ahead->facts, item); return 0;
    case ITEM_DECLARED:
        probity_function_complete(((const struct pointer_item *)item)->pointer);
        return 0;
    case ITEM_RENAMED: free(((const struct pointer_item *)item)->pointer); return 0;
    case ITEM_RARE:
        take_rare(ahead, item);
        *ret_result = 1;
        return 1;
    default:
        errno = end->error_number;
        *ret_result = end->result;
        return 1;
    }
}

static inline void take_event(struct probity_ahead *ahead, const struct probity_run_event *item)
{
    struct probity_event *event = &ahead->facts.event;
    const struct probity_run_code *code = &ahead->facts.codes[item->head.number];

    probity_assert(item->head.number < PROBITY_AHEAD_CODES);
    __builtin_prefetch(item + 16);

    if (__builtin_expect(event->payload != NULL, 0)) /* left by the previous event */
        probity_event_clear(event);
    take_common(ahead, item);
    probity_run_set_code(event, code);
}

static int next_event(struct probity_ahead *ahead, const struct probity_event **ret_event)
{
    int result = 0;

    probity_assert(ahead->at <= ahead->end);
    *ret_event = &ahead->facts.event;
    for (;;) {
        while (__builtin_expect(ahead->at == ahead->end, 0))
            take_batch(ahead);
        const void *item = ahead->at;
        if (__builtin_expect(((const struct probity_run_item *)item)->item == ITEM_EVENT, 1)) {
            ahead->at += sizeof(struct probity_run_event);
            take_event(ahead, item);
            return 1;
        }
        ahead->at += ((const struct probity_run_item *)item)->number;
        if (take_other(ahead, item, &result))
            return result;
    }
}

static size_t next_run(struct probity_ahead *ahead, uint64_t end_ns, struct probity_run *ret_run)
{
    return probity_ahead_next_run(&ahead->facts, &ahead->at, ahead->end, end_ns, ret_run);
}

/* ---- Start and end -----------------------------------------------------------------------------
 */

/* Redirects the merge's callbacks, because the second thread calls them. */
static void redirect(struct probity_ahead *ahead)
{
    struct probity_merge *merge = ahead->merge;

    ahead->progress = merge->progress;
    ahead->progress_context = merge->progress_context;
    if (merge->progress != NULL) {
        merge->progress = note_progress;
        merge->progress_context = ahead;
    }
    for (size_t i = 0; i < merge->trace_count; i++) {
        struct probity_trace *trace = &merge->traces[i];
        trace->names.renamed = put_renamed;
        trace->functions.declared = put_declared;
        trace->names.context = trace->functions.context = ahead;
    }
}

static void redirect_back(struct probity_ahead *ahead)
{
    struct probity_merge *merge = ahead->merge;

    merge->progress = ahead->progress;
    merge->progress_context = ahead->progress_context;
    for (size_t i = 0; i < merge->trace_count; i++) {
        struct probity_trace *trace = &merge->traces[i];
        trace->names.renamed = NULL;
        trace->functions.declared = NULL;
        trace->names.context = trace->functions.context = NULL;
        probity_names_refresh(&trace->names);
    }
}

static void release(struct probity_ahead *ahead)
{
    pthread_cond_destroy(&ahead->has_free);
    pthread_cond_destroy(&ahead->has_full);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead->batches);
    free(ahead);
}

static int start(struct probity_merge *merge, uint64_t until_ns, struct probity_ahead **ret_ahead)
{
    struct probity_ahead *ahead = aligned_alloc(64, sizeof *ahead);

    if (ahead == NULL)
        return PROBITY_ERROR_MEMORY;
    *ahead = (struct probity_ahead){.merge = merge, .until_ns = until_ns,
                                    .facts = {.run = UINT32_MAX}};
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->has_full, NULL);
    pthread_cond_init(&ahead->has_free, NULL);
    ahead->batches = malloc(BATCHES * sizeof *ahead->batches);
    int error = ahead->batches != NULL ? 0 : PROBITY_ERROR_MEMORY;
    if (error == 0) {
        begin_batch(ahead);
        redirect(ahead);
        error = probity_helper_thread_start(&ahead->thread, read_ahead, ahead) == 0
                    ? 0 : PROBITY_ERROR_MEMORY;
        if (error != 0)
            redirect_back(ahead);
    }
    if (error != 0)
        release(ahead);
    else
        *ret_ahead = ahead;
    return error;
}

static void stop(struct probity_ahead *ahead)
{
    probity_assert(!ahead->is_stopping);
    pthread_mutex_lock(&ahead->lock);
    ahead->is_stopping = 1;
    pthread_cond_signal(&ahead->has_free);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    /* Drop unread items: the rest of the batch being read, and all other batches. */
    drop_items(ahead->at, ahead->end);
    if (ahead->is_over)
        drop_items(ahead->filled.items, ahead->room.at);
    for (unsigned i = ahead->is_reading ? 1 : 0; i < ahead->full; i++) {
        const struct batch *batch = &ahead->batches[(ahead->next_read + i) % BATCHES];
        drop_items(batch->items, batch->items + batch->used);
    }
    redirect_back(ahead);
}

const struct probity_ahead_steps probity_ahead_steps = {start, next_event, next_run, stop, release};
