/* SPDX-License-Identifier: MIT
 *
 * queue.c: a ring of pointers under one mutex. Pushed by the listener, popped by all workers.
 */
#define _GNU_SOURCE 1
#include "queue.h"

#include "stages.h"

#include <assert.h>
#include <stdlib.h>

int queue_init(size_t capacity, struct queue *ret_queue)
{
    struct connection **items = calloc(capacity, sizeof(*items));

    if (!items)
        return -1;
    *ret_queue = (struct queue){.items = items, .capacity = capacity};
    pthread_mutex_init(&ret_queue->lock, NULL);
    pthread_cond_init(&ret_queue->changed, NULL);
    return 0;
}

void queue_release(struct queue *queue)
{
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    free(queue->items);
    queue->items = NULL;
}

/* If the lock is free, as it usually is, no wait is recorded. */
static void queue_lock(struct queue *queue)
{
    if (pthread_mutex_trylock(&queue->lock) != 0) {
        QUEUE_LOCK_WAITED_FOR(&queue->lock);
        pthread_mutex_lock(&queue->lock);
    }
    QUEUE_LOCK_HELD(&queue->lock);
}

static void queue_unlock(struct queue *queue)
{
    QUEUE_LOCK_RELEASED(&queue->lock);
    pthread_mutex_unlock(&queue->lock);
}

/* Releases the lock while it waits. */
static void queue_wait(struct queue *queue)
{
    QUEUE_LOCK_RELEASED(&queue->lock);
    pthread_cond_wait(&queue->changed, &queue->lock);
    QUEUE_LOCK_HELD(&queue->lock);
}

void queue_push(struct queue *queue, struct connection *connection)
{
    queue_lock(queue);
    assert(queue->count < queue->capacity && !queue->closed);
    queue->items[(queue->first + queue->count) % queue->capacity] = connection;
    queue->count++;
    queue_unlock(queue);
    /* After the unlock, so that the woken worker does not find the lock held. */
    pthread_cond_signal(&queue->changed);
}

struct connection *queue_pop(struct queue *queue)
{
    struct connection *connection = NULL;

    queue_lock(queue);
    while (queue->count == 0 && !queue->closed)
        queue_wait(queue);
    if (queue->count > 0) {
        connection = queue->items[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->count--;
    }
    queue_unlock(queue);
    return connection;
}

void queue_close(struct queue *queue)
{
    queue_lock(queue);
    queue->closed = true;
    queue_unlock(queue);
    pthread_cond_broadcast(&queue->changed);
}
