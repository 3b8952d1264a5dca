/* SPDX-License-Identifier: MIT
 *
 * block.c: encodes and decodes blocks and their fixed payloads field by field
 * (doc/trace-format.md). Pure functions.
 */
#include "format/block.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "probity.h"

static const uint8_t file_magic[12] = {0x89, 'P', 'R',  'O',  'B',  'I',
                                       'T',  'Y', '\r', '\n', 0x1a, '\n'};
static const uint8_t block_magic[4] = {'P', 'B', 'L', 'K'};

void probity_file_header_put(uint8_t bytes[PROBITY_FILE_HEADER_BYTES])
{
    memcpy(bytes, file_magic, sizeof file_magic);
    probity_put_u16(bytes + 12, PROBITY_FORMAT_MAJOR);
    probity_put_u16(bytes + 14, PROBITY_FORMAT_MINOR);
}

int probity_file_header_check(const uint8_t bytes[PROBITY_FILE_HEADER_BYTES])
{
    if (memcmp(bytes, file_magic, sizeof file_magic) != 0)
        return PROBITY_ERROR_FORMAT;
    return probity_get_u16(bytes + 12) == PROBITY_FORMAT_MAJOR ? 0 : PROBITY_ERROR_VERSION;
}

/* Computed with the checksum field set to zero, so that the checksum covers the whole header. */
static uint32_t block_checksum(const uint8_t *block, uint32_t payload_bytes)
{
    static const uint8_t zero[4];
    uint32_t crc = probity_checksum(0, block, 8);

    crc = probity_checksum(crc, zero, sizeof zero);
    return probity_checksum(crc, block + 12,
                            PROBITY_BLOCK_HEADER_BYTES - 12 + (size_t)payload_bytes);
}

void probity_block_seal(uint8_t *block, uint16_t type, uint64_t serial, uint32_t payload_bytes)
{
    probity_assert(type != 0 && payload_bytes <= PROBITY_BLOCK_PAYLOAD_MAX);
    memcpy(block, block_magic, sizeof block_magic);
    probity_put_u32(block + 4, payload_bytes);
    probity_put_u16(block + 12, type);
    probity_put_u16(block + 14, 0);
    probity_put_u64(block + 16, serial);
    probity_put_u32(block + 8, block_checksum(block, payload_bytes));
}

int probity_block_header_get(const uint8_t bytes[PROBITY_BLOCK_HEADER_BYTES],
                             struct probity_block_header *ret_header)
{
    uint32_t payload_bytes = probity_get_u32(bytes + 4);

    if (memcmp(bytes, block_magic, sizeof block_magic) != 0 ||
        payload_bytes > PROBITY_BLOCK_PAYLOAD_MAX)
        return PROBITY_ERROR_DAMAGED;
    ret_header->payload_bytes = payload_bytes;
    ret_header->checksum = probity_get_u32(bytes + 8);
    ret_header->type = probity_get_u16(bytes + 12);
    ret_header->serial = probity_get_u64(bytes + 16);
    return 0;
}

int probity_block_is_whole(const uint8_t *block, const struct probity_block_header *header)
{
    return block_checksum(block, header->payload_bytes) == header->checksum;
}

#ifdef PROBITY_DEBUG
int probity_block_is_valid(const uint8_t *block, size_t bytes)
{
    struct probity_block_header header;

    return bytes >= PROBITY_BLOCK_HEADER_BYTES && probity_block_header_get(block, &header) == 0 &&
           PROBITY_BLOCK_HEADER_BYTES + (size_t)header.payload_bytes == bytes &&
           probity_block_is_whole(block, &header);
}
#endif

static void anchor_put(uint8_t *at, const struct probity_anchor *anchor)
{
    probity_put_u64(at, anchor->ticks);
    probity_put_u64(at + 8, anchor->raw_ns);
    probity_put_u64(at + 16, anchor->monotonic_ns);
    probity_put_u64(at + 24, anchor->realtime_ns);
    probity_put_u32(at + 32, anchor->width_ns);
    probity_put_u32(at + 36, 0);
}

static void anchor_get(const uint8_t *at, struct probity_anchor *ret_anchor)
{
    ret_anchor->ticks = probity_get_u64(at);
    ret_anchor->raw_ns = probity_get_u64(at + 8);
    ret_anchor->monotonic_ns = probity_get_u64(at + 16);
    ret_anchor->realtime_ns = probity_get_u64(at + 24);
    ret_anchor->width_ns = probity_get_u32(at + 32);
}

