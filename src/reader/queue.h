/* SPDX-License-Identifier: MIT
 *
 * queue.h: blocks waiting for the merge to reach their first tick: a heap by time.
 */
#ifndef PROBITY_READER_QUEUE_H
#define PROBITY_READER_QUEUE_H

#include <stddef.h>
#include <stdint.h>

/* Bit of a waiting block's offset: it is in the index, not in the trace. */
#define PROBITY_WAITING_IN_INDEX (UINT64_C(1) << 63)

/* The same bit for a block in TRACE.sched. */
#define PROBITY_WAITING_IN_SCHED (UINT64_C(1) << 62)

struct probity_waiting {
    uint64_t key;     /* merge time at which it opens: ticks or wall ns */
    uint64_t tick;    /* its first tick, or earlier */
    uint64_t offset;  /* in the file; of a spool chunk: its index in the spool tail */
    uint32_t bytes;   /* size of the block; 0: a spool chunk */
    uint32_t trace;
};

struct probity_queue {
    struct probity_waiting *items;
    size_t count, capacity;
    uint64_t trace_bytes; /* sum for the blocks that are in traces */
};

/* Whether no item is earlier than the one above it. */
int probity_queue_is_valid(const struct probity_queue *queue);

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_queue_push(struct probity_queue *queue, const struct probity_waiting *item);

/* Removes and returns the earliest block. The queue must not be empty. */
struct probity_waiting probity_queue_pop(struct probity_queue *queue);

void probity_queue_release(struct probity_queue *queue);

#endif
