/* SPDX-License-Identifier: MIT
 *
 * sites.c: encodes and decodes the rows of a SITES block. A row begins with its length, so that
 * later versions can add fields. Adjacent rows mostly have the same file and library, so unchanged
 * texts are not repeated.
 */
#include "format/sites.h"

#include <string.h>

#include "base/assert.h"
#include "probity.h"

void probity_sites_head_put(uint8_t *payload, uint32_t rows, uint32_t left_out)
{
    probity_assert(rows > 0 || left_out > 0);
    probity_put_u32(payload, rows);
    probity_put_u32(payload + 4, left_out);
    probity_put_u64(payload + 8, 0);
}

int probity_sites_head_get(const uint8_t *payload, size_t bytes, uint32_t *ret_rows,
                           uint32_t *ret_left_out)
{
    if (bytes < PROBITY_SITES_FIXED_BYTES)
        return PROBITY_ERROR_DAMAGED;
    *ret_rows = probity_get_u32(payload);
    *ret_left_out = probity_get_u32(payload + 4);
    return 0;
}

static int is_same(const struct probity_listed *row, const struct probity_listed *before, int text)
{
    probity_assert(text >= 0 && text < PROBITY_LISTED_TEXTS);
    return row->length[text] == before->length[text] &&
           (row->length[text] == 0 ||
            memcmp(row->text[text], before->text[text], row->length[text]) == 0);
}

uint8_t *probity_sites_row_put(uint8_t *at, const struct probity_listed *row,
                               const struct probity_listed *before)
{
    enum { LENGTH_BYTES = 2 }; /* size of the length; any row is shorter than 2^14 bytes */
    static const struct probity_listed nothing;
    const uint32_t numbers[PROBITY_SITES_NUMBERS] = {row->kind, row->level, row->flags, row->line,
                                                     row->number};
    uint8_t *start = at + LENGTH_BYTES;

    _Static_assert((int)PROBITY_SITES_ROW_BYTES_MAX < 1 << 14, "a length of two bytes");
    at = start;
    for (int i = 0; i < PROBITY_SITES_NUMBERS; i++)
        at = probity_varint_put(at, numbers[i]);
    for (int i = 0; i < PROBITY_LISTED_TEXTS; i++) {
        if (is_same(row, before != NULL ? before : &nothing, i)) {
            at = probity_varint_put(at, 0);
            continue;
        }
        at = probity_varint_put(at, row->length[i] + 1);
        if (row->length[i] > 0)
            memcpy(at, row->text[i], row->length[i]);
        at += row->length[i];
    }
    probity_put_u16(start - LENGTH_BYTES, (uint16_t)((uint32_t)(at - start) << 2 | 2));
    probity_assert(at - start < 1 << 14);
    return at;
}

static const uint8_t *text_get(const uint8_t *at, const uint8_t *end, struct probity_listed *row,
                               int text)
{
    uint64_t length;

    probity_assert(text >= 0 && text < PROBITY_LISTED_TEXTS);
    at = probity_varint_get(at, end, &length);
    if (at == NULL || length == 0)
        return at;
    if (length - 1 > (size_t)(end - at) || length - 1 > PROBITY_LISTED_TEXT_MAX)
        return NULL;
    row->text[text] = (const char *)at;
    row->length[text] = (size_t)length - 1;
    return at + row->length[text];
}

const uint8_t *probity_sites_row_get(const uint8_t *at, const uint8_t *end,
                                     struct probity_listed *row)
{
    uint64_t bytes, number[PROBITY_SITES_NUMBERS];

    at = probity_varint_get(at, end, &bytes);
    if (at == NULL || bytes > (size_t)(end - at))
        return NULL;
    const uint8_t *row_end = at + bytes;
    for (int i = 0; i < PROBITY_SITES_NUMBERS; i++) {
        at = probity_varint_get(at, row_end, &number[i]);
        if (at == NULL || number[i] > UINT32_MAX)
            return NULL;
    }
    row->kind = (uint32_t)number[0];
    row->level = (uint32_t)number[1];
    row->flags = (uint32_t)number[2];
    row->line = (uint32_t)number[3];
    row->number = (uint32_t)number[4];
    for (int i = 0; at != NULL && i < PROBITY_LISTED_TEXTS; i++)
        at = text_get(at, row_end, row, i);
    probity_assert(at == NULL || at <= row_end);
    return at != NULL ? row_end : NULL;
}
