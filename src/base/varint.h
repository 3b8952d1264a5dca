/* SPDX-License-Identifier: MIT
 *
 * varint.h: the variable-length number of doc/trace-format.md. The number of trailing zero bits in
 * the first byte is the number of bytes that follow, so that encoding and decoding take a few
 * instructions without a loop.
 */
#ifndef PROBITY_BASE_VARINT_H
#define PROBITY_BASE_VARINT_H

#include "base/bytes.h"

enum {
    PROBITY_VARINT_BYTES_MAX = 9,
    PROBITY_VARINT_SLACK = 8 /* number of bytes after the number that a put may overwrite */
};

/* Writes value at `at`, where PROBITY_VARINT_BYTES_MAX + PROBITY_VARINT_SLACK bytes must be
 * writable. Returns the end. */
static inline uint8_t *probity_varint_put(uint8_t *at, uint64_t value)
{
    unsigned bits = 64u - (unsigned)__builtin_clzll(value | 1);

    if (__builtin_expect(bits > 56, 0)) {
        at[0] = 0;
        probity_put_u64(at + 1, value);
        return at + 9;
    }
    unsigned bytes = (bits * 9 + 64) >> 6; /* = ceil(bits / 7) for 1 to 56 */
    probity_put_u64(at, (value << 1 | 1) << (bytes - 1));
    return at + bytes;
}

/* Reads the number at `at`, before `end`. Returns the end of the number, or NULL if it is
 * truncated. */
static inline const uint8_t *probity_varint_get(const uint8_t *at, const uint8_t *end,
                                                uint64_t *ret_value)
{
    uint64_t word = 0;

    if (__builtin_expect(end - at >= 8, 1))
        word = probity_get_u64(at);
    else if (end > at)
        memcpy(&word, at, (size_t)(end - at));
    else
        return NULL;
    unsigned zeros = (word & 0xff) ? (unsigned)__builtin_ctzll(word) : 8;
    if ((size_t)(end - at) < (size_t)zeros + 1)
        return NULL;
    if (__builtin_expect(zeros == 8, 0)) {
        *ret_value = probity_get_u64(at + 1);
        return at + 9;
    }
    unsigned bytes = zeros + 1;
    *ret_value = word << (64 - 8 * bytes) >> (64 - 8 * bytes) >> bytes;
    return at + bytes;
}

/* As probity_varint_get(), if eight bytes are readable. Returns NULL if the number takes nine
 * bytes. */
static inline const uint8_t *probity_varint_get_short(const uint8_t *at, uint64_t *ret_value)
{
    uint64_t word = probity_get_u64(at);

    if (__builtin_expect((word & 0xff) == 0, 0))
        return NULL;
    unsigned bytes = (unsigned)__builtin_ctzll(word) + 1;
    *ret_value = word << (64 - 8 * bytes) >> (64 - 8 * bytes) >> bytes;
    return at + bytes;
}

#endif
