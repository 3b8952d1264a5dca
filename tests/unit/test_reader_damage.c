/* SPDX-License-Identifier: MIT
 *
 * test_reader_damage.c: files that are truncated, overwritten or assembled incorrectly. Whatever
 * the bytes, the reader ends, returns only records that existed, and reports that data is
 * missing.
 */
#include "test_reader_make.h"

#include "reader/reader.h"

static struct make make;
static size_t block_at[16]; /* the offset of each block */

/* Blocks: INFO, DATA (ids 0 1), SYNC, DATA (2 3), DATA (4 5), SYNC, DATA (6 7), END. */
static void make_sample(void)
{
    size_t block = 0;

    make_start(&make);
    block_at[block++] = PROBITY_FILE_HEADER_BYTES;
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t tick = 1001000 + 1000 * i;
        struct make_hit hits[2] = {{tick, 4 * i, 0}, {tick + 10, 4 * i + 2, 0}};
        block_at[block++] = make.used;
        make_data(&make, (struct probity_data){.thread = 1 + i % 2}, hits, 2);
        block_at[block] = make.used;
        if (i % 2 == 0) {
            make_sync(&make, PROBITY_BLOCK_SYNC, make_anchor(tick + 100), tick + 50);
            block++;
        }
    }
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1010000), 1010000);
    block_at[block + 1] = make.used;
}

/* Reads everything; ids must ascend. Returns the set of ids as bits, or an error. */
static int read_ids(struct probity_reader **ret_reader)
{
    const char *path = make.path;
    const struct probity_event *event;
    int got, seen = 0, error = probity_reader_open(&path, 1, NULL, NULL, ret_reader);
    uint32_t before = 0;

    if (error != 0)
        return error;
    while ((got = probity_reader_next(*ret_reader, &event)) > 0) {
        assert_int_equal(event->kind, PROBITY_EVENT_HIT);
        assert_true(event->id < 8 && event->id >= before);
        assert_int_equal(event->tick, 1001000 + 1000 * (event->id / 2) + 10 * (event->id % 2));
        assert_int_equal(seen & 1 << event->id, 0);
        seen |= 1 << event->id;
        before = event->id;
    }
    assert_int_equal(got, 0);
    return seen;
}

static uint64_t faults;

static void count_fault(void *context, uint64_t offset, const char *text)
{
    (void)context;
    (void)text;
    assert_true(offset <= make.used);
    faults++;
}

/* Returns whether `check` finds a fault in the file or rejects it. */
static int check_finds_fault(void)
{
    struct probity_check_listener listener = {.report = count_fault};
    struct probity_check_result result;

    faults = 0;
    return probity_check_file(make.path, &listener, &result) != 0 || faults > 0 ||
           result.cut_bytes > 0 || !result.has_end;
}

static int is_reported(struct probity_reader *reader)
{
    char why[200];

    return !probity_trace_is_complete(probity_reader_facts(reader, 0), why, sizeof why);
}

static void a_sound_file_has_no_fault(void **state)
{
    struct probity_reader *reader;
    (void)state;
    make_sample();
    make_write(&make, "sound");
    assert_int_equal(read_ids(&reader), 0xff);
    assert_false(is_reported(reader));
    assert_false(probity_trace_is_damaged(probity_reader_facts(reader, 0)));
    assert_false(check_finds_fault());
    probity_reader_close(reader);
    unlink(make.path);
}

static void a_file_cut_anywhere_is_read_up_to_the_cut(void **state)
{
    struct probity_reader *reader;
    (void)state;
    make_sample();
    for (size_t cut = make.used - 1; cut > 0; cut--) {
        make.used = cut;
        make_write(&make, "cut");
        int seen = read_ids(&reader);
        if (seen < 0) {
            assert_true(cut < block_at[1]);
            continue;
        }
        int expected = cut >= block_at[7] ? 0xff : cut >= block_at[5] ? 0x3f
                       : cut >= block_at[4] ? 0x0f : cut >= block_at[2] ? 0x03 : 0;
        assert_int_equal(seen, expected);
        assert_true(is_reported(reader));
        /* The file ends within a block and has no other damage. */
        size_t last = 7;
        while (block_at[last] > cut)
            last--;
        assert_int_equal(probity_reader_facts(reader, 0)->cut_bytes, cut - block_at[last]);
        assert_true(check_finds_fault());
        probity_reader_close(reader);
    }
    unlink(make.path);
}

static void any_changed_byte_is_reported(void **state)
{
    struct probity_reader *reader;
    (void)state;
    make_sample();
    /* Bytes 14 and 15 are the minor version; readers accept any. */
    for (size_t at = PROBITY_FILE_HEADER_BYTES; at < make.used; at++) {
        make.bytes[at] ^= 0x55;
        make_write(&make, "changed");
        int seen = read_ids(&reader);
        assert_true(check_finds_fault());
        make.bytes[at] ^= 0x55;
        if (seen < 0) {
            assert_true(at < block_at[1]);
            continue;
        }
        /* A single block is lost, with at most two records. */
        assert_true(__builtin_popcount((unsigned)seen) >= 6);
        assert_true(is_reported(reader));
        probity_reader_close(reader);
    }
    unlink(make.path);
}

