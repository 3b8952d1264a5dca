/* SPDX-License-Identifier: MIT
 *
 * test_num.c: variable-length numbers of every length, truncated, and longer than necessary.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/varint.h"

/* The length that the format defines: seven bits per byte, up to eight bytes; beyond that, nine
 * bytes. */
static size_t length_of(uint64_t value)
{
    size_t bytes = 1;

    while (bytes < 9 && (bytes == 8 ? value >> 56 : value >> (7 * bytes)) != 0)
        bytes++;
    return bytes;
}

static void check_value(uint64_t value)
{
    uint8_t bytes[PROBITY_VARINT_BYTES_MAX + PROBITY_VARINT_SLACK + 8];
    uint64_t got = ~value;

    memset(bytes, 0xa5, sizeof bytes);
    uint8_t *end = probity_varint_put(bytes, value);
    assert_int_equal(end - bytes, length_of(value));
    /* Decoding ignores the bytes after the number, and works if none follow. */
    memset(end, 0xff, 8);
    assert_ptr_equal(probity_varint_get(bytes, bytes + sizeof bytes, &got), end);
    assert_true(got == value);
    got = ~value;
    assert_ptr_equal(probity_varint_get(bytes, end, &got), end);
    assert_true(got == value);
    for (const uint8_t *cut = bytes; cut < end; cut++)
        assert_null(probity_varint_get(bytes, cut, &got));
}

static void every_length(void **state)
{
    (void)state;
    check_value(0);
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t value = UINT64_C(1) << bit;
        check_value(value);
        check_value(value - 1);
        check_value(value + 1);
        check_value(value | 0x5555555555555555 >> (63 - bit));
    }
    check_value(UINT64_MAX);
}

static void random_values(void **state)
{
    uint64_t random = 88172645463325252u;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        check_value(random >> (random & 63));
    }
}

static void documented_bytes(void **state)
{
    static const uint8_t one[] = {0x03}, most[] = {0xff}, two[] = {0x02, 0x02};
    uint8_t bytes[PROBITY_VARINT_BYTES_MAX + PROBITY_VARINT_SLACK];

    (void)state;
    probity_varint_put(bytes, 1);
    assert_memory_equal(bytes, one, sizeof one);
    probity_varint_put(bytes, 127);
    assert_memory_equal(bytes, most, sizeof most);
    probity_varint_put(bytes, 128);
    assert_memory_equal(bytes, two, sizeof two);
    probity_varint_put(bytes, UINT64_MAX);
    assert_int_equal(bytes[0], 0);
}

/* The number 5 in one, two and nine bytes. */
static void longer_than_needed(void **state)
{
    static const uint8_t longer[][9] = {
        {5 << 1 | 1}, {5 << 2 | 2}, {0, 5, 0, 0, 0, 0, 0, 0, 0}};
    static const size_t lengths[] = {1, 2, 9};
    uint64_t got;

    (void)state;
    for (int i = 0; i < 3; i++) {
        got = 0;
        assert_ptr_equal(probity_varint_get(longer[i], longer[i] + lengths[i], &got),
                         longer[i] + lengths[i]);
        assert_int_equal(got, 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length),
        cmocka_unit_test(random_values),
        cmocka_unit_test(documented_bytes),
        cmocka_unit_test(longer_than_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
