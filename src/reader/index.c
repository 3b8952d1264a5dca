/* SPDX-License-Identifier: MIT
 *
 * index.c: reads the blocks of an index, and chooses the mark to start at. Memory is proportional
 * to the threads and the blocks with declarations.
 */
#include "reader/index.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "probity.h"
#include "reader/file.h"

static const uint8_t magic[12] = {0x89, 'P', 'R', 'O', 'B', 'I', 'D', 'X', '\r', '\n', 0x1a, '\n'};

void probity_index_header_put(uint8_t bytes[PROBITY_INDEX_HEADER_BYTES])
{
    memcpy(bytes, magic, sizeof magic);
    probity_put_u16(bytes + 12, PROBITY_INDEX_MAJOR);
    probity_put_u16(bytes + 14, PROBITY_INDEX_MINOR);
}

void probity_index_mark_put(uint8_t payload[PROBITY_INDEX_MARK_BYTES],
                            const struct probity_index_mark *mark)
{
    probity_put_u64(payload, mark->offset);
    probity_put_u64(payload + 8, mark->serial);
    probity_put_u64(payload + 16, mark->last_tick);
}

void probity_index_sum_put(uint8_t payload[PROBITY_INDEX_SUM_BYTES],
                           const struct probity_index_sum *sum)
{
    const uint64_t fields[] = {sum->file_bytes, sum->end_offset, sum->blocks, sum->data_blocks,
                               sum->records, sum->holes, sum->first_tick, sum->last_tick,
                               sum->threads, sum->usable_tick};

    memset(payload, 0, PROBITY_INDEX_SUM_BYTES);
    memcpy(payload, sum->session, 16);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        probity_put_u64(payload + 16 + 8 * i, fields[i]);
    probity_put_u32(payload + 96, sum->end_checksum);
    probity_put_u32(payload + 100, sum->contents);
}

static void sum_get(const uint8_t *payload, struct probity_index_sum *sum)
{
    uint64_t *const fields[] = {&sum->file_bytes, &sum->end_offset, &sum->blocks, &sum->data_blocks,
                                &sum->records, &sum->holes, &sum->first_tick, &sum->last_tick,
                                &sum->threads, &sum->usable_tick};

    memcpy(sum->session, payload, 16);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i] = probity_get_u64(payload + 16 + 8 * i);
    sum->end_checksum = probity_get_u32(payload + 96);
    sum->contents = probity_get_u32(payload + 100);
}

int probity_index_place_get(const struct probity_index_item *item, uint64_t *ret_offset,
                            uint32_t *ret_bytes)
{
    if (item->payload_bytes < PROBITY_INDEX_PLACE_BYTES)
        return PROBITY_ERROR_DAMAGED;
    uint64_t bytes = probity_get_u64(item->payload + 8);
    if (bytes > PROBITY_BLOCK_PAYLOAD_MAX + PROBITY_BLOCK_HEADER_BYTES)
        return PROBITY_ERROR_DAMAGED;
    *ret_offset = probity_get_u64(item->payload);
    *ret_bytes = (uint32_t)bytes;
    return 0;
}

/* ---- A pass ------------------------------------------------------------------------------------
 */

int probity_index_start(struct probity_index_cursor *cursor, int file)
{
    uint8_t header[PROBITY_INDEX_HEADER_BYTES];
    int64_t size = probity_file_size(file);
    ssize_t got = size < 0 ? size : probity_file_read(file, header, sizeof header, 0);

    probity_assert(file >= 0);
    *cursor = (struct probity_index_cursor){.file = file, .offset = sizeof header};
    if (got < 0)
        return (int)got;
    cursor->size = (uint64_t)size;
    if ((size_t)got < sizeof header || memcmp(header, magic, sizeof magic) != 0 ||
        probity_get_u16(header + 12) != PROBITY_INDEX_MAJOR ||
        probity_get_u16(header + 14) < PROBITY_INDEX_MINOR)
        return PROBITY_ERROR_DAMAGED;
    return 0;
}

