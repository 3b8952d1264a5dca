/* SPDX-License-Identifier: MIT
 *
 * test_block.c: encodes and decodes blocks and their payloads at the offsets of
 * doc/trace-format.md, and rejects truncated ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "format/block.h"
#include "probity.h"

static struct probity_text text(const char *bytes)
{
    return (struct probity_text){bytes, strlen(bytes)};
}

static struct probity_info info_sample(void)
{
    struct probity_info info = {.pid = 0x01020304,
                                .parent_pid = 5,
                                .process_start = 0x1122334455667788,
                                .clock = PROBITY_CLOCK_TSC,
                                .flags = 3,
                                .rate = 1654000000,
                                .anchor = {10, 20, 30, 40, 50},
                                .mode = 2,
                                .chunk_words = 4096,
                                .gap_ticks = 4000,
                                .cpu_clock_ns = 380};

    memset(info.session, 0xaa, 16);
    memset(info.boot, 0xbb, 16);
    info.text[PROBITY_TAG_PROGRAM] = text("/bin/program");
    info.text[PROBITY_TAG_COMMAND] = (struct probity_text){"a\0b", 3};
    info.text[PROBITY_TAG_CSV] = text("");
    return info;
}

static void file_header(void **state)
{
    static const uint8_t magic[] = {0x89, 'P', 'R', 'O', 'B', 'I', 'T', 'Y',
                                    13,   10,  26,  10,  1,   0,   4,   0};
    uint8_t bytes[PROBITY_FILE_HEADER_BYTES];

    (void)state;
    probity_file_header_put(bytes);
    assert_memory_equal(bytes, magic, sizeof magic);
    assert_int_equal(probity_file_header_check(bytes), 0);
    bytes[14] = 77; /* newer minor versions only add fields */
    assert_int_equal(probity_file_header_check(bytes), 0);
    bytes[12] = 2;
    assert_int_equal(probity_file_header_check(bytes), PROBITY_ERROR_VERSION);
    for (int i = 0; i < 12; i++) {
        probity_file_header_put(bytes);
        bytes[i] ^= 1;
        assert_int_equal(probity_file_header_check(bytes), PROBITY_ERROR_FORMAT);
    }
}

static void block_header(void **state)
{
    uint8_t block[PROBITY_BLOCK_HEADER_BYTES + 100];
    struct probity_block_header header;

    (void)state;
    memset(block, 7, sizeof block);
    probity_block_seal(block, PROBITY_BLOCK_SYNC, 0x123456789abc, 100);
    assert_memory_equal(block, "PBLK", 4);
    assert_int_equal(probity_get_u32(block + 4), 100);
    assert_int_equal(probity_block_header_get(block, &header), 0);
    assert_int_equal(header.type, PROBITY_BLOCK_SYNC);
    assert_true(header.serial == 0x123456789abc);
    assert_true(probity_block_is_whole(block, &header));
    /* Any changed byte is detected. */
    for (size_t i = 0; i < sizeof block; i++) {
        block[i] ^= 0x10;
        assert_false(probity_block_header_get(block, &header) == 0 && header.payload_bytes == 100 &&
                     probity_block_is_whole(block, &header));
        block[i] ^= 0x10;
    }
    probity_put_u32(block + 4, PROBITY_BLOCK_PAYLOAD_MAX + 1);
    assert_int_equal(probity_block_header_get(block, &header), PROBITY_ERROR_DAMAGED);
}

/* The checksum of doc/trace-format.md, computed bit by bit: over the whole block, with the checksum
 * field set to zero. */
