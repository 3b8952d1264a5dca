/* SPDX-License-Identifier: MIT
 *
 * dump.c: encodes and decodes the DUMP block. Decoded data is untrusted: lengths are checked before
 * they are used.
 */
#include "format/dump.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "probity.h"

size_t probity_dump_room(uint32_t reasons)
{
    return PROBITY_DUMP_FIXED_BYTES +
           (size_t)reasons * (4 + PROBITY_DUMP_REASON_BYTES + 2 * PROBITY_DUMP_TEXT_MAX);
}

static uint8_t *put_text(uint8_t *at, const struct probity_text *text)
{
    size_t length = text->bytes == NULL                       ? 0
                    : text->length < PROBITY_DUMP_TEXT_MAX ? text->length
                                                              : PROBITY_DUMP_TEXT_MAX;

    probity_put_u16(at, (uint16_t)length);
    if (length > 0)
        memcpy(at + 2, text->bytes, length);
    return at + 2 + length;
}

static uint8_t *put_reason(uint8_t *begin, const struct probity_dump_reason *reason)
{
    uint8_t *at = begin + 4;

    probity_put_u32(at, reason->kind);
    probity_put_u32(at + 4, reason->thread);
    probity_put_u32(at + 8, reason->tid);
    probity_put_u32(at + 12, reason->number);
    probity_put_u32(at + 16, reason->from);
    probity_put_u32(at + 20, reason->flags);
    probity_put_u64(at + 24, reason->start);
    probity_put_u64(at + 32, reason->end);
    probity_put_u64(at + 40, reason->limit);
    probity_put_u64(at + 48, reason->id);
    at = put_text(at + 56, &reason->condition);
    at = put_text(at, &reason->text);
    probity_put_u32(begin, (uint32_t)(at - begin - 4));
    return at;
}

size_t probity_dump_put(uint8_t *payload, const struct probity_dump *dump,
                        const struct probity_dump_reason *reasons)
{
    uint8_t *at = payload + PROBITY_DUMP_FIXED_BYTES;

    probity_assert(dump->reasons > 0);
    memcpy(payload, dump->session, sizeof dump->session);
    probity_put_u32(payload + 16, dump->number);
    probity_put_u32(payload + 20, dump->flags);
    probity_put_u64(payload + 24, dump->wanted);
    probity_put_u64(payload + 32, dump->had);
    probity_put_u64(payload + 40, dump->end);
    probity_put_u32(payload + 48, dump->reasons);
    probity_put_u32(payload + 52, dump->more);
    probity_put_u32(payload + 56, dump->left_out);
    probity_put_u32(payload + 60, dump->lost);
    for (uint32_t i = 0; i < dump->reasons; i++)
        at = put_reason(at, &reasons[i]);
    probity_assert((size_t)(at - payload) <= probity_dump_room(dump->reasons));
    return (size_t)(at - payload);
}

int probity_dump_get(const uint8_t *payload, size_t bytes, struct probity_dump *ret_dump,
                     size_t *ret_offset)
{
    if (bytes < PROBITY_DUMP_FIXED_BYTES)
        return PROBITY_ERROR_DAMAGED;
    memcpy(ret_dump->session, payload, sizeof ret_dump->session);
    ret_dump->number = probity_get_u32(payload + 16);
    ret_dump->flags = probity_get_u32(payload + 20);
    ret_dump->wanted = probity_get_u64(payload + 24);
    ret_dump->had = probity_get_u64(payload + 32);
    ret_dump->end = probity_get_u64(payload + 40);
    ret_dump->reasons = probity_get_u32(payload + 48);
    ret_dump->more = probity_get_u32(payload + 52);
    ret_dump->left_out = probity_get_u32(payload + 56);
    ret_dump->lost = probity_get_u32(payload + 60);
    *ret_offset = PROBITY_DUMP_FIXED_BYTES;
    return 0;
}

/* Returns the address after the text, or NULL if it does not fit. */
static const uint8_t *get_text(const uint8_t *at, const uint8_t *end, struct probity_text *ret_text)
{
    if (end - at < 2 || end - at - 2 < probity_get_u16(at))
        return NULL;
    *ret_text = (struct probity_text){(const char *)at + 2, probity_get_u16(at)};
    return at + 2 + ret_text->length;
}

int probity_dump_reason_get(const uint8_t *payload, size_t bytes, size_t *offset,
                            struct probity_dump_reason *ret_reason)
{
    struct probity_dump_reason reason;

    if (*offset > bytes || bytes - *offset < 4)
        return PROBITY_ERROR_DAMAGED;
    size_t size = probity_get_u32(payload + *offset);
    const uint8_t *at = payload + *offset + 4, *end = at + size;
    if (size > bytes - *offset - 4 || size < PROBITY_DUMP_REASON_BYTES)
        return PROBITY_ERROR_DAMAGED;
    reason.kind = probity_get_u32(at);
    reason.thread = probity_get_u32(at + 4);
    reason.tid = probity_get_u32(at + 8);
    reason.number = probity_get_u32(at + 12);
    reason.from = probity_get_u32(at + 16);
    reason.flags = probity_get_u32(at + 20);
    reason.start = probity_get_u64(at + 24);
    reason.end = probity_get_u64(at + 32);
    reason.limit = probity_get_u64(at + 40);
    reason.id = probity_get_u64(at + 48);
    at = get_text(at + 56, end, &reason.condition);
    if (at == NULL || get_text(at, end, &reason.text) == NULL || reason.start > reason.end)
        return PROBITY_ERROR_DAMAGED;
    *offset += 4 + size;
    *ret_reason = reason;
    return 0;
}