/* Appends the strings that are present. Returns the payload's size, or 0 if room is too small. */
static size_t texts_put(uint8_t *payload, size_t room, const struct probity_info *info)
{
    size_t used = PROBITY_INFO_FIXED_BYTES;
    uint32_t count = 0;

    for (uint16_t tag = 1; tag < PROBITY_TAG_COUNT; tag++) {
        const struct probity_text *text = &info->text[tag];
        if (text->bytes == NULL)
            continue;
        probity_assert(used <= room);
        uint16_t length = text->length > UINT16_MAX ? UINT16_MAX : (uint16_t)text->length;
        if (room - used < 4u + length)
            return 0;
        probity_put_u16(payload + used, tag);
        probity_put_u16(payload + used + 2, length);
        memcpy(payload + used + 4, text->bytes, length);
        used += 4u + length;
        count++;
    }
    probity_put_u32(payload + 124, count);
    return used;
}

size_t probity_info_put(uint8_t *payload, size_t room, const struct probity_info *info)
{
    if (room < PROBITY_INFO_FIXED_BYTES)
        return 0;
    memcpy(payload, info->session, 16);
    memcpy(payload + 16, info->boot, 16);
    probity_put_u32(payload + 32, info->pid);
    probity_put_u32(payload + 36, info->parent_pid);
    probity_put_u64(payload + 40, info->process_start);
    probity_put_u32(payload + 48, info->clock);
    probity_put_u32(payload + 52, info->flags);
    probity_put_u64(payload + 56, info->rate);
    anchor_put(payload + 64, &info->anchor);
    probity_put_u32(payload + 104, info->mode);
    probity_put_u32(payload + 108, info->chunk_words);
    probity_put_u64(payload + 112, info->gap_ticks);
    probity_put_u32(payload + 120, info->cpu_clock_ns);
    return texts_put(payload, room, info);
}

static int texts_get(const uint8_t *payload, size_t bytes, struct probity_info *ret_info)
{
    size_t used = PROBITY_INFO_FIXED_BYTES;
    probity_assert(bytes >= PROBITY_INFO_FIXED_BYTES);

    memset(ret_info->text, 0, sizeof ret_info->text);
    for (uint32_t left = probity_get_u32(payload + 124); left > 0; left--) {
        if (bytes - used < 4)
            return PROBITY_ERROR_DAMAGED;
        uint16_t tag = probity_get_u16(payload + used);
        uint16_t length = probity_get_u16(payload + used + 2);
        used += 4;
        if (bytes - used < length)
            return PROBITY_ERROR_DAMAGED;
        if (tag < PROBITY_TAG_COUNT)
            ret_info->text[tag] =
                (struct probity_text){(const char *)payload + used, length};
        used += length;
        probity_assert(used <= bytes);
    }
    return 0;
}

int probity_info_get(const uint8_t *payload, size_t bytes, struct probity_info *ret_info)
{
    if (bytes < PROBITY_INFO_FIXED_BYTES)
        return PROBITY_ERROR_DAMAGED;
    memcpy(ret_info->session, payload, 16);
    memcpy(ret_info->boot, payload + 16, 16);
    ret_info->pid = probity_get_u32(payload + 32);
    ret_info->parent_pid = probity_get_u32(payload + 36);
    ret_info->process_start = probity_get_u64(payload + 40);
    ret_info->clock = probity_get_u32(payload + 48);
    ret_info->flags = probity_get_u32(payload + 52);
    ret_info->rate = probity_get_u64(payload + 56);
    anchor_get(payload + 64, &ret_info->anchor);
    ret_info->mode = probity_get_u32(payload + 104);
    ret_info->chunk_words = probity_get_u32(payload + 108);
    ret_info->gap_ticks = probity_get_u64(payload + 112);
    ret_info->cpu_clock_ns = probity_get_u32(payload + 120);
    return texts_get(payload, bytes, ret_info);
}