/* Reads a number of bytes. Returns 1, DAMAGED if the file is shorter, or an error. */
static int read_exactly(struct probity_index_cursor *cursor, uint8_t *to, size_t bytes,
                        uint64_t offset)
{
    ssize_t got = probity_file_read(cursor->file, to, bytes, offset);

    return got < 0 ? (int)got : (size_t)got == bytes ? 1 : PROBITY_ERROR_DAMAGED;
}

int probity_index_next(struct probity_index_cursor *cursor, struct probity_index_item *ret_item)
{
    enum { USUAL = 4096 };
    struct probity_block_header header;

    if (cursor->offset >= cursor->size)
        return 0;
    if (probity_bytes_reserve(&cursor->bytes, &cursor->capacity, USUAL) != 0)
        return PROBITY_ERROR_MEMORY;
    uint64_t left = cursor->size - cursor->offset;
    size_t first = left < USUAL ? (size_t)left : USUAL;
    int got = read_exactly(cursor, cursor->bytes, first, cursor->offset);
    if (got < 0)
        return got;
    if (first < PROBITY_BLOCK_HEADER_BYTES || probity_block_header_get(cursor->bytes, &header) != 0)
        return PROBITY_ERROR_DAMAGED;
    size_t bytes = PROBITY_BLOCK_HEADER_BYTES + (size_t)header.payload_bytes;
    if (bytes > left || header.serial != cursor->serial)
        return PROBITY_ERROR_DAMAGED;
    if (probity_bytes_reserve(&cursor->bytes, &cursor->capacity, bytes) != 0)
        return PROBITY_ERROR_MEMORY;
    if (bytes > first)
        got = read_exactly(cursor, cursor->bytes + first, bytes - first, cursor->offset + first);
    if (got < 0)
        return got;
    if (!probity_block_is_whole(cursor->bytes, &header))
        return PROBITY_ERROR_DAMAGED;
    *ret_item = (struct probity_index_item){cursor->offset, header.type, header.payload_bytes,
                                            cursor->bytes + PROBITY_BLOCK_HEADER_BYTES};
    cursor->offset += bytes;
    cursor->serial++;
    probity_assert(cursor->offset <= cursor->size);
    return 1;
}

void probity_index_stop(struct probity_index_cursor *cursor)
{
    free(cursor->bytes);
    *cursor = (struct probity_index_cursor){.file = -1};
}

/* ---- Opening -----------------------------------------------------------------------------------
 */

static int add_block(struct probity_index_blocks *blocks, const struct probity_index_block *block)
{
    void *items =
        probity_array_room(blocks->items, sizeof *blocks->items, blocks->count, &blocks->capacity);
    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    blocks->items = items;
    probity_assert(blocks->count < blocks->capacity);
    blocks->items[blocks->count++] = *block;
    return 0;
}

static int block_of(const struct probity_index_item *item, struct probity_index_block *ret_block)
{
    struct probity_data data;

    if (probity_data_get(item->payload, item->payload_bytes, &data) != 0)
        return PROBITY_ERROR_DAMAGED;
    *ret_block = (struct probity_index_block){
        item->offset, data.first_tick, data.last_tick, 0,
        item->payload_bytes + PROBITY_BLOCK_HEADER_BYTES, data.thread, data.tid};
    return 0;
}

/* Returns the number of a thread, which is in `chunk`: state blocks number the threads in the order
 * of their first blocks. */
static uint64_t number_of(const struct probity_index_item *item)
{
    return probity_get_u64(item->payload + 8);
}

static int add_waits(struct probity_index *index, const struct probity_index_item *item)
{
    void *waits = probity_array_room(index->waits, sizeof *index->waits, index->waits_count,
                                     &index->waits_capacity);

    if (waits == NULL)
        return PROBITY_ERROR_MEMORY;
    index->waits = waits;
    if (item->payload_bytes < PROBITY_INDEX_WAITS_BYTES)
        return PROBITY_ERROR_DAMAGED;
    index->waits[index->waits_count++] = (struct probity_index_waits){
        item->offset, probity_get_u64(item->payload), probity_get_u64(item->payload + 8),
        probity_get_u64(item->payload + 16), item->payload_bytes, 0, 0};
    return 0;
}

