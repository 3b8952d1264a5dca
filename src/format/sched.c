/* SPDX-License-Identifier: MIT
 *
 * sched.c: encodes and decodes the head of TRACE.sched.
 */
#include "format/sched.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "probity.h"

static const uint8_t magic[12] = {0x89, 'P', 'R', 'O', 'B', 'S', 'C', 'H', '\r', '\n', 0x1a, '\n'};

void probity_sched_header_put(uint8_t bytes[PROBITY_SCHED_HEADER_BYTES])
{
    memcpy(bytes, magic, sizeof magic);
    probity_put_u16(bytes + 12, PROBITY_SCHED_MAJOR);
    probity_put_u16(bytes + 14, PROBITY_SCHED_MINOR);
}

int probity_sched_header_check(const uint8_t bytes[PROBITY_SCHED_HEADER_BYTES])
{
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return PROBITY_ERROR_FORMAT;
    return probity_get_u16(bytes + 12) == PROBITY_SCHED_MAJOR ? 0 : PROBITY_ERROR_VERSION;
}

void probity_sched_info_put(uint8_t payload[PROBITY_SCHED_INFO_BYTES],
                            const struct probity_sched_info *info)
{
    const uint64_t fields[] = {info->first_tick, info->last_tick, info->lost, info->blocks,
                               info->events, info->wakings_until, info->paused_ns};

    probity_assert(info->first_tick <= info->last_tick);
    memcpy(payload, info->session, 16);
    probity_put_u32(payload + 16, info->flags);
    probity_put_u32(payload + 20, info->error_ns);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        probity_put_u64(payload + 24 + 8 * i, fields[i]);
    probity_put_u32(payload + 80, info->pauses);
}

int probity_sched_info_get(const uint8_t *payload, size_t bytes,
                           struct probity_sched_info *ret_info)
{
    uint64_t *const fields[] = {&ret_info->first_tick, &ret_info->last_tick, &ret_info->lost,
                                &ret_info->blocks, &ret_info->events,
                                &ret_info->wakings_until, &ret_info->paused_ns};
    uint8_t whole[PROBITY_SCHED_INFO_BYTES] = {0};

    if (bytes < PROBITY_SCHED_INFO_BYTES_LEAST)
        return PROBITY_ERROR_DAMAGED;
    memcpy(whole, payload, bytes < sizeof whole ? bytes : sizeof whole);
    payload = whole;
    memcpy(ret_info->session, payload, 16);
    ret_info->flags = probity_get_u32(payload + 16);
    ret_info->error_ns = probity_get_u32(payload + 20);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i] = probity_get_u64(payload + 24 + 8 * i);
    ret_info->pauses = probity_get_u32(payload + 80);
    return 0;
}
