/* SPDX-License-Identifier: MIT
 *
 * queue.c: a ring of pointers under one mutex. Pushed by the listener, popped by all workers.
 */
#define _GNU_SOURCE 1
#include "queue.h"

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

void queue_push(struct queue *queue, struct connection *connection)
{
    pthread_mutex_lock(&queue->lock);
    assert(queue->count < queue->capacity && !queue->closed);
    queue->items[(queue->first + queue->count) % queue->capacity] = connection;
    queue->count++;
    pthread_mutex_unlock(&queue->lock);
    /* Behind the unlock: the woken worker then does not run into a held lock. */
    pthread_cond_signal(&queue->changed);
}

struct connection *queue_pop(struct queue *queue)
{
    struct connection *connection = NULL;

    pthread_mutex_lock(&queue->lock);
    while (queue->count == 0 && !queue->closed)
        pthread_cond_wait(&queue->changed, &queue->lock);
    if (queue->count > 0) {
        connection = queue->items[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->count--;
    }
    pthread_mutex_unlock(&queue->lock);
    return connection;
}

void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_mutex_unlock(&queue->lock);
    pthread_cond_broadcast(&queue->changed);
}