static int add_states(struct probity_index *index, const struct probity_index_item *item)
{
    void *states = probity_array_room(index->states, sizeof *index->states, index->states_count,
                                      &index->states_capacity);

    if (states == NULL)
        return PROBITY_ERROR_MEMORY;
    index->states = states;
    if (item->payload_bytes < PROBITY_INDEX_STATES_BYTES)
        return PROBITY_ERROR_DAMAGED;
    index->states[index->states_count++] =
        (struct probity_index_extent){item->offset, item->payload_bytes};
    return 0;
}

/* Takes a FILES block, which belongs to the preceding state of waits. */
static int take_files(struct probity_index *index, const struct probity_index_item *item)
{
    struct probity_index_waits *waits =
        index->waits_count > 0 ? &index->waits[index->waits_count - 1] : NULL;

    if (waits == NULL || waits->files_bytes != 0 ||
        item->payload_bytes < PROBITY_INDEX_FILES_BYTES ||
        probity_get_u64(item->payload) != waits->tick)
        return PROBITY_ERROR_DAMAGED;
    waits->files_offset = item->offset;
    waits->files_bytes = item->payload_bytes;
    return 0;
}

static int take_facts(struct probity_index *index, const struct probity_index_item *item)
{
    if (item->payload_bytes < PROBITY_INDEX_FACTS_BYTES)
        return PROBITY_ERROR_DAMAGED;
    index->has_facts = 1;
    index->lost = probity_get_u64(item->payload);
    index->orphans = probity_get_u64(item->payload + 8);
    index->ambiguous = probity_get_u64(item->payload + 16);
    index->holds_forgotten = probity_get_u64(item->payload + 24);
    index->objects_most = probity_get_u64(item->payload + 32);
    return 0;
}

struct listing {
    struct probity_index *index;
    uint64_t began_tick; /* when the next thread began */
    int has_sum;
};

/* Lists threads and declarations, and checks everything that the other passes rely on. */
static int list_item(struct listing *listing, const struct probity_index_item *item)
{
    struct probity_index *index = listing->index;
    struct probity_index_block block;
    uint64_t offset;
    uint32_t bytes;
    int error = 0;

    switch (item->type) {
    case PROBITY_INDEX_DECLARED:
        error = block_of(item, &block);
        return error != 0 ? error : add_block(&index->declared, &block);
    case PROBITY_BLOCK_DATA:
        error = block_of(item, &block);
        if (error != 0 || number_of(item) < index->threads.count)
            return error;
        block.bytes = 0;
        block.began_tick = listing->began_tick;
        listing->began_tick = 0;
        return number_of(item) == index->threads.count ? add_block(&index->threads, &block)
                                                       : PROBITY_ERROR_DAMAGED;
    case PROBITY_BLOCK_SYNC:
    case PROBITY_BLOCK_END:
        return item->payload_bytes < PROBITY_INDEX_RECORDS_BYTES + PROBITY_SYNC_BYTES
                   ? PROBITY_ERROR_DAMAGED
                   : 0;
    case PROBITY_INDEX_BEGAN:
        if (item->payload_bytes < PROBITY_INDEX_BEGAN_BYTES)
            return PROBITY_ERROR_DAMAGED;
        listing->began_tick = probity_get_u64(item->payload);
        return 0;
    case PROBITY_INDEX_PLACE: return probity_index_place_get(item, &offset, &bytes);
    case PROBITY_INDEX_MARK:
        return item->payload_bytes < PROBITY_INDEX_MARK_BYTES ? PROBITY_ERROR_DAMAGED : 0;
    case PROBITY_INDEX_WAITS: return add_waits(index, item);
    case PROBITY_INDEX_STATES: return add_states(index, item);
    case PROBITY_INDEX_FILES: return take_files(index, item);
    case PROBITY_INDEX_FACTS:
    case PROBITY_INDEX_FACTS_MORE: return take_facts(index, item);
    case PROBITY_INDEX_SUM:
        if (item->payload_bytes < PROBITY_INDEX_SUM_BYTES)
            return PROBITY_ERROR_DAMAGED;
        sum_get(item->payload, &index->sum);
        listing->has_sum = 1;
        return 0;
    default: return 0;
    }
}

