/* SPDX-License-Identifier: MIT
 *
 * test_checksum.c: CRC-32C against the examples of RFC 3720, B.4, in one piece and split at every
 * byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/checksum.h"

static void examples_of_rfc_3720(void **state)
{
    static const uint8_t read_command[48] = {
        0x01, 0xc0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0,
        0,    0,    0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0};
    uint8_t bytes[32];

    (void)state;
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(probity_checksum(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(probity_checksum(0, bytes, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(probity_checksum(0, bytes, 32), 0x46dd794e);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(31 - i);
    assert_int_equal(probity_checksum(0, bytes, 32), 0x113fdb5c);
    assert_int_equal(probity_checksum(0, read_command, 48), 0xd9963a56);
    assert_int_equal(probity_checksum(0, "123456789", 9), 0xe3069283);
    assert_int_equal(probity_checksum(0, "", 0), 0);
}

/* The checksum does not depend on alignment or on where the data is split; any changed bit changes
 * it. */
static void pieces(void **state)
{
    uint8_t bytes[80];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    for (size_t from = 0; from < 9; from++) {
        uint32_t whole = probity_checksum(0, bytes + from, 64);
        for (size_t cut = 0; cut <= 64; cut++) {
            uint32_t half = probity_checksum(0, bytes + from, cut);
            assert_int_equal(probity_checksum(half, bytes + from + cut, 64 - cut), whole);
        }
        bytes[from + 33] ^= 4;
        assert_int_not_equal(probity_checksum(0, bytes + from, 64), whole);
        bytes[from + 33] ^= 4;
    }
}

/* Long runs are computed in lanes, but not short ones. */
static void long_runs(void **state)
{
    static uint8_t bytes[10000];
    uint32_t random = 1;

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        random = random * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(random >> 24);
    }
    for (size_t length = 3000; length < sizeof bytes; length += 97) {
        uint32_t crc = 0;
        for (size_t at = 1; at < length; at++)
            crc = probity_checksum(crc, bytes + at, 1);
        assert_int_equal(probity_checksum(0, bytes + 1, length - 1), crc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_of_rfc_3720),
        cmocka_unit_test(pieces),
        cmocka_unit_test(long_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
