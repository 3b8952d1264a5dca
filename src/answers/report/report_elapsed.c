/* SPDX-License-Identifier: MIT
 *
 * report_elapsed.c: each part fills a buffer without the lock, and appends it to its queue under
 * the lock. The part that does so also merges what both parts have passed. If one part waits, since
 * its queue is full, the other one can still append: once it has come to the time of the first
 * one's items, all of these are merged.
 */
#include "answers/report/report_elapsed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "probity.h"

enum { BUFFER = 1024, QUEUE = 16 * BUFFER, EVENTS_MAX = 4096 };

struct item {
    struct probity_elapsed_function *function;
    uint64_t event_ns, at_ns;
    int is_enter;
};

struct part {
    /* Of its thread. */
    _Alignas(64) struct item buffer[BUFFER];
    size_t buffered, events; /* events: since it last passed on its time */

    /* Under the lock. */
    _Alignas(64) struct item *queue; /* a ring */
    size_t first, count;
    uint64_t passed_ns; /* it puts nothing earlier any more */
};

struct shared {
    struct probity_report_elapsed public;
    pthread_mutex_t lock;
    pthread_cond_t has_room;
    struct probity_same_functions functions;
    struct part parts[2];
};

/* ---- Under the lock ----------------------------------------------------------------------------
 */

static void apply(const struct item *item)
{
    struct probity_active_time *elapsed = &item->function->elapsed;

    if (item->is_enter)
        probity_active_time_enter(elapsed, item->at_ns);
    else
        probity_active_time_leave(elapsed, item->at_ns);
}

/* The earliest item of both parts that no other item can precede; NULL: none. */
static struct part *earliest(struct shared *elapsed)
{
    struct part *parts = elapsed->parts, *found = NULL;
    uint64_t limit_ns = parts[0].passed_ns < parts[1].passed_ns ? parts[0].passed_ns
                                                                : parts[1].passed_ns;

    for (int i = 0; i < 2; i++) {
        if (parts[i].count == 0 || parts[i].queue[parts[i].first].event_ns > limit_ns)
            continue;
        if (found == NULL ||
            parts[i].queue[parts[i].first].event_ns < found->queue[found->first].event_ns)
            found = &parts[i];
    }
    return found;
}

static void merge(struct shared *elapsed)
{
    struct part *part;

    while ((part = earliest(elapsed)) != NULL) {
        apply(&part->queue[part->first]);
        part->first = (part->first + 1) % QUEUE;
        part->count--;
    }
}

/* Appends the buffer, and says how far the part has come. */
static void pass(struct shared *elapsed, struct part *part, uint64_t event_ns)
{
    /* Until the buffer is in the queue, the part has only come to its first item. */
    uint64_t first_ns = part->buffered > 0 ? part->buffer[0].event_ns : event_ns;

    pthread_mutex_lock(&elapsed->lock);
    if (part->passed_ns < first_ns)
        part->passed_ns = first_ns;
    merge(elapsed);
    pthread_cond_broadcast(&elapsed->has_room);
    while (QUEUE - part->count < part->buffered)
        pthread_cond_wait(&elapsed->has_room, &elapsed->lock);
    for (size_t i = 0; i < part->buffered; i++)
        part->queue[(part->first + part->count++) % QUEUE] = part->buffer[i];
    if (part->passed_ns < event_ns)
        part->passed_ns = event_ns;
    merge(elapsed);
    pthread_cond_broadcast(&elapsed->has_room);
    pthread_mutex_unlock(&elapsed->lock);
    part->buffered = part->events = 0;
}

/* ---- Of one part -------------------------------------------------------------------------------
 */

static struct probity_elapsed_function *find(struct probity_report_elapsed *elapsed,
                                             const struct probity_function_key *key)
{
    struct shared *shared = (struct shared *)elapsed;

    pthread_mutex_lock(&shared->lock);
    struct probity_same_function *same = probity_same_function_at(&shared->functions, key);
    pthread_mutex_unlock(&shared->lock);
    return (struct probity_elapsed_function *)same;
}

static void put(struct probity_report_elapsed *elapsed, int part,
                struct probity_elapsed_function *function, int is_enter, uint64_t at_ns,
                uint64_t event_ns)
{
    struct shared *shared = (struct shared *)elapsed;
    struct part *own = &shared->parts[part];

    probity_assert(own->buffered < BUFFER);
    own->buffer[own->buffered++] = (struct item){function, event_ns, at_ns, is_enter};
    if (own->buffered == BUFFER)
        pass(shared, own, event_ns);
}

static void reach(struct probity_report_elapsed *elapsed, int part, uint64_t event_ns)
{
    struct shared *shared = (struct shared *)elapsed;

    if (++shared->parts[part].events == EVENTS_MAX)
        pass(shared, &shared->parts[part], event_ns);
}

static void end(struct probity_report_elapsed *elapsed, int part)
{
    struct shared *shared = (struct shared *)elapsed;

    pass(shared, &shared->parts[part], UINT64_MAX);
}

/* ---- Interface ---------------------------------------------------------------------------------
 */

int probity_report_elapsed_give(struct probity_report_elapsed *elapsed,
                                struct probity_report *report)
{
    struct shared *shared = (struct shared *)elapsed;
    int error = 0;

    for (int i = 0; i < 2; i++)
        pass(shared, &shared->parts[i], UINT64_MAX);
    const struct probity_same_function *same = shared->functions.items;
    for (; error == 0 && same != NULL; same = same->next)
        error = probity_report_set_elapsed(
            report, &same->key, &((const struct probity_elapsed_function *)same)->elapsed);
    return error;
}

int probity_report_elapsed_open(struct probity_report_elapsed **ret_elapsed)
{
    static const struct probity_report_elapsed_steps steps = {find, put, reach, end};
    struct shared *shared = aligned_alloc(_Alignof(struct shared), sizeof *shared);

    if (shared == NULL)
        return PROBITY_ERROR_MEMORY;
    memset(shared, 0, sizeof *shared);
    shared->public.steps = &steps;
    for (int i = 0; i < 2; i++)
        shared->parts[i].queue = malloc(QUEUE * sizeof *shared->parts[i].queue);
    shared->functions.item_bytes = sizeof(struct probity_elapsed_function);
    pthread_mutex_init(&shared->lock, NULL);
    pthread_cond_init(&shared->has_room, NULL);
    if (shared->parts[0].queue == NULL || shared->parts[1].queue == NULL) {
        probity_report_elapsed_close(&shared->public);
        return PROBITY_ERROR_MEMORY;
    }
    *ret_elapsed = &shared->public;
    return 0;
}

void probity_report_elapsed_close(struct probity_report_elapsed *elapsed)
{
    struct shared *shared = (struct shared *)elapsed;

    pthread_mutex_destroy(&shared->lock);
    pthread_cond_destroy(&shared->has_room);
    probity_same_functions_release(&shared->functions);
    free(shared->parts[0].queue);
    free(shared->parts[1].queue);
    free(shared);
}
