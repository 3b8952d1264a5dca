/* SPDX-License-Identifier: MIT
 *
 * queue.h: blocks that wait for the merge to reach their first tick: a heap by time.
 */
#ifndef PROBITY_READER_QUEUE_H
#define PROBITY_READER_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct probity_waiting {
    uint64_t key;     /* time of the merge at which it opens: ticks or wall ns */
    uint64_t tick;    /* its first tick, or less */
    uint64_t offset;  /* in the file; of a spool chunk: its place in the rest */
    uint32_t bytes;   /* of the block; 0: a spool chunk */
    uint32_t trace;
};

struct probity_queue {
    struct probity_waiting *items;
    size_t count, capacity;
};

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_queue_push(struct probity_queue *queue, const struct probity_waiting *item);

/* Takes the earliest away. The queue is not empty. */
struct probity_waiting probity_queue_pop(struct probity_queue *queue);

void probity_queue_release(struct probity_queue *queue);

#endif