/* Replaces `bytes` bytes at `at`. */
static void put_in_place(size_t at, size_t bytes, const void *others, size_t other_bytes)
{
    uint8_t tail[sizeof make.bytes];
    size_t tail_bytes = make.used - at - bytes;

    memcpy(tail, make.bytes + at + bytes, tail_bytes);
    if (other_bytes > 0)
        memcpy(make.bytes + at, others, other_bytes);
    memcpy(make.bytes + at + other_bytes, tail, tail_bytes);
    make.used = at + other_bytes + tail_bytes;
}

static void bytes_that_do_not_belong_are_skipped(void **state)
{
    uint8_t garbage[300];
    struct probity_reader *reader;
    (void)state;
    memset(garbage, 'P', sizeof garbage);
    memcpy(garbage + 40, "PBLK\xff\xff\x00", 7); /* a header whose length goes far beyond the end */
    memcpy(garbage + 100, "PBLK\x10\x00\x00", 7);
    make_sample();
    put_in_place(block_at[3], 0, garbage, sizeof garbage);
    make_write(&make, "garbage");
    assert_int_equal(read_ids(&reader), 0xff);
    assert_int_equal(probity_reader_facts(reader, 0)->damages, 1);
    assert_int_equal(probity_reader_facts(reader, 0)->damaged_bytes, sizeof garbage);
    assert_int_equal(probity_reader_facts(reader, 0)->damage_offset, block_at[3]);
    assert_true(check_finds_fault());
    probity_reader_close(reader);
    unlink(make.path);
}

static void a_missing_block_is_reported(void **state)
{
    struct probity_reader *reader;
    (void)state;
    static const int ids[] = {0, 0x03, 0, 0x0c, 0x30, 0, 0xc0, 0};
    for (size_t block = 1; block <= 6; block++) {
        make_sample();
        put_in_place(block_at[block], block_at[block + 1] - block_at[block], NULL, 0);
        make_write(&make, "missing");
        assert_int_equal(read_ids(&reader), 0xff & ~ids[block]);
        assert_true(is_reported(reader));
        assert_true(check_finds_fault());
        probity_reader_close(reader);
    }
    unlink(make.path);
}

static void a_block_that_claims_more_records_than_it_has_is_damage(void **state)
{
    struct probity_reader *reader;
    (void)state;
    for (uint32_t records = 1; records <= 3; records += 2) {
        make_sample();
        uint8_t *block = make.bytes + block_at[3];
        probity_put_u32(block + PROBITY_BLOCK_HEADER_BYTES + 24, records);
        probity_block_seal(block, PROBITY_BLOCK_DATA, 3,
                           (uint32_t)(block_at[4] - block_at[3] - PROBITY_BLOCK_HEADER_BYTES));
        make_write(&make, "records");
        assert_int_equal(read_ids(&reader), 0xff);
        assert_true(probity_trace_is_damaged(probity_reader_facts(reader, 0)));
        probity_reader_close(reader);
    }
    unlink(make.path);
}

static void a_block_that_was_there_before_is_passed_over(void **state)
{
    uint8_t block[1024];
    size_t bytes;
    struct probity_reader *reader;
    (void)state;
    make_sample();
    bytes = block_at[2] - block_at[1];
    memcpy(block, make.bytes + block_at[1], bytes);
    put_in_place(block_at[4], 0, block, bytes);
    make_write(&make, "twice");
    assert_int_equal(read_ids(&reader), 0xff);
    assert_true(is_reported(reader));
    assert_true(check_finds_fault());
    probity_reader_close(reader);
    unlink(make.path);
}

/* Late blocks are returned in time order, and skipped when their place in the file is reached. If
 * the damaged block were mistaken for the other one, that one would be returned twice. */
static void a_damaged_late_block_leaves_the_next_one_single(void **state)
{
    struct probity_reader_options options = {.prescan = 1};
    const char *path = make.path;
    const struct probity_event *event;
    struct probity_reader *reader;
    uint32_t expected[] = {1, 3}, count = 0;
    (void)state;
    make_start(&make);
    make_sync(&make, PROBITY_BLOCK_SYNC, make_anchor(1001000), 1001000);
    make_data(&make, (struct probity_data){.thread = 1, .flags = PROBITY_DATA_LATE},
              (struct make_hit[]){{1000100, 0, 0}}, 1);
    make.bytes[make.used - 1] ^= 1;
    make_data(&make, (struct probity_data){.thread = 1, .flags = PROBITY_DATA_LATE},
              (struct make_hit[]){{1000200, 2, 0}}, 1);
    make_data(&make, (struct probity_data){.thread = 1}, (struct make_hit[]){{1002000, 6, 0}}, 1);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1003000), 1003000);
    make_write(&make, "late");
    assert_int_equal(probity_reader_open(&path, 1, &options, NULL, &reader), 0);
    while (probity_reader_next(reader, &event) > 0) {
        assert_true(count < 2);
        assert_int_equal(event->id, expected[count++]);
    }
    assert_int_equal(count, 2);
    assert_true(is_reported(reader));
    probity_reader_close(reader);
    unlink(make.path);
}

