/* SPDX-License-Identifier: MIT
 *
 * merge.h: merges blocks of all traces into one sequence of events in time order.
 *
 * The next event is the earliest of the next records of open blocks, if no scan cursor can still
 * find an earlier record (safe) and no waiting block may begin before it. Up to `limit`, the first
 * block has the earliest record, and the others are not examined.
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
    struct probity_record record; /* the next record */
    struct probity_trace *trace;
    struct probity_data data;
    uint64_t order;   /* position in the file, then in the spool: the last tie-breaker */
    uint64_t horizon; /* horizon of the trace */
    uint64_t serial;  /* unique number of the block */
    uint32_t slot, taken; /* thread; number of records taken so far */
    int is_of_other_lane; /* only declarations and other events that concern all threads are used */
    uint8_t *bytes;
    size_t capacity;
    struct probity_open_block *next_free;
    struct probity_unpacker unpacker; /* last, because its table is large */
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
    int may_stop_early; /* wall time never decreases */
    int is_skipping;    /* only declarations at skip_key or later are still needed */
    uint64_t skip_key;
    int is_next_only;    /* of each thread, only the next record is still needed */
    size_t next_slots, next_threads; /* threads seen before; those still without it */
    uint64_t next_key;   /* declarations at it or later are also needed */
    struct probity_queue queue;
    struct probity_open_entry *open; /* a heap, earliest first */
    size_t open_count, open_capacity;
    struct probity_open_block *free_blocks;
    struct probity_threads_seen threads;
    uint64_t safe, limit;
    int all_done; /* all scan cursors are at the end */
    int running;  /* the record of open[0] was returned */
    uint64_t loads; /* number of blocks */
    uint64_t opened; /* the same, including those left out; counted only for the progress */
    struct probity_event event;
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
};

/* Whether the first open blocks are in heap order, each with the slot of a known thread. */
int probity_merge_is_valid(const struct probity_merge *merge);

/* Returns the same as probity_reader_next(). */
int probity_merge_next(struct probity_merge *merge, const struct probity_event **ret_event);

/* Numbers the threads that began before the window, in the order in which a reader of the whole
 * traces finds them. Each trace has an index with a chosen mark. Returns 0 or an error. */
int probity_merge_number_threads(struct probity_merge *merge);

/* Drops all blocks, and continues with the declarations after the last record returned. Returns 0
 * or PROBITY_ERROR_MEMORY. */
int probity_merge_skip_rest(struct probity_merge *merge);

/* From now on, returns only the next record of each thread seen so far, after any loss of records
 * before it, and then the declarations after the last record returned. */
void probity_merge_next_only(struct probity_merge *merge);

void probity_merge_release(struct probity_merge *merge);

/* Steps to the next event, for ahead_hits.c. Moves the first open block to the place of its new
 * key. */
void probity_merge_replace_first(struct probity_merge *merge, struct probity_open_entry entry);

/* Sets the limit for the first open block. */
void probity_merge_set_limit(struct probity_merge *merge);

/* Sets the fields of the event that are the same for a whole block. */
void probity_merge_start_block(struct probity_merge *merge, struct probity_open_block *block);

/* Clears the fields that a hit without ids does not have. */
void probity_event_clear(struct probity_event *event);

/* Opens a waiting block: reads and checks it, and prepares its first record. Returns 1; 0 if it
 * contains nothing relevant or is damaged (counted); or an error. In open_block.c. */
int probity_open_block_load(struct probity_merge *merge, const struct probity_waiting *waiting,
                            struct probity_open_block **ret_block);

/* Prepares the next record. Returns 1, or 0 after the last record or if the stream is damaged
 * (counted). */
int probity_open_block_step_rare(struct probity_open_block *block);

static inline int probity_open_block_step_coded(struct probity_open_block *block)
{
    if (!probity_unpack_coded(&block->unpacker, &block->record))
        return probity_open_block_step_rare(block);
    block->taken++;
    return block->record.tick <= block->horizon;
}

static inline int probity_open_block_step(struct probity_open_block *block)
{
    if (__builtin_expect(!probity_unpack_expected(&block->unpacker, &block->record), 0))
        return probity_open_block_step_coded(block);
    block->taken++;
    return block->record.tick <= block->horizon;
}

/* Keeps the block for reuse. */
void probity_open_block_recycle(struct probity_merge *merge, struct probity_open_block *block);

#endif
