/* SPDX-License-Identifier: MIT
 *
 * profile.c: encodes and decodes the rows of a PROFILE block: numbers, and the non-empty buckets of
 * the histogram. A row begins with its length, so that later versions can add fields.
 */
#include "format/profile.h"

#include <string.h>

#include "base/assert.h"
#include "base/varint.h"
#include "probity.h"

void probity_profile_part_put(uint8_t *payload, const struct probity_profile_part *part)
{
    probity_put_u32(payload, part->part);
    probity_put_u32(payload + 4, part->flags);
    probity_put_u32(payload + 8, part->rows);
    probity_put_u32(payload + 12, 0);
    probity_put_u64(payload + 16, part->tick);
    probity_put_u64(payload + 24, part->rate);
}

int probity_profile_part_get(const uint8_t *payload, size_t bytes,
                             struct probity_profile_part *ret_part)
{
    if (bytes < PROBITY_PROFILE_FIXED_BYTES)
        return PROBITY_ERROR_DAMAGED;
    *ret_part = (struct probity_profile_part){.part = probity_get_u32(payload),
                                              .flags = probity_get_u32(payload + 4),
                                              .rows = probity_get_u32(payload + 8),
                                              .tick = probity_get_u64(payload + 16),
                                              .rate = probity_get_u64(payload + 24)};
    return 0;
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

enum { NUMBERS = 16 };

uint8_t *probity_profile_row_put(uint8_t *at, const struct probity_profile_row *row)
{
    enum { LENGTH_BYTES = 2 }; /* size of the length; any row is shorter than 2^14 bytes */
    const uint64_t numbers[NUMBERS] = {row->set, row->thread, row->tid, row->threads,
                                       row->site, row->calls, row->untimed, row->unwound,
                                       row->total, row->self, row->min, row->max, row->paused,
                                       row->durations, zigzag(row->off_total),
                                       zigzag(row->off_self)};
    uint8_t *start = at + LENGTH_BYTES;
    uint32_t next = 0, count = 0;

    at = start;
    for (int i = 0; i < NUMBERS; i++)
        at = probity_varint_put(at, numbers[i]);
    for (uint32_t i = 0; i < PROBITY_PROFILE_BUCKETS; i++)
        count += row->histogram[i] != 0;
    at = probity_varint_put(at, count);
    for (uint32_t i = 0; i < PROBITY_PROFILE_BUCKETS; i++) {
        if (row->histogram[i] == 0)
            continue;
        at = probity_varint_put(at, i - next);
        at = probity_varint_put(at, row->histogram[i]);
        next = i + 1;
    }
    at = probity_varint_put(at, row->open_since);
    /* Writes a two-byte number, even if one byte would be enough. */
    probity_put_u16(start - LENGTH_BYTES, (uint16_t)((uint32_t)(at - start) << 2 | 2));
    probity_assert(at - start < 1 << 14);
    return at;
}

static const uint8_t *histogram_get(const uint8_t *at, const uint8_t *end,
                                    struct probity_profile_row *ret_row)
{
    uint64_t count, next = 0, skipped, calls;

    at = probity_varint_get(at, end, &count);
    for (uint64_t i = 0; at != NULL && i < count; i++) {
        at = probity_varint_get(at, end, &skipped);
        at = at != NULL ? probity_varint_get(at, end, &calls) : NULL;
        if (at == NULL || skipped >= PROBITY_PROFILE_BUCKETS - next)
            return NULL;
        ret_row->histogram[next + skipped] = calls;
        next += skipped + 1;
        probity_assert(next <= PROBITY_PROFILE_BUCKETS);
    }
    return at;
}

const uint8_t *probity_profile_row_get(const uint8_t *at, const uint8_t *end,
                                       struct probity_profile_row *ret_row)
{
    uint64_t number[NUMBERS], bytes;

    at = probity_varint_get(at, end, &bytes);
    if (at == NULL || bytes > (size_t)(end - at))
        return NULL;
    const uint8_t *row_end = at + bytes;
    for (int i = 0; i < NUMBERS; i++) {
        at = probity_varint_get(at, row_end, &number[i]);
        if (at == NULL || (i < 5 && number[i] > UINT32_MAX))
            return NULL;
    }
    memset(ret_row, 0, sizeof *ret_row);
    ret_row->set = (uint32_t)number[0];
    ret_row->thread = (uint32_t)number[1];
    ret_row->tid = (uint32_t)number[2];
    ret_row->threads = (uint32_t)number[3];
    ret_row->site = (uint32_t)number[4];
    ret_row->calls = number[5];
    ret_row->untimed = number[6];
    ret_row->unwound = number[7];
    ret_row->total = number[8];
    ret_row->self = number[9];
    ret_row->min = number[10];
    ret_row->max = number[11];
    ret_row->paused = number[12];
    ret_row->durations = number[13];
    ret_row->off_total = unzigzag(number[14]);
    ret_row->off_self = unzigzag(number[15]);
    at = histogram_get(at, row_end, ret_row);
    if (at == NULL)
        return NULL;
    /* Absent in older traces. */
    if (probity_varint_get(at, row_end, &bytes) != NULL)
        ret_row->open_since = bytes;
    return row_end;
}
