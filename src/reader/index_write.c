/* SPDX-License-Identifier: MIT
 *
 * index_write.c: assembles blocks of an index, and writes them to its file. Runs only in the tool.
 */
#include "reader/index_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "probity.h"

enum { RECORD_ROOM = 4 * 17 + 64 }; /* for a packed event without its payload */

/* ---- Output ------------------------------------------------------------------------------------
 */

static int write_all(int file, const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        ssize_t got = write(file, bytes, count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return PROBITY_ERROR_WRITE;
        bytes += got;
        count -= (size_t)got;
    }
    return 0;
}

int probity_index_flush(struct probity_index_writer *writer)
{
    int error = write_all(writer->file, writer->buffer, writer->used);

    writer->used = 0;
    return error;
}

static int put_bytes(struct probity_index_writer *writer, const uint8_t *bytes, size_t count)
{
    probity_assert(writer->used <= sizeof writer->buffer);
    if (count > sizeof writer->buffer - writer->used) {
        int error = probity_index_flush(writer);
        if (error != 0 || count > sizeof writer->buffer)
            return error != 0 ? error : write_all(writer->file, bytes, count);
    }
    memcpy(writer->buffer + writer->used, bytes, count);
    writer->used += count;
    probity_assert(writer->used <= sizeof writer->buffer);
    return 0;
}

uint8_t *probity_index_room(struct probity_index_writer *writer, size_t bytes)
{
    uint8_t *block = probity_array_fit(writer->block, 1, PROBITY_BLOCK_HEADER_BYTES + bytes,
                                       &writer->capacity);

    if (block == NULL)
        return NULL;
    writer->block = block;
    return block + PROBITY_BLOCK_HEADER_BYTES;
}

int probity_index_emit(struct probity_index_writer *writer, uint16_t type, size_t payload_bytes)
{
    probity_assert(writer->block != NULL);
    if (payload_bytes > PROBITY_BLOCK_PAYLOAD_MAX)
        return PROBITY_ERROR_DAMAGED;
    probity_assert(PROBITY_BLOCK_HEADER_BYTES + payload_bytes <= writer->capacity);
    probity_block_seal(writer->block, type, writer->serial++, (uint32_t)payload_bytes);
    return put_bytes(writer, writer->block, PROBITY_BLOCK_HEADER_BYTES + payload_bytes);
}

int probity_index_marks_add(struct probity_index_marks *marks,
                            const struct probity_index_mark *mark)
{
    if (marks == NULL)
        return 0;
    void *items =
        probity_array_room(marks->items, sizeof *marks->items, marks->count, &marks->capacity);
    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    marks->items = items;
    probity_assert(marks->count < marks->capacity);
    marks->items[marks->count++] = *mark;
    return 0;
}

void probity_index_marks_end(struct probity_index_marks *marks,
                             const struct probity_index_writer *writer,
                             const struct probity_index_sum *sum)
{
    if (marks == NULL)
        return;
    marks->serial = writer->serial;
    marks->sum = *sum;
}

/* ---- Blocks of records -------------------------------------------------------------------------
 */

/* Makes room; may move the buffer. */
int probity_index_reserve(struct probity_index_writer *writer, struct probity_packer *packer,
                          size_t payload_bytes)
{
    size_t used = (size_t)(packer->at - writer->block);
    uint8_t *payload = probity_index_room(writer, used + RECORD_ROOM + payload_bytes);

    probity_assert(used <= writer->capacity);
    if (payload == NULL)
        return PROBITY_ERROR_MEMORY;
    packer->at = writer->block + used;
    return 0;
}

int probity_index_start_records(struct probity_index_writer *writer, uint64_t first_tick,
                                struct probity_packer *ret)
{
    uint8_t *payload = probity_index_room(writer, PROBITY_DATA_FIXED_BYTES + RECORD_ROOM);

    if (payload == NULL)
        return PROBITY_ERROR_MEMORY;
    *ret = probity_packer_start(payload + PROBITY_DATA_FIXED_BYTES, first_tick, writer->table);
    return 0;
}

int probity_index_emit_records(struct probity_index_writer *writer, uint16_t type,
                               const struct probity_packer *packer, struct probity_data *data)
{
    uint8_t *payload = writer->block + PROBITY_BLOCK_HEADER_BYTES;

    probity_assert(packer->at > payload);
    data->last_tick = packer->tick;
    data->flags |= PROBITY_DATA_HAS_EVENTS;
    probity_data_put(payload, data);
    return probity_index_emit(writer, type, (size_t)(packer->at - payload));
}

