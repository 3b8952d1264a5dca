/* SPDX-License-Identifier: MIT
 *
 * sched.c: verifies TRACE.sched when it is opened, and lists its blocks. They are read and verified
 * again when the merge reaches them. An index may contain the list. Memory: 24 bytes for each
 * block.
 */
#include "reader/sched.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "format/block.h"
#include "format/stream.h"
#include "probity.h"
#include "reader/file.h"

/* One pass over the file. */
struct pass {
    struct probity_sched_file *sched;
    uint64_t offset, size, serial, events;
    uint8_t *bytes; /* the current block */
    size_t capacity;
};

/* Reads bytes. Returns 0, DAMAGED if the file is shorter or unreadable, or MEMORY. */
static int read_bytes(struct pass *pass, size_t at, size_t bytes)
{
    if (probity_bytes_reserve(&pass->bytes, &pass->capacity, at + bytes) != 0)
        return PROBITY_ERROR_MEMORY;
    probity_assert(at + bytes <= pass->capacity);
    return probity_range_read(&pass->sched->range, pass->bytes + at, bytes, pass->offset + at) ==
                   (ssize_t)bytes
               ? 0
               : PROBITY_ERROR_DAMAGED;
}

/* Reads and verifies the next block. */
static int read_block(struct pass *pass, struct probity_block_header *ret_header)
{
    uint64_t left = pass->size - pass->offset;
    int error = left < PROBITY_BLOCK_HEADER_BYTES
                    ? PROBITY_ERROR_DAMAGED
                    : read_bytes(pass, 0, PROBITY_BLOCK_HEADER_BYTES);

    if (error == 0)
        error = probity_block_header_get(pass->bytes, ret_header);
    if (error != 0)
        return error;
    if (ret_header->payload_bytes > left - PROBITY_BLOCK_HEADER_BYTES ||
        ret_header->serial != pass->serial++)
        return PROBITY_ERROR_DAMAGED;
    error = read_bytes(pass, PROBITY_BLOCK_HEADER_BYTES, ret_header->payload_bytes);
    if (error != 0)
        return error;
    return probity_block_is_whole(pass->bytes, ret_header) ? 0 : PROBITY_ERROR_DAMAGED;
}

static int take_info(struct pass *pass, const uint8_t session[16])
{
    struct probity_sched_info *info = &pass->sched->info;
    struct probity_block_header header;
    int error = read_block(pass, &header);

    if (error != 0)
        return error;
    pass->offset += PROBITY_BLOCK_HEADER_BYTES + (uint64_t)header.payload_bytes;
    if (header.type != PROBITY_SCHED_INFO ||
        probity_sched_info_get(pass->bytes + PROBITY_BLOCK_HEADER_BYTES, header.payload_bytes,
                               info) != 0 ||
        memcmp(info->session, session, 16) != 0)
        return PROBITY_ERROR_DAMAGED;
    pass->sched->info_checksum = header.checksum;
    return 0;
}

/* Checks that the stream contains only states: anything else could declare or hide records. */
int64_t probity_sched_block_check(const uint8_t *payload, size_t bytes)
{
    struct probity_unpacker unpacker;
    struct probity_record record;
    struct probity_data data;
    int64_t events = 0;
    int got;

    if (probity_data_get(payload, bytes, &data) != 0 || (data.flags & PROBITY_DATA_CPU_KNOWN) != 0)
        return PROBITY_ERROR_DAMAGED;
    probity_unpacker_init(&unpacker, payload + PROBITY_DATA_FIXED_BYTES,
                          bytes - PROBITY_DATA_FIXED_BYTES, data.first_tick);
    while ((got = probity_unpack(&unpacker, &record)) > 0) {
        if (record.kind != PROBITY_EVENT_THREAD_STATE ||
            record.payload_bytes < PROBITY_STATE_EVENT_BYTES)
            return PROBITY_ERROR_DAMAGED;
        events++;
    }
    return got < 0 || events != data.records ? PROBITY_ERROR_DAMAGED : events;
}

static int add_block(struct probity_sched_file *sched, const struct probity_sched_block *block)
{
    void *blocks =
        probity_array_room(sched->blocks, sizeof *sched->blocks, sched->count, &sched->capacity);

    if (blocks == NULL)
        return PROBITY_ERROR_MEMORY;
    sched->blocks = blocks;
    sched->blocks[sched->count++] = *block;
    return 0;
}

static int take_data(struct pass *pass)
{
    const uint8_t *payload;
    struct probity_block_header header;
    struct probity_data data;
    int error = read_block(pass, &header);

    if (error != 0)
        return error;
    payload = pass->bytes + PROBITY_BLOCK_HEADER_BYTES;
    int64_t events = header.type == PROBITY_BLOCK_DATA
                         ? probity_sched_block_check(payload, header.payload_bytes)
                         : PROBITY_ERROR_DAMAGED;
    if (events < 0 || probity_data_get(payload, header.payload_bytes, &data) != 0)
        return PROBITY_ERROR_DAMAGED;
    pass->events += (uint64_t)events;
    const struct probity_sched_block block = {
        pass->offset, data.first_tick, PROBITY_BLOCK_HEADER_BYTES + header.payload_bytes,
        data.thread};
    pass->offset += block.bytes;
    return add_block(pass->sched, &block);
}

