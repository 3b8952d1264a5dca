/* SPDX-License-Identifier: MIT
 *
 * blocks.c: packs states into streams.
 */
#include "sched/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"
#include "sched/files.h"

enum {
    STREAM_BYTES = 4000,
    EVENT_BYTES = 4 * 17 + PROBITY_STATE_EVENT_BYTES, /* maximum size of a packed event */
    FIXED_BYTES = PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES
};

static int start(struct probity_sched_blocks *blocks, struct probity_sched_stream *stream,
                 uint64_t tick)
{
    if (stream->bytes == NULL)
        stream->bytes = calloc(1, FIXED_BYTES + STREAM_BYTES + EVENT_BYTES);
    if (stream->bytes == NULL)
        return PROBITY_ERROR_MEMORY;
    stream->records = 0;
    stream->first_tick = tick;
    stream->packer = probity_packer_start(stream->bytes + FIXED_BYTES, tick, blocks->table);
    return 0;
}

static int write_block(struct probity_sched_blocks *blocks, struct probity_sched_stream *stream)
{
    const struct probity_data data = {.thread = stream->thread,
                                      .tid = stream->tid,
                                      .records = stream->records,
                                      .flags = PROBITY_DATA_HAS_EVENTS,
                                      .first_tick = stream->first_tick,
                                      .last_tick = stream->packer.tick};
    uint32_t bytes = (uint32_t)(stream->packer.at - stream->bytes);

    probity_assert(stream->records > 0);
    probity_data_put(stream->bytes + PROBITY_BLOCK_HEADER_BYTES, &data);
    void *items =
        probity_array_room(blocks->items, sizeof *blocks->items, blocks->count, &blocks->capacity);
    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    blocks->items = items;
    if (probity_sched_write_all(blocks->file, stream->bytes, bytes, blocks->file_bytes) != 0)
        return PROBITY_ERROR_WRITE;
    blocks->items[blocks->count++] = (struct probity_sched_written){
        blocks->file_bytes, bytes, stream->records, stream->trace};
    blocks->file_bytes += bytes;
    stream->records = 0;
    return 0;
}

int probity_sched_blocks_put(struct probity_sched_blocks *blocks,
                             struct probity_sched_stream *stream, uint64_t tick,
                             const struct probity_state_event *event)
{
    uint8_t payload[PROBITY_STATE_EVENT_BYTES];
    int error = 0;

    if (stream->bytes != NULL && tick < stream->packer.tick)
        tick = stream->packer.tick;
    if (stream->records > 0 &&
        stream->packer.at - stream->bytes > (ptrdiff_t)(FIXED_BYTES + STREAM_BYTES))
        error = write_block(blocks, stream);
    if (error == 0 && stream->records == 0)
        error = start(blocks, stream, tick);
    if (error != 0)
        return error;
    probity_state_event_put(payload, event);
    probity_pack_event(&stream->packer, tick, PROBITY_EVENT_THREAD_STATE, payload, sizeof payload);
    stream->records++;
    return 0;
}

int probity_sched_blocks_end(struct probity_sched_blocks *blocks,
                             struct probity_sched_stream *stream)
{
    int error = stream->records > 0 ? write_block(blocks, stream) : 0;

    free(stream->bytes);
    *stream = (struct probity_sched_stream){.bytes = NULL};
    return error;
}

void probity_sched_blocks_release(struct probity_sched_blocks *blocks)
{
    if (blocks->file >= 0)
        close(blocks->file);
    free(blocks->items);
    blocks->items = NULL;
    blocks->file = -1;
}
