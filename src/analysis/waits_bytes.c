/* SPDX-License-Identifier: MIT
 *
 * waits_bytes.c: implements waits_bytes.h. Input is untrusted.
 */
#include "analysis/waits_bytes.h"

#include "base/array_grow.h"
#include "base/varint.h"
#include "probity.h"

uint8_t *waits_bytes_room(struct waits_bytes *saved, size_t bytes)
{
    uint8_t *grown = saved->error == 0 ? probity_array_fit(saved->bytes, 1, saved->used + bytes,
                                                           &saved->capacity)
                                       : NULL;

    if (grown == NULL) {
        saved->error = PROBITY_ERROR_MEMORY;
        return NULL;
    }
    saved->bytes = grown;
    return grown + saved->used;
}

void waits_bytes_put(struct waits_bytes *saved, uint64_t value)
{
    uint8_t *at = waits_bytes_room(saved, PROBITY_VARINT_BYTES_MAX + PROBITY_VARINT_SLACK);

    if (at != NULL)
        saved->used += (size_t)(probity_varint_put(at, value) - at);
}

uint64_t waits_cursor_get(struct waits_cursor *cursor)
{
    uint64_t value = 0;
    const uint8_t *at = probity_varint_get(cursor->at, cursor->end, &value);

    cursor->is_damaged |= at == NULL;
    cursor->at = at != NULL ? at : cursor->end;
    return at != NULL ? value : 0;
}
