/* SPDX-License-Identifier: MIT
 *
 * merge.h: blocks of all traces to one sequence of events in time order.
 *
 * The earliest next record of all open blocks is the next event, if no front can still bring an
 * earlier one (safe) and no waiting block may begin before it. While one block holds the earliest
 * record, the others are not looked at: `limit` says up to where.
 */
#ifndef PROBITY_READER_MERGE_H
#define PROBITY_READER_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "reader/queue.h"
#include "reader/reader.h"
#include "reader/threads.h"
#include "reader/trace.h"

struct probity_open_block {
    struct probity_record record; /* the next one */
    struct probity_trace *trace;
    struct probity_data data;
    uint64_t order;   /* in the file, then in the spool: the last tie-break */
    uint64_t horizon; /* of the trace */
    uint32_t slot, taken; /* thread; records taken so far */
    uint8_t *bytes;
    size_t capacity;
    struct probity_open_block *next_free;
    struct probity_unpacker unpacker; /* last: its table is large */
};

struct probity_open_entry {
    uint64_t key; /* time of the block's next record */
    struct probity_open_block *block;
};

struct probity_merge {
    struct probity_trace *traces;
    size_t trace_count;
    int by_wall;
    uint64_t from_ns, to_ns; /* both 0: all */
    int may_stop_early; /* wall time never steps back */
    struct probity_queue queue;
    struct probity_open_entry *open; /* a heap, earliest first */
    size_t open_count, open_capacity;
    struct probity_open_block *free_blocks;
    struct probity_threads threads;
    uint64_t safe, limit;
    int all_done; /* no front has anything left */
    int running;  /* the record of open[0] was given out */
    struct probity_event event;
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
};

/* Returns as probity_reader_next(). */
int probity_merge_next(struct probity_merge *merge, const struct probity_event **ret_event);

void probity_merge_release(struct probity_merge *merge);

/* In open_block.c. Opens a waiting block: reads it, checks it, and has its first record ready.
 * Returns 1; 0 where it holds nothing of interest or is damaged (counted); or an error. */
int probity_open_block_load(struct probity_merge *merge, const struct probity_waiting *waiting,
                            struct probity_open_block **ret_block);

/* Readies the next record. Returns 1, or 0 behind the last or where the stream is damaged
 * (counted). */
int probity_open_block_step(struct probity_open_block *block);

/* Keeps the block for later use. */
void probity_open_block_recycle(struct probity_merge *merge, struct probity_open_block *block);

#endif
