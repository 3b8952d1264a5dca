/* SPDX-License-Identifier: MIT
 *
 * bytes.h: little-endian integers in unaligned memory. Compilers turn each into one load or store.
 */
#ifndef PROBITY_BASE_BYTES_H
#define PROBITY_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the supported machines are little-endian (doc/spool.md)"
#endif

static inline uint16_t probity_get_u16(const void *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t probity_get_u32(const void *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t probity_get_u64(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline void probity_put_u16(void *at, uint16_t value)
{
    memcpy(at, &value, sizeof value);
}

static inline void probity_put_u32(void *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

static inline void probity_put_u64(void *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

#endif