static void checksum_is_that_of_the_format(void **state)
{
    uint8_t block[PROBITY_BLOCK_HEADER_BYTES + 57];
    uint32_t crc = UINT32_MAX;

    (void)state;
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (uint8_t)(i * 37);
    probity_block_seal(block, PROBITY_BLOCK_DATA, 0xfedcba9876543210, 57);
    for (size_t i = 0; i < sizeof block; i++) {
        crc ^= i < 8 || i >= 12 ? block[i] : 0;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    assert_int_equal(probity_get_u32(block + 8), ~crc);
}

static void info_there_and_back(void **state)
{
    struct probity_info info = info_sample(), got;
    uint8_t payload[1024], again[1024];

    (void)state;
    size_t bytes = probity_info_put(payload, sizeof payload, &info);
    assert_int_equal(bytes, PROBITY_INFO_FIXED_BYTES + 4 + 12 + 4 + 3 + 4);
    assert_int_equal(probity_get_u32(payload + 32), 0x01020304);
    assert_int_equal(probity_get_u32(payload + 124), 3);
    assert_int_equal(probity_info_get(payload, bytes, &got), 0);
    assert_true(got.process_start == 0x1122334455667788 && got.cpu_clock_ns == 380);
    assert_true(got.anchor.realtime_ns == 40 && got.anchor.width_ns == 50 && got.mode == 2);
    assert_int_equal(probity_info_put(again, sizeof again, &got), bytes);
    assert_memory_equal(again, payload, bytes);
    assert_int_equal(got.text[PROBITY_TAG_PROGRAM].length, 12);
    assert_memory_equal(got.text[PROBITY_TAG_COMMAND].bytes, "a\0b", 3);
    assert_non_null(got.text[PROBITY_TAG_CSV].bytes);
    assert_null(got.text[PROBITY_TAG_HOST].bytes);
    for (size_t cut = 0; cut < bytes; cut++)
        assert_int_equal(probity_info_get(payload, cut, &got), PROBITY_ERROR_DAMAGED);
    for (size_t room = 0; room < bytes; room++)
        assert_int_equal(probity_info_put(payload, room, &info), 0);
}

static void info_of_strange_strings(void **state)
{
    struct probity_info info = info_sample(), got;
    uint8_t payload[1024];

    (void)state;
    size_t bytes = probity_info_put(payload, sizeof payload, &info);
    probity_put_u16(payload + PROBITY_INFO_FIXED_BYTES, 999); /* a tag of a later version */
    assert_int_equal(probity_info_get(payload, bytes, &got), 0);
    assert_null(got.text[PROBITY_TAG_PROGRAM].bytes);
    probity_put_u32(payload + 124, UINT32_MAX);
    assert_int_equal(probity_info_get(payload, bytes, &got), PROBITY_ERROR_DAMAGED);
}

static void data_there_and_back(void **state)
{
    struct probity_data data = {1, 2, UINT64_C(3) << 40, 4, 50, 46, 7, 100, 200, 9, 10, 11}, got;
    uint8_t payload[PROBITY_DATA_FIXED_BYTES], again[PROBITY_DATA_FIXED_BYTES];

    (void)state;
    probity_data_put(payload, &data);
    assert_int_equal(probity_data_get(payload, sizeof payload, &got), 0);
    assert_true(got.chunk == UINT64_C(3) << 40 && got.end_word == 50 && got.rate == 10);
    probity_data_put(again, &got);
    assert_memory_equal(again, payload, sizeof payload);
    for (size_t cut = 0; cut < sizeof payload; cut++)
        assert_int_equal(probity_data_get(payload, cut, &got), PROBITY_ERROR_DAMAGED);
    data.last_tick = 99;
    probity_data_put(payload, &data);
    assert_int_equal(probity_data_get(payload, sizeof payload, &got), PROBITY_ERROR_DAMAGED);
    data.last_tick = 100;
    data.end_word = 3;
    probity_data_put(payload, &data);
    assert_int_equal(probity_data_get(payload, sizeof payload, &got), PROBITY_ERROR_DAMAGED);
}

static void sync_there_and_back(void **state)
{
    struct probity_sync sync = {{1, 2, 3, 4, 5}, 6, {7, 8, 9, 10, 11, 12, 13, 14}, 3, 0, 0},
                         got;
    uint8_t payload[PROBITY_SYNC_BYTES];

    (void)state;
    memset(&got, 0, sizeof got);
    probity_sync_put(payload, &sync);
    assert_int_equal(probity_get_u64(payload + 40), 6);
    assert_int_equal(probity_get_u64(payload + 72), 10);
    assert_int_equal(probity_sync_get(payload, sizeof payload, &got), 0);
    assert_true(got.anchor.realtime_ns == 4 && got.anchor.width_ns == 5 && got.watermark == 6);
    assert_true(got.totals.records == 7 && got.totals.dropped_write == 10);
    assert_true(got.totals.stalls == 11 && got.totals.stall_ticks == 12);
    assert_true(got.totals.unmeasured_ticks_max == 13 && got.totals.threads == 14);
    assert_int_equal(got.reason, 3);
    for (size_t cut = 0; cut < sizeof payload; cut++)
        assert_int_equal(probity_sync_get(payload, cut, &got), PROBITY_ERROR_DAMAGED);
}

static void end_of_a_failed_recording(void **state)
{
    struct probity_sync sync = {.reason = PROBITY_END_FAILED, .failed_errno = 28, .failed_tick = 9};
    struct probity_sync got = {0};
    uint8_t payload[PROBITY_END_FAILED_BYTES];

    (void)state;
    probity_end_failed_put(payload, &sync);
    assert_int_equal(probity_sync_get(payload, sizeof payload, &got), 0);
    assert_true(got.failed_errno == 28 && got.failed_tick == 9);
    assert_int_equal(probity_sync_get(payload, PROBITY_SYNC_BYTES, &got), 0);
    assert_true(got.reason == PROBITY_END_FAILED && got.failed_errno == 0 && got.failed_tick == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_header),         cmocka_unit_test(block_header),
        cmocka_unit_test(info_there_and_back), cmocka_unit_test(info_of_strange_strings),
        cmocka_unit_test(data_there_and_back), cmocka_unit_test(sync_there_and_back),
        cmocka_unit_test(end_of_a_failed_recording),
        cmocka_unit_test(checksum_is_that_of_the_format),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