void probity_data_put(uint8_t *payload, const struct probity_data *data)
{
    probity_put_u32(payload, data->thread);
    probity_put_u32(payload + 4, data->tid);
    probity_put_u64(payload + 8, data->chunk);
    probity_put_u32(payload + 16, data->first_word);
    probity_put_u32(payload + 20, data->end_word);
    probity_put_u32(payload + 24, data->records);
    probity_put_u32(payload + 28, data->flags);
    probity_put_u64(payload + 32, data->first_tick);
    probity_put_u64(payload + 40, data->last_tick);
    probity_put_u64(payload + 48, data->cpu_ns);
    probity_put_u64(payload + 56, data->rate);
    probity_put_u32(payload + 64, data->holes);
    probity_put_u32(payload + 68, 0);
}

int probity_data_get(const uint8_t *payload, size_t bytes, struct probity_data *ret_data)
{
    if (bytes < PROBITY_DATA_FIXED_BYTES)
        return PROBITY_ERROR_DAMAGED;
    ret_data->thread = probity_get_u32(payload);
    ret_data->tid = probity_get_u32(payload + 4);
    ret_data->chunk = probity_get_u64(payload + 8);
    ret_data->first_word = probity_get_u32(payload + 16);
    ret_data->end_word = probity_get_u32(payload + 20);
    ret_data->records = probity_get_u32(payload + 24);
    ret_data->flags = probity_get_u32(payload + 28);
    ret_data->first_tick = probity_get_u64(payload + 32);
    ret_data->last_tick = probity_get_u64(payload + 40);
    ret_data->cpu_ns = probity_get_u64(payload + 48);
    ret_data->rate = probity_get_u64(payload + 56);
    ret_data->holes = probity_get_u32(payload + 64);
    return ret_data->first_tick <= ret_data->last_tick && ret_data->first_word <= ret_data->end_word
               ? 0
               : PROBITY_ERROR_DAMAGED;
}

void probity_sync_put(uint8_t payload[PROBITY_SYNC_BYTES], const struct probity_sync *sync)
{
    const struct probity_totals *totals = &sync->totals;

    anchor_put(payload, &sync->anchor);
    probity_put_u64(payload + 40, sync->watermark);
    probity_put_u64(payload + 48, totals->records);
    probity_put_u64(payload + 56, totals->dropped_full);
    probity_put_u64(payload + 64, totals->dropped_memory);
    probity_put_u64(payload + 72, totals->dropped_write);
    probity_put_u64(payload + 80, totals->stalls);
    probity_put_u64(payload + 88, totals->stall_ticks);
    probity_put_u64(payload + 96, totals->unmeasured_ticks_max);
    probity_put_u32(payload + 104, totals->threads);
    probity_put_u32(payload + 108, sync->reason);
}

void probity_end_failed_put(uint8_t payload[PROBITY_END_FAILED_BYTES],
                            const struct probity_sync *sync)
{
    probity_assert(sync->reason == PROBITY_END_FAILED);
    probity_sync_put(payload, sync);
    probity_put_u32(payload + 112, sync->failed_errno);
    probity_put_u32(payload + 116, 0);
    probity_put_u64(payload + 120, sync->failed_tick);
}

int probity_sync_get(const uint8_t *payload, size_t bytes, struct probity_sync *ret_sync)
{
    struct probity_totals *totals = &ret_sync->totals;

    if (bytes < PROBITY_SYNC_BYTES)
        return PROBITY_ERROR_DAMAGED;
    anchor_get(payload, &ret_sync->anchor);
    ret_sync->watermark = probity_get_u64(payload + 40);
    totals->records = probity_get_u64(payload + 48);
    totals->dropped_full = probity_get_u64(payload + 56);
    totals->dropped_memory = probity_get_u64(payload + 64);
    totals->dropped_write = probity_get_u64(payload + 72);
    totals->stalls = probity_get_u64(payload + 80);
    totals->stall_ticks = probity_get_u64(payload + 88);
    totals->unmeasured_ticks_max = probity_get_u64(payload + 96);
    totals->threads = probity_get_u32(payload + 104);
    ret_sync->reason = probity_get_u32(payload + 108);
    int has_cause = ret_sync->reason == PROBITY_END_FAILED && bytes >= PROBITY_END_FAILED_BYTES;
    ret_sync->failed_errno = has_cause ? probity_get_u32(payload + 112) : 0;
    ret_sync->failed_tick = has_cause ? probity_get_u64(payload + 120) : 0;
    return 0;
}
