/* SPDX-License-Identifier: MIT
 *
 * blocks.h: writes thread states as DATA blocks, first to a temporary file: a block is written when
 * it is full, and at the end each trace gets the blocks that belong to it. Memory: 4 KiB for each
 * live thread, 24 bytes for each block.
 */
#ifndef PROBITY_SCHED_BLOCKS_H
#define PROBITY_SCHED_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "format/stream.h"

/* The current block of a thread. All zero: none. */
struct probity_sched_stream {
    uint32_t trace, thread, tid;
    uint32_t records;
    uint64_t first_tick;
    struct probity_packer packer;
    uint8_t *bytes; /* NULL: no event yet */
};

/* A block in the file; its header is not complete. */
struct probity_sched_written {
    uint64_t offset;
    uint32_t bytes, events, trace;
};

struct probity_sched_blocks {
    int file;
    uint64_t file_bytes;
    struct probity_sched_written *items;
    size_t count, capacity;
    uint64_t table[PROBITY_STREAM_TABLE]; /* required by packers; events do not use it */
};

/* Appends a state; a tick below the latest one of the stream is raised to it. Returns 0,
 * PROBITY_ERROR_MEMORY, or PROBITY_ERROR_WRITE with errno set. */
int probity_sched_blocks_put(struct probity_sched_blocks *blocks,
                             struct probity_sched_stream *stream, uint64_t tick,
                             const struct probity_state_event *event);

/* Writes the stream's events, and releases its memory. Returns the same as
 * probity_sched_blocks_put(). */
int probity_sched_blocks_end(struct probity_sched_blocks *blocks,
                             struct probity_sched_stream *stream);

/* Closes the file. */
void probity_sched_blocks_release(struct probity_sched_blocks *blocks);

#endif
