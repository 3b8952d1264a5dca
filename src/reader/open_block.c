/* SPDX-License-Identifier: MIT
 *
 * open_block.c: DATA blocks whose records are being returned: loads them from the file or from the
 * tail of the spool, and recycles their memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"
#include "reader/file.h"
#include "reader/merge.h"

enum { BYTES_KEPT_MAX = 256 << 10 }; /* larger buffers are not reused for the next block */

/* Blocks this far outside the time range are skipped unread; in closer ones each record is
 * checked. */
#define RANGE_SLACK_NS UINT64_C(1000000000)

/* Records damage. TRACE.sched was intact when it was opened; later damage to it does not count as
 * damage to the trace. */
static void note_damage_at(struct probity_trace *trace, const struct probity_waiting *waiting,
                           uint64_t bytes)
{
    if (probity_waiting_is_in_sched(waiting))
        trace->facts.sched_damages++;
    else
        probity_trace_note_damage(trace, waiting->offset, bytes);
}

static struct probity_open_block *take_free(struct probity_merge *merge)
{
    struct probity_open_block *block = merge->free_blocks;

    if (block == NULL)
        return calloc(1, sizeof *block);
    merge->free_blocks = block->next_free;
    return block;
}

void probity_open_block_recycle(struct probity_merge *merge, struct probity_open_block *block)
{
    probity_assert(block != merge->free_blocks);
    if (block->capacity > BYTES_KEPT_MAX) {
        free(block->bytes);
        block->bytes = NULL;
        block->capacity = 0;
    }
    block->next_free = merge->free_blocks;
    merge->free_blocks = block;
}

/* Returns 1 with the complete block in memory, 0 if it is damaged, or an error. */
static int load_from_file(struct probity_open_block *block, const struct probity_waiting *waiting)
{
    struct probity_trace *trace = block->trace;
    const struct probity_range index = probity_range_whole(trace->index.file);
    const struct probity_range *range =
        probity_waiting_is_in_sched(waiting)            ? &trace->sched.range
        : (waiting->offset & PROBITY_WAITING_IN_INDEX) ? &index
                                                       : &trace->range;
    struct probity_block_header header;

    probity_assert(waiting->bytes >= PROBITY_BLOCK_HEADER_BYTES);
    if (probity_bytes_reserve(&block->bytes, &block->capacity, waiting->bytes) != 0)
        return PROBITY_ERROR_MEMORY;
    ssize_t got = probity_range_read(
        range, block->bytes, waiting->bytes,
        waiting->offset & ~(PROBITY_WAITING_IN_INDEX | PROBITY_WAITING_IN_SCHED));
    if (got < 0)
        return (int)got;
    if ((size_t)got < waiting->bytes || probity_block_header_get(block->bytes, &header) != 0 ||
        header.payload_bytes + (size_t)PROBITY_BLOCK_HEADER_BYTES != waiting->bytes ||
        !probity_block_is_whole(block->bytes, &header)) {
        note_damage_at(trace, waiting, waiting->bytes);
        return 0;
    }
    return 1;
}

static int load_from_spool(struct probity_open_block *block, const struct probity_waiting *waiting)
{
    struct probity_spool_tail *rest = &block->trace->rest;
    struct probity_drain_output output;

    probity_assert(waiting->offset < rest->count);
    probity_spool_tail_pack(rest, (size_t)waiting->offset, 0, &output);
    if (output.records == 0)
        return 0;
    if (probity_bytes_reserve(&block->bytes, &block->capacity, output.block_bytes) != 0)
        return PROBITY_ERROR_MEMORY;
    memcpy(block->bytes, rest->block, output.block_bytes);
    return 1;
}

static int is_outside_range(const struct probity_merge *merge, struct probity_open_block *block)
{
    struct probity_clockmap *clock = block->trace->clock;

    if ((merge->from_ns == 0 && merge->to_ns == 0) || (block->data.flags & PROBITY_DATA_HAS_EVENTS))
        return 0;
    return probity_clockmap_wall(clock, block->data.last_tick) + RANGE_SLACK_NS < merge->from_ns ||
           probity_clockmap_wall(clock, block->data.first_tick) > merge->to_ns + RANGE_SLACK_NS;
}

/* Starts a block of the index, which comes before all blocks of the trace with the same time; a
 * thread's state comes after its declarations. There is no earlier block with the thread's CPU
 * time. */
static void start_state(struct probity_merge *merge, struct probity_open_block *block)
{
    struct probity_thread_seen *seen = &merge->threads.seen[block->slot];
    int has_cpu = (block->data.flags & PROBITY_DATA_CPU_KNOWN) != 0;

    probity_assert(block->slot < merge->threads.count);
    block->order = has_cpu;
    if (has_cpu && block->data.cpu_ns > seen->cpu_ns)
        seen->cpu_ns = block->data.cpu_ns;
}

