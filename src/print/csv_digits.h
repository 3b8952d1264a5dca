/* SPDX-License-Identifier: MIT
 *
 * csv_digits.h: writes decimal digits without loops or tables, eight at a time in a 64-bit word.
 */
#ifndef PROBITY_PRINT_CSV_DIGITS_H
#define PROBITY_PRINT_CSV_DIGITS_H

#include <stdint.h>
#include <string.h>

enum { PROBITY_DIGITS_MAX = 20, PROBITY_DIGITS_SLACK = 8 };

/* Returns the digits of value < 10^8 as bytes 0 to 9, the first digit in the lowest byte. Splits it
 * into halves, quarters and eighths, dividing in parallel by multiplication, which is exact in
 * these ranges. */
static inline uint64_t probity_digits_eight(uint32_t value)
{
    uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t hundreds = (fours * 10486 >> 20) & UINT64_C(0x7f0000007f);
    uint64_t twos = hundreds + ((fours - 100 * hundreds) << 16);
    uint64_t tens = (twos * 103 >> 10) & UINT64_C(0xf000f000f000f);

    return tens + ((twos - 10 * tens) << 8);
}

#define PROBITY_DIGITS_ZEROS UINT64_C(0x3030303030303030)

/* Writes eight digits, with leading zeros. */
static inline char *probity_digits_put_eight(char *at, uint32_t value)
{
    uint64_t digits = probity_digits_eight(value) + PROBITY_DIGITS_ZEROS;

    memcpy(at, &digits, 8);
    return at + 8;
}

/* Writes value < 10^8 without leading zeros; eight bytes must be writable. */
static inline char *probity_digits_put_short(char *at, uint32_t value)
{
    uint64_t digits = probity_digits_eight(value);
    unsigned skip = digits != 0 ? (unsigned)__builtin_ctzll(digits) / 8 : 7;

    digits = (digits + PROBITY_DIGITS_ZEROS) >> 8 * skip;
    memcpy(at, &digits, 8);
    return at + 8 - skip;
}

/* Writes a number below 10^9 without leading zeros; nine bytes must be writable. */
static inline char *probity_digits_put_nano(char *at, uint32_t value)
{
    if (__builtin_expect(value < 100000000, 0))
        return probity_digits_put_short(at, value);
    uint32_t first = value / 100000000;
    *at = (char)('0' + first);
    return probity_digits_put_eight(at + 1, value - first * 100000000);
}

/* Writes any number; PROBITY_DIGITS_MAX + PROBITY_DIGITS_SLACK bytes must be writable. */
static inline char *probity_digits_put(char *at, uint64_t value)
{
    if (value < 100000000)
        return probity_digits_put_short(at, (uint32_t)value);
    at = probity_digits_put(at, value / 100000000);
    return probity_digits_put_eight(at, (uint32_t)(value % 100000000));
}

#endif
