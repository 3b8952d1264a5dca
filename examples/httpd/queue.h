/* SPDX-License-Identifier: MIT
 *
 * queue.h: readable connections on their way from the listener to the workers; first in, first out.
 *
 * A connection is in the queue at most once: the listener watches it with EPOLLONESHOT, and only
 * the worker that took it has it watched again. There is room for all connections, so a push never
 * waits.
 */
#ifndef HTTPD_QUEUE_H
#define HTTPD_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct connection;

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct connection **items;
    size_t capacity;
    size_t first;
    size_t count;
    bool closed;
};

/* Returns 0, or -1 if out of memory. */
int queue_init(size_t capacity, struct queue *ret_queue);
void queue_release(struct queue *queue);

void queue_push(struct queue *queue, struct connection *connection);

/* Returns the oldest item, for which it waits, or NULL once the queue is closed and empty. */
struct connection *queue_pop(struct queue *queue);

/* Queued items are still returned; nothing more may be pushed. */
void queue_close(struct queue *queue);

#endif