static int compare_blocks(const void *left, const void *right)
{
    const struct probity_sched_block *a = left, *b = right;

    if (a->first_tick != b->first_tick)
        return a->first_tick < b->first_tick ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int begin(struct pass *pass, const uint8_t session[16])
{
    struct probity_sched_file *sched = pass->sched;
    int64_t size = probity_range_size(&sched->range);
    int error = size < PROBITY_SCHED_HEADER_BYTES
                    ? PROBITY_ERROR_DAMAGED
                    : read_bytes(pass, 0, PROBITY_SCHED_HEADER_BYTES);

    if (error == 0)
        error = probity_sched_header_check(pass->bytes);
    pass->size = (uint64_t)size;
    pass->offset = PROBITY_SCHED_HEADER_BYTES;
    return error == 0 ? take_info(pass, session) : error;
}

static int read_all(struct pass *pass, const uint8_t session[16])
{
    struct probity_sched_file *sched = pass->sched;
    int error = begin(pass, session);

    while (error == 0 && pass->offset < pass->size)
        error = take_data(pass);
    if (error == 0 &&
        (sched->count != sched->info.blocks || pass->events != sched->info.events))
        error = PROBITY_ERROR_DAMAGED;
    return error;
}

int probity_sched_file_open(struct probity_sched_file *sched, const struct probity_range *range,
                            const uint8_t session[16])
{
    struct pass pass = {.sched = sched};

    probity_assert(range->file >= 0);
    *sched = (struct probity_sched_file){.range = *range};
    int error = read_all(&pass, session);
    free(pass.bytes);
    if (error != 0)
        probity_sched_file_release(sched);
    else if (sched->count > 1)
        qsort(sched->blocks, sched->count, sizeof *sched->blocks, compare_blocks);
    return error == 0 ? 1 : error == PROBITY_ERROR_MEMORY ? error : 0;
}

/* ---- By an index -------------------------------------------------------------------------------
 */

/* Takes the entries of a STATES block of the index. */
static int take_entries(struct pass *pass, const uint8_t *payload, size_t bytes)
{
    struct probity_sched_file *sched = pass->sched;
    int error = probity_get_u64(payload) == pass->size &&
                        probity_get_u32(payload + 8) == sched->info_checksum
                    ? 0
                    : PROBITY_ERROR_DAMAGED;

    for (size_t at = PROBITY_INDEX_STATES_BYTES;
         error == 0 && at + PROBITY_INDEX_STATES_ENTRY_BYTES <= bytes;
         at += PROBITY_INDEX_STATES_ENTRY_BYTES) {
        const uint8_t *entry = payload + at;
        const struct probity_sched_block block = {
            probity_get_u64(entry), probity_get_u64(entry + 8), probity_get_u32(entry + 16),
            probity_get_u32(entry + 20)};
        if (block.offset > pass->size || block.bytes > pass->size - block.offset ||
            block.bytes < PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES ||
            block.bytes > PROBITY_BLOCK_HEADER_BYTES + PROBITY_BLOCK_PAYLOAD_MAX ||
            (sched->count > 0 && compare_blocks(&sched->blocks[sched->count - 1], &block) >= 0))
            return PROBITY_ERROR_DAMAGED;
        error = add_block(sched, &block);
    }
    return error;
}

static int read_list(struct pass *pass, const struct probity_index *index,
                     const uint8_t session[16])
{
    int error = index->states_count > 0 ? begin(pass, session) : PROBITY_ERROR_DAMAGED;

    for (size_t i = 0; error == 0 && i < index->states_count; i++) {
        uint8_t *payload;
        error = probity_index_read(index, &index->states[i], &payload);
        if (error != 0)
            return error;
        error = take_entries(pass, payload, index->states[i].payload_bytes);
        free(payload);
    }
    return error == 0 && pass->sched->count != pass->sched->info.blocks ? PROBITY_ERROR_DAMAGED
                                                                        : error;
}

int probity_sched_file_open_listed(struct probity_sched_file *sched,
                                   const struct probity_range *range, const uint8_t session[16],
                                   const struct probity_index *index)
{
    struct pass pass = {.sched = sched};

    *sched = (struct probity_sched_file){.range = *range, .is_of_index = 1};
    int error = read_list(&pass, index, session);
    free(pass.bytes);
    if (error == 0)
        return 1;
    sched->range.file = -1;
    probity_sched_file_release(sched);
    return error == PROBITY_ERROR_MEMORY ? error : 0;
}

/* ---- Starting later ----------------------------------------------------------------------------
 */

static int compare_latest(const void *left, const void *right)
{
    const struct probity_sched_block *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return compare_blocks(left, right);
}

void probity_sched_file_start_at(struct probity_sched_file *sched, uint64_t tick)
{
    size_t kept = 0;

    qsort(sched->blocks, sched->count, sizeof *sched->blocks, compare_latest);
    for (size_t i = 0; i < sched->count; i++) {
        const struct probity_sched_block *next = &sched->blocks[i + 1];
        if (i + 1 < sched->count && next->thread == sched->blocks[i].thread &&
            next->first_tick <= tick)
            continue;
        sched->blocks[kept++] = sched->blocks[i];
    }
    sched->count = kept;
    qsort(sched->blocks, sched->count, sizeof *sched->blocks, compare_blocks);
}

void probity_sched_file_release(struct probity_sched_file *sched)
{
    if (sched->range.file >= 0)
        close(sched->range.file);
    free(sched->blocks);
    *sched = (struct probity_sched_file){.range = {.file = -1}};
}