static void what_follows_end_is_ignored_and_reported(void **state)
{
    struct probity_reader *reader;
    (void)state;
    make_sample();
    make_data(&make, (struct probity_data){.thread = 1}, (struct make_hit[]){{1009000, 14, 0}}, 1);
    make_write(&make, "behind");
    assert_int_equal(read_ids(&reader), 0xff);
    assert_true(is_reported(reader));
    assert_true(check_finds_fault());
    probity_reader_close(reader);
    unlink(make.path);
}

static void unknown_blocks_and_longer_payloads_are_accepted(void **state)
{
    struct probity_reader *reader;
    (void)state;
    make_sample();
    make.used = block_at[7]; /* instead of END */
    make.serial--;
    memset(make_payload(&make), 0xaa, 50);
    make_block(&make, 99, 50);
    struct probity_sync sync = {.anchor = make_anchor(1010000), .watermark = 1010000,
                                .totals.records = make.records, .reason = PROBITY_END_EXIT};
    probity_sync_put(make_payload(&make), &sync);
    make_block(&make, PROBITY_BLOCK_END, PROBITY_SYNC_BYTES + 24);
    make_write(&make, "unknown");
    assert_int_equal(read_ids(&reader), 0xff);
    assert_false(is_reported(reader));
    assert_false(check_finds_fault());
    probity_reader_close(reader);
    unlink(make.path);
}

/* Valid checksums over false contents: lengths in the stream, counts, ticks. */
static void check_sees_through_right_checksums(void **state)
{
    (void)state;
    for (size_t at = 0; at < PROBITY_DATA_FIXED_BYTES + 4; at++) {
        /* Thread, thread id, chunk, words, CPU time, rate, holes and reserved bytes may have any
         * value; so may, in part, the flags and the first tick. */
        if (at < 24 || (at >= 28 && at < 40) || (at >= 48 && at < PROBITY_DATA_FIXED_BYTES))
            continue;
        make_sample();
        uint8_t *payload = make.bytes + block_at[3] + PROBITY_BLOCK_HEADER_BYTES;
        payload[at] ^= 0x41;
        probity_block_seal(make.bytes + block_at[3], PROBITY_BLOCK_DATA, 3,
                           (uint32_t)(block_at[4] - block_at[3] - PROBITY_BLOCK_HEADER_BYTES));
        make_write(&make, "lies");
        assert_true(check_finds_fault());
    }
    unlink(make.path);
}

/* Reads arbitrary contents to the end. */
static void read_anything(void)
{
    const char *path = make.path;
    const struct probity_event *event;
    struct probity_reader *reader;
    int got;

    check_finds_fault();
    if (probity_reader_open(&path, 1, NULL, NULL, &reader) != 0)
        return;
    while ((got = probity_reader_next(reader, &event)) > 0)
        assert_true(event->thread_slot < 64);
    assert_int_equal(got, 0);
    probity_reader_close(reader);
}

static void random_changes_under_a_right_checksum_do_no_harm(void **state)
{
    uint64_t random = 88172645463325252u;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        make_sample();
        for (int i = 0; i < 3; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            size_t block = random % 8, bytes = block_at[block + 1] - block_at[block];
            size_t at =
                PROBITY_BLOCK_HEADER_BYTES + (random >> 8) % (bytes - PROBITY_BLOCK_HEADER_BYTES);
            uint8_t *start = make.bytes + block_at[block];
            start[at] = (uint8_t)(random >> 40);
            probity_block_seal(start, probity_get_u16(start + 12), block,
                               (uint32_t)(bytes - PROBITY_BLOCK_HEADER_BYTES));
        }
        make_write(&make, "random");
        read_anything();
    }
    unlink(make.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_file_has_no_fault),
        cmocka_unit_test(a_file_cut_anywhere_is_read_up_to_the_cut),
        cmocka_unit_test(any_changed_byte_is_reported),
        cmocka_unit_test(bytes_that_do_not_belong_are_skipped),
        cmocka_unit_test(a_missing_block_is_reported),
        cmocka_unit_test(a_block_that_claims_more_records_than_it_has_is_damage),
        cmocka_unit_test(a_block_that_was_there_before_is_passed_over),
        cmocka_unit_test(a_damaged_late_block_leaves_the_next_one_single),
        cmocka_unit_test(what_follows_end_is_ignored_and_reported),
        cmocka_unit_test(unknown_blocks_and_longer_payloads_are_accepted),
        cmocka_unit_test(check_sees_through_right_checksums),
        cmocka_unit_test(random_changes_under_a_right_checksum_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
