/* SPDX-License-Identifier: MIT
 *
 * num.h: the variable-length number of doc/trace-format.md. The count of trailing zero bits of the
 * first byte says how many bytes follow, so that both directions are a few instructions without a
 * loop.
 */
#ifndef PROBITY_BASE_NUM_H
#define PROBITY_BASE_NUM_H

#include "base/bytes.h"

enum {
    PROBITY_NUM_BYTES_MAX = 9,
    PROBITY_NUM_SLACK = 8 /* a put may scribble so many bytes behind the number's end */
};

/* Puts value at `at`, where PROBITY_NUM_BYTES_MAX + PROBITY_NUM_SLACK bytes are writable. Returns
 * the end. */
static inline uint8_t *probity_num_put(uint8_t *at, uint64_t value)
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

/* Gets the number at `at`, before `end`. Returns the end of the number, or NULL where it is cut
 * off. */
static inline const uint8_t *probity_num_get(const uint8_t *at, const uint8_t *end,
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

#endif
