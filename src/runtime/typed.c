/* SPDX-License-Identifier: MIT
 *
 * typed.c: hits with ids outside the inline path of probity_typed.h: before a thread's first chunk,
 * at the end of a chunk, and if the CPU clock must be read. Runs in the traced thread,
 * async-signal-safe.
 */
#include "probity_typed.h"

#include "runtime/record.h"

PROBITY_API void probity_hit_with_slow(uint32_t number, uint32_t flags, uint64_t correlation,
                                       uint64_t object)
{
    probity_hit_at_slow(number, flags & ~(uint32_t)PROBITY_WITH_PLACE, correlation, object, 0);
}

PROBITY_API void probity_hit_at_slow(uint32_t number, uint32_t flags, uint64_t correlation,
                                     uint64_t object, uint64_t place)
{
    uint8_t payload[32];
    uint8_t *at = probity_put_bytes(payload, &number, 4);

    at = probity_put_bytes(at, &flags, 4);
    if (flags & PROBITY_WITH_CORRELATION)
        at = probity_put_bytes(at, &correlation, 8);
    if (flags & PROBITY_WITH_OBJECT)
        at = probity_put_bytes(at, &object, 8);
    if (flags & PROBITY_WITH_PLACE)
        at = probity_put_bytes(at, &place, 8);
    probity_record_values(PROBITY_KIND_HIT_WITH, payload, (size_t)(at - payload));
}