/* Whether events of this kind concern only the thread that recorded them. */
static int is_of_thread(uint64_t kind)
{
    switch (kind) {
    case PROBITY_EVENT_HIT:
    case PROBITY_EVENT_STALL:
    case PROBITY_EVENT_ENTER:
    case PROBITY_EVENT_LEAVE:
    case PROBITY_EVENT_MESSAGE:
    case PROBITY_EVENT_PARAMETERS:
    case PROBITY_EVENT_CHECKPOINT:
    case PROBITY_EVENT_PAUSE:
    case PROBITY_EVENT_RESUME:
    case PROBITY_EVENT_UNWOUND:
    case PROBITY_EVENT_HIT_WITH:
    case PROBITY_EVENT_LOST:
    case PROBITY_EVENT_PAUSED_BEFORE: return 1;
    default: return 0;
    }
}

/* Whether a block of the other lane has events for this lane: most blocks have at most stalls.
 * Consumes the unpacker. A damaged block counts, so that the damage is reported. */
static int concerns_lane(struct probity_open_block *block)
{
    struct probity_record record;
    int got;

    while ((got = probity_unpack(&block->unpacker, &record)) > 0) {
        if (__builtin_expect(!is_of_thread(record.kind), 0))
            return 1;
    }
    return got < 0;
}

/* Whether a block has the form of those in TRACE.sched: an index that lists it may be wrong. */
static int is_of_states(const struct probity_waiting *waiting, const uint8_t *payload,
                        size_t bytes)
{
    struct probity_data data;

    return probity_sched_block_check(payload, bytes) >= 0 &&
           probity_data_get(payload, bytes, &data) == 0 && data.first_tick == waiting->tick;
}

/* Reads the fixed part and finds the thread. Returns the same as probity_open_block_load(). */
static int start_stream(struct probity_merge *merge, struct probity_open_block *block,
                        const struct probity_waiting *waiting)
{
    int is_in_file = waiting->bytes != 0;
    const uint8_t *payload = block->bytes + PROBITY_BLOCK_HEADER_BYTES;
    size_t bytes = probity_get_u32(block->bytes + 4);

    if (probity_data_get(payload, bytes, &block->data) != 0 ||
        (probity_waiting_is_in_sched(waiting) && !is_of_states(waiting, payload, bytes))) {
        note_damage_at(block->trace, waiting, bytes + PROBITY_BLOCK_HEADER_BYTES);
        return 0;
    }
    if (is_outside_range(merge, block))
        return 0;
    int error = probity_threads_slot(&merge->threads, block->trace->number, block->data.thread,
                                     block->data.tid, &block->slot);
    if (error != 0)
        return error;
    probity_assert(bytes >= PROBITY_DATA_FIXED_BYTES && block->slot < merge->threads.count);
    block->is_of_other_lane =
        block->trace->lane != 0 &&
        !probity_lanes_have(&block->trace->lanes, block->trace->lane, block->data.thread);
    for (int pass = 0; pass < 1 + block->is_of_other_lane; pass++) {
        probity_unpacker_init(&block->unpacker, payload + PROBITY_DATA_FIXED_BYTES,
                              bytes - PROBITY_DATA_FIXED_BYTES, block->data.first_tick);
        if (pass < block->is_of_other_lane && !concerns_lane(block))
            return 0;
    }
    block->taken = 0;
    block->serial = ++merge->loads;
    block->horizon = block->trace->horizon;
    block->order = is_in_file ? waiting->offset : UINT64_C(1) << 63 | block->data.chunk;
    if (is_in_file && (waiting->offset & PROBITY_WAITING_IN_INDEX))
        start_state(merge, block);
    return probity_open_block_step(block);
}

int probity_open_block_load(struct probity_merge *merge, const struct probity_waiting *waiting,
                            struct probity_open_block **ret_block)
{
    struct probity_open_block *block = take_free(merge);

    probity_assert(waiting->trace < merge->trace_count);
    if (block == NULL)
        return PROBITY_ERROR_MEMORY;
    block->trace = &merge->traces[waiting->trace];
    int got = waiting->bytes != 0 ? load_from_file(block, waiting)
                                  : load_from_spool(block, waiting);
    if (got > 0)
        got = start_stream(merge, block, waiting);
    if (got > 0)
        *ret_block = block;
    else
        probity_open_block_recycle(merge, block);
    return got;
}

int probity_open_block_step_rare(struct probity_open_block *block)
{
    int got = probity_unpack_rare(&block->unpacker, &block->record);

    probity_assert(probity_unpacker_is_valid(&block->unpacker));
    if (__builtin_expect(got > 0, 1)) {
        block->taken++;
        return block->record.tick <= block->horizon;
    }
    if (got < 0 || block->taken != block->data.records) {
        uint64_t left = (uint64_t)(block->unpacker.end - block->unpacker.at);
        probity_trace_note_damage(block->trace, 0, left);
    }
    return 0;
}