static int list(struct probity_index *index)
{
    struct probity_index_cursor cursor;
    struct probity_index_item item;
    struct listing listing = {.index = index};
    int got = probity_index_start(&cursor, index->file);

    probity_assert(index->threads.count == 0 && index->declared.count == 0);
    while (got >= 0 && (got = probity_index_next(&cursor, &item)) > 0) {
        int is_after_sum =
            item.type >= PROBITY_INDEX_WAITS && item.type <= PROBITY_INDEX_FACTS_MORE;
        if (listing.has_sum != is_after_sum)
            continue;
        int error = list_item(&listing, &item);
        got = error != 0 ? error : got;
    }
    probity_index_stop(&cursor);
    return got < 0 ? got : listing.has_sum ? 0 : PROBITY_ERROR_DAMAGED;
}

/* Whether the trace still ends with the block that was its last one when it was indexed. */
static int has_same_end(const struct probity_index_sum *sum, const struct probity_range *trace)
{
    uint8_t bytes[PROBITY_BLOCK_HEADER_BYTES];
    struct probity_block_header header;
    ssize_t got = probity_range_read(trace, bytes, sizeof bytes, sum->end_offset);

    probity_assert(trace->file >= 0);
    return got == (ssize_t)sizeof bytes && probity_block_header_get(bytes, &header) == 0 &&
           header.type == PROBITY_BLOCK_END && header.checksum == sum->end_checksum &&
           sum->end_offset < sum->file_bytes &&
           sum->file_bytes - sum->end_offset == sizeof bytes + header.payload_bytes;
}

int probity_index_open(struct probity_index *index, int file, const struct probity_range *trace,
                       const uint8_t session[16], uint64_t trace_bytes)
{
    *index = (struct probity_index){.file = file};
    int error = list(index);

    if (error == 0 && memcmp(index->sum.session, session, 16) == 0 &&
        index->sum.file_bytes == trace_bytes && has_same_end(&index->sum, trace))
        return 1;
    probity_index_release(index);
    return error == PROBITY_ERROR_MEMORY ? error : 0;
}

/* ---- Choosing ----------------------------------------------------------------------------------
 */

/* The states read since the last mark, which are used only if that mark turns out to be usable. */
struct choice {
    struct probity_index *index;
    struct probity_index_blocks pending;
    uint64_t before_tick;
};

static int take_mark(struct choice *choice, const struct probity_index_item *item)
{
    struct probity_index *index = choice->index;
    uint64_t last_tick = probity_get_u64(item->payload + 16);

    if (last_tick >= choice->before_tick || last_tick > index->sum.usable_tick)
        return 0;
    index->mark = (struct probity_index_mark){probity_get_u64(item->payload),
                                              probity_get_u64(item->payload + 8), last_tick};
    index->mark_place = item->offset;
    for (size_t i = 0; i < choice->pending.count; i++) {
        struct probity_index_block *block = &choice->pending.items[i];
        probity_assert(block->thread < index->threads.count);
        /* `thread` is the index in the list while the block is pending. */
        struct probity_index_block *known = &index->threads.items[block->thread];
        block->thread = known->thread;
        block->began_tick = known->began_tick;
        *known = *block;
    }
    choice->pending.count = 0;
    return 1;
}