/* Adds an enter, and a pause if the scope is paused. */
static int put_scope(struct probity_index_writer *writer, struct probity_packer *packer,
                     const struct probity_stack_scope *scope, uint32_t *records)
{
    uint8_t payload[8] = {0};

    if (probity_index_reserve(writer, packer, 2 * sizeof payload) != 0)
        return PROBITY_ERROR_MEMORY;
    uint64_t tick = scope->enter_tick > packer->tick ? scope->enter_tick : packer->tick;
    if (scope->is_declared) {
        probity_pack_hit(packer, tick,
                         PROBITY_STREAM_CODE_FIRST + 2 * (uint64_t)scope->number + 1);
    } else {
        probity_put_u32(payload, scope->number);
        probity_pack_event(packer, tick, PROBITY_EVENT_ENTER, payload, sizeof payload);
    }
    ++*records;
    if (scope->is_paused) {
        probity_pack_event(packer, tick, PROBITY_EVENT_PAUSE, payload, 0);
        ++*records;
    }
    return 0;
}

int probity_index_begin(struct probity_index_writer *writer)
{
    uint8_t header[PROBITY_INDEX_HEADER_BYTES];

    writer->used = 0;
    writer->serial = 0;
    if (ftruncate(writer->file, 0) != 0 || lseek(writer->file, 0, SEEK_SET) != 0)
        return PROBITY_ERROR_WRITE;
    probity_index_header_put(header);
    return put_bytes(writer, header, sizeof header);
}

int probity_index_emit_began(struct probity_index_writer *writer, uint64_t first_tick)
{
    uint8_t *payload = probity_index_room(writer, PROBITY_INDEX_BEGAN_BYTES);

    if (payload == NULL)
        return PROBITY_ERROR_MEMORY;
    probity_put_u64(payload, first_tick);
    return probity_index_emit(writer, PROBITY_INDEX_BEGAN, PROBITY_INDEX_BEGAN_BYTES);
}

/* Adds the latest record as an `unwound` of 0 scopes, which sets the thread's time and changes no
 * scope. off: sum of the times off the CPU so far. */
static int put_latest(struct probity_index_writer *writer, struct probity_packer *packer,
                      const struct probity_index_state *state, struct probity_data *data,
                      uint64_t off)
{
    uint8_t none[4] = {0};

    if (probity_index_reserve(writer, packer, sizeof none) != 0)
        return PROBITY_ERROR_MEMORY;
    uint64_t tick = state->record_tick > packer->tick ? state->record_tick : packer->tick;
    uint64_t on = state->record_cpu_ns - state->seen_cpu_ns;
    *packer = probity_pack_cpu(*packer, (int64_t)(tick - data->first_tick - on - off));
    probity_pack_event(packer, tick, PROBITY_EVENT_UNWOUND, none, sizeof none);
    data->records++;
    return 0;
}

/* Writes the open scopes, at the CPU time of the thread's latest hit or scope, and then the latest
 * record. The state of a thread without a record is empty, and only provides its number. */
int probity_index_emit_state(struct probity_index_writer *writer,
                             const struct probity_index_state *state)
{
    struct probity_packer packer;
    uint64_t latest = state->record_tick != 0 ? state->record_tick : state->last_tick;
    uint64_t first = state->stack.depth > 0 ? state->stack.scopes[0].enter_tick : latest;
    struct probity_data data = {.thread = state->thread,
                                .tid = state->tid,
                                .chunk = state->number,
                                .flags = state->is_cpu_known ? PROBITY_DATA_CPU_KNOWN : 0,
                                .cpu_ns = state->seen_cpu_ns,
                                .rate = UINT64_C(1) << 32};
    int error;

    probity_assert(state->record_cpu_ns >= state->seen_cpu_ns);
    probity_assert(state->record_tick <= state->last_tick);
    data.first_tick = first < latest ? first : latest;
    error = probity_index_start_records(writer, data.first_tick, &packer);
    uint64_t off = 0;
    for (uint32_t i = 0; error == 0 && i < state->stack.depth; i++) {
        const struct probity_stack_scope *scope = &state->stack.scopes[i];
        error = probity_index_reserve(writer, &packer, 0);
        uint64_t tick = scope->enter_tick > packer.tick ? scope->enter_tick : packer.tick;
        if (error == 0 && tick - data.first_tick != off) {
            packer = probity_pack_cpu(packer, (int64_t)(tick - data.first_tick - off));
            off = tick - data.first_tick;
        }
        error = error == 0 ? put_scope(writer, &packer, scope, &data.records) : error;
    }
    if (error == 0 && state->record_tick != 0)
        error = put_latest(writer, &packer, state, &data, off);
    if (error != 0)
        return error;
    return probity_index_emit_records(writer, PROBITY_BLOCK_DATA, &packer, &data);
}

