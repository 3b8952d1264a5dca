/* SPDX-License-Identifier: MIT
 *
 * cost.c: encodes and decodes the COST block field by field. The block contains the length of a
 * row, so that later versions can extend rows.
 */
#include "format/cost.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "probity.h"

uint32_t probity_cost_put(uint8_t payload[PROBITY_COST_BYTES_MAX], const struct probity_cost *cost)
{
    uint8_t *at = payload + PROBITY_COST_FIXED_BYTES;

    probity_assert(cost->rows <= PROBITY_COST_ROWS_MAX && cost->moment < PROBITY_COST_MOMENTS);
    probity_put_u32(payload, cost->moment);
    probity_put_u32(payload + 4, cost->took_ns);
    probity_put_u32(payload + 8, cost->rows);
    probity_put_u32(payload + 12, PROBITY_COST_ROW_BYTES);
    for (uint32_t i = 0; i < cost->rows; i++, at += PROBITY_COST_ROW_BYTES) {
        const struct probity_cost_row *row = &cost->row[i];
        probity_put_u16(at, row->kind);
        probity_put_u16(at + 2, row->context);
        probity_put_u16(at + 4, row->windows);
        probity_put_u16(at + 6, row->calls);
        probity_put_u32(at + 8, row->least);
        probity_put_u32(at + 12, row->median);
    }
    probity_assert(at <= payload + PROBITY_COST_BYTES_MAX);
    return (uint32_t)(at - payload);
}

int probity_cost_get(const uint8_t *payload, size_t bytes, struct probity_cost *ret_cost)
{
    if (bytes < PROBITY_COST_FIXED_BYTES)
        return PROBITY_ERROR_DAMAGED;
    uint32_t rows = probity_get_u32(payload + 8), row_bytes = probity_get_u32(payload + 12);
    if (rows > 0 && (row_bytes < PROBITY_COST_ROW_BYTES ||
                     rows > (bytes - PROBITY_COST_FIXED_BYTES) / row_bytes))
        return PROBITY_ERROR_DAMAGED;
    memset(ret_cost, 0, sizeof *ret_cost);
    ret_cost->moment = probity_get_u32(payload);
    if (ret_cost->moment >= PROBITY_COST_MOMENTS)
        return 0;
    ret_cost->took_ns = probity_get_u32(payload + 4);
    ret_cost->rows = rows < PROBITY_COST_ROWS_MAX ? rows : PROBITY_COST_ROWS_MAX;
    for (uint32_t i = 0; i < ret_cost->rows; i++) {
        const uint8_t *at = payload + PROBITY_COST_FIXED_BYTES + (size_t)i * row_bytes;
        ret_cost->row[i] = (struct probity_cost_row){.kind = probity_get_u16(at),
                                                     .context = probity_get_u16(at + 2),
                                                     .windows = probity_get_u16(at + 4),
                                                     .calls = probity_get_u16(at + 6),
                                                     .least = probity_get_u32(at + 8),
                                                     .median = probity_get_u32(at + 12)};
    }
    return 0;
}
