/* SPDX-License-Identifier: MIT
 *
 * test_flush.c: after a flush, the trace file contains all records, even without the spool.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/block.h"
#include "own_recording.h"

enum { ROUNDS = 200, FILE_MAX = 1 << 20 };

/* Counts the records in the file's DATA blocks. */
static uint64_t records_in_file(void)
{
    static uint8_t bytes[FILE_MAX];
    struct probity_block_header header;
    struct probity_data data;
    uint64_t records = 0;
    int file = open(trace_path, O_RDONLY);
    ssize_t got = pread(file, bytes, sizeof bytes, 0), at = PROBITY_FILE_HEADER_BYTES;

    close(file);
    for (; at + PROBITY_BLOCK_HEADER_BYTES <= got;
         at += PROBITY_BLOCK_HEADER_BYTES + (ssize_t)header.payload_bytes) {
        assert_int_equal(probity_block_header_get(bytes + at, &header), 0);
        if (header.type != PROBITY_BLOCK_DATA)
            continue;
        assert_true(probity_block_is_whole(bytes + at, &header));
        assert_int_equal(probity_data_get(bytes + at + PROBITY_BLOCK_HEADER_BYTES,
                                          header.payload_bytes, &data), 0);
        records += data.records;
    }
    return records;
}

static void behind_a_flush_all_is_in_the_file(void **state)
{
    (void)state;
    probity_probe(1);
    assert_int_equal(probity_flush(), 0);
    uint64_t before = records_in_file();
    assert_true(before > 0);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        probity_probe(2);
        assert_int_equal(probity_flush(), 0);
        assert_int_equal(records_in_file(), before + round);
    }
}

static int set_up(void **state)
{
    (void)state;
    return start_recording((struct probity_options){.cost = PROBITY_OFF});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(behind_a_flush_all_is_in_the_file, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