static int take_state(struct choice *choice, const struct probity_index_item *item)
{
    struct probity_index_block block;
    int error = block_of(item, &block);

    if (error != 0 || number_of(item) >= choice->index->threads.count)
        return PROBITY_ERROR_DAMAGED;
    block.thread = (uint32_t)number_of(item);
    return add_block(&choice->pending, &block);
}

int probity_index_choose(struct probity_index *index, uint64_t before_tick)
{
    struct choice choice = {.index = index, .before_tick = before_tick};
    struct probity_index_cursor cursor;
    struct probity_index_item item;
    int ends = 0, got = probity_index_start(&cursor, index->file);

    probity_assert(index->file >= 0);
    index->before_tick = before_tick;
    while (got >= 0 && !ends && (got = probity_index_next(&cursor, &item)) > 0) {
        if (item.type == PROBITY_BLOCK_DATA)
            got = take_state(&choice, &item);
        else if (item.type == PROBITY_INDEX_MARK)
            ends = !take_mark(&choice, &item);
    }
    probity_index_stop(&cursor);
    free(choice.pending.items);
    return got < 0 ? got : 0;
}

/* Returns NULL if there is none. */
static const struct probity_index_waits *find_waits(const struct probity_index *index,
                                                    uint64_t before_tick, int is_past_needed)
{
    const struct probity_index_waits *found = NULL;
    size_t count = index->has_facts ? index->waits_count : 0;

    while (count > 0 && (index->waits[count - 1].tick >= before_tick ||
                         index->waits[count - 1].tick > index->sum.usable_tick))
        count--;
    if (count == 0)
        return NULL;
    found = &index->waits[count - 1];
    if (!is_past_needed)
        return found;
    for (uint64_t oldest_ns = found->oldest_ns; found->now_ns >= oldest_ns; found--) {
        if (found == index->waits)
            return NULL;
    }
    return found;
}

int probity_index_read(const struct probity_index *index, const struct probity_index_extent *extent,
                       uint8_t **ret_payload)
{
    uint8_t *payload = malloc((size_t)extent->payload_bytes + 1);

    if (payload == NULL)
        return PROBITY_ERROR_MEMORY;
    ssize_t got = probity_file_read(index->file, payload, extent->payload_bytes,
                                    extent->offset + PROBITY_BLOCK_HEADER_BYTES);
    if (got != (ssize_t)extent->payload_bytes) {
        free(payload);
        return got < 0 ? (int)got : PROBITY_ERROR_DAMAGED;
    }
    *ret_payload = payload;
    return 0;
}

static int read_waits(struct probity_index *index, const struct probity_index_waits *waits)
{
    const struct probity_index_extent state = {waits->offset, waits->payload_bytes};
    const struct probity_index_extent files = {waits->files_offset, waits->files_bytes};

    free(index->waits_payload);
    free(index->files_payload);
    index->waits_payload = index->files_payload = NULL;
    int error = probity_index_read(index, &state, &index->waits_payload);
    return error == 0 && files.payload_bytes > 0
               ? probity_index_read(index, &files, &index->files_payload) : error;
}

int probity_index_choose_waits(struct probity_index *index, uint64_t before_tick,
                               int is_past_needed)
{
    const struct probity_index_waits *waits = find_waits(index, before_tick, is_past_needed);

    if (waits == NULL)
        return index->has_facts;
    if (waits->tick == UINT64_MAX)
        return 0;
    int error = read_waits(index, waits);
    if (error == 0)
        error = probity_index_choose(index, waits->tick + 1);
    if (error != 0)
        return error;
    index->chosen_waits = waits;
    return index->mark.offset != 0 && index->mark.last_tick == waits->tick;
}

void probity_index_release(struct probity_index *index)
{
    if (index->file >= 0)
        close(index->file);
    free(index->threads.items);
    free(index->declared.items);
    free(index->waits);
    free(index->waits_payload);
    free(index->files_payload);
    free(index->states);
    *index = (struct probity_index){.file = -1};
}
