/* SPDX-License-Identifier: MIT
 *
 * test_drain.c: decodes hand-made chunks, as doc/spool.md describes them: with holes, pending
 * records, words out of order, ticks that wrap, wide ids, and CPU records; in one part or two.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spool/drain.h"

enum { WORDS = 512, HITS_MAX = 1000 };

static uint64_t words[WORDS];
static const uint64_t one_ns_a_tick = UINT64_C(1) << 32;

/* The result. */
static struct {
    struct probity_drain_output output;
    struct probity_data data;
    struct probity_record record[HITS_MAX];
    uint64_t cpu_ns[HITS_MAX];
    int count;
    uint8_t block[1 << 17];
} got;

static uint64_t hit(uint64_t tick, uint32_t id)
{
    return probity_word(tick, PROBITY_WORD_CODE_FIRST + 2 * id);
}

static struct probity_drain_input input_of(uint32_t end)
{
    return (struct probity_drain_input){.words = words,
                                        .end = end,
                                        .thread = 3,
                                        .tid = 33,
                                        .chunk = 9,
                                        .base_tick = 1000,
                                        .cpu_ns = 500,
                                        .rate = one_ns_a_tick,
                                        .cpu_known = 1};
}

static void drain(const struct probity_drain_input *input)
{
    static struct probity_drain_entry entries[WORDS];
    struct probity_drain_scratch scratch = {entries, WORDS};
    const uint8_t *payload = got.block + PROBITY_BLOCK_HEADER_BYTES;
    struct probity_block_header header;
    struct probity_unpacker unpacker;

    memset(&got, 0, sizeof got);
    probity_drain_chunk(input, &scratch, 77, got.block, &got.output);
    if (got.output.records == 0)
        return;
    assert_int_equal(probity_block_header_get(got.block, &header), 0);
    assert_true(probity_block_is_whole(got.block, &header));
    assert_true(header.type == PROBITY_BLOCK_DATA && header.serial == 77);
    assert_int_equal(got.output.block_bytes, PROBITY_BLOCK_HEADER_BYTES + header.payload_bytes);
    assert_true(got.output.block_bytes <= probity_drain_room(WORDS));
    assert_int_equal(probity_data_get(payload, header.payload_bytes, &got.data), 0);
    probity_unpacker_init(&unpacker, payload + PROBITY_DATA_FIXED_BYTES,
                          header.payload_bytes - PROBITY_DATA_FIXED_BYTES, got.data.first_tick);
    while (probity_unpack(&unpacker, &got.record[got.count]) > 0) {
        const struct probity_record *record = &got.record[got.count];
        got.cpu_ns[got.count++] =
            got.data.cpu_ns + record->tick - got.data.first_tick - record->off;
    }
    assert_ptr_equal(unpacker.at, unpacker.end);
    assert_int_equal(got.count, got.data.records);
    assert_int_equal(got.count, got.output.records);
}

static void expect_hit(int at, uint64_t tick, uint64_t id)
{
    assert_true(at < got.count);
    assert_int_equal(got.record[at].kind, PROBITY_EVENT_HIT);
    assert_true(got.record[at].tick == tick);
    assert_true(got.record[at].code == 2 * id);
}

static int clear(void **state)
{
    (void)state;
    memset(words, 0, sizeof words);
    return 0;
}

static void in_order(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = hit(1000 + 10 * i, i);
    struct probity_drain_input input = input_of(WORDS);
    drain(&input);
    assert_int_equal(got.count, WORDS);
    for (uint32_t i = 0; i < WORDS; i++)
        expect_hit((int)i, 1000 + 10 * i, i);
    assert_int_equal(got.output.end, WORDS);
    assert_true(got.data.thread == 3 && got.data.tid == 33 && got.data.chunk == 9);
    assert_true(got.cpu_ns[0] == 500 && got.cpu_ns[100] == 1500);
    assert_true(got.data.first_tick == 1000 && got.data.last_tick == 1000 + 10 * (WORDS - 1));
    assert_true(got.output.last_tick == got.data.last_tick);
}

static void nothing(void **state)
{
    struct probity_drain_input input = input_of(WORDS);

    (void)state;
    drain(&input);
    assert_true(got.output.records == 0 && got.output.end == 0 && got.output.block_bytes == 0);
    input.stop_at_hole = 1;
    drain(&input);
    assert_true(got.output.records == 0 && got.output.end == 0);
}

static void holes(void **state)
{
    struct probity_drain_input input = input_of(10);

    (void)state;
    words[0] = hit(1010, 1);
    words[3] = hit(1020, 2);
    words[4] = probity_word(1025, probity_word_special(PROBITY_WORD_PENDING, 2));
    words[5] = hit(1, 12345); /* half of the record: not a hit */
    words[6] = hit(1030, 3);
    drain(&input);
    assert_int_equal(got.count, 3);
    expect_hit(0, 1010, 1);
    expect_hit(1, 1020, 2);
    expect_hit(2, 1030, 3);
    assert_int_equal(got.output.holes, 3);
    assert_int_equal(got.output.end, 7);
    input.stop_at_hole = 1;
    drain(&input);
    assert_true(got.count == 1 && got.output.end == 1);
    words[1] = words[2] = probity_word(1011, probity_word_special(PROBITY_WORD_PAD, 1));
    drain(&input);
    assert_true(got.count == 2 && got.output.end == 4 && got.output.holes == 0);
}

/* A handler made a hit after another probe had reserved its word, before or after that probe read
 * the clock. */
static void out_of_order(void **state)
{
    static const uint64_t ticks[] = {1100, 1060, 1070, 1050, 1100, 1090};
    static const uint64_t sorted[] = {1050, 1060, 1070, 1090, 1100, 1100};
    struct probity_drain_input input = input_of(6);

    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        words[i] = hit(ticks[i], i);
    drain(&input);
    assert_int_equal(got.count, 6);
    for (int i = 0; i < 6; i++)
        assert_true(got.record[i].tick == sorted[i]);
    /* Records with equal ticks keep the order of their words. */
    expect_hit(4, 1100, 0);
    expect_hit(5, 1100, 4);
}

static void ticks_wrap(void **state)
{
    uint64_t near_wrap = (UINT64_C(5) << 40) - 3;
    struct probity_drain_input input = input_of(4);

    (void)state;
    input.base_tick = near_wrap - 100;
    words[0] = hit(near_wrap, 0);
    words[1] = hit(near_wrap + 5, 1);
    words[2] = hit(near_wrap + 4, 2); /* sorting moves it back across the wrap */
    words[3] = hit(near_wrap + (UINT64_C(1) << 38), 3);
    drain(&input);
    assert_int_equal(got.count, 4);
    expect_hit(0, near_wrap, 0);
    expect_hit(1, near_wrap + 4, 2);
    expect_hit(2, near_wrap + 5, 1);
    expect_hit(3, near_wrap + (UINT64_C(1) << 38), 3);
}

/* Two hits a day apart: the CPU record contains the full tick. */
static void days_between(void **state)
{
    uint64_t later = 1000 + (UINT64_C(3) << 44);
    struct probity_drain_input input = input_of(5);

    (void)state;
    words[0] = hit(1001, 1);
    words[1] = probity_word(later, probity_word_special(PROBITY_WORD_CPU, 3));
    words[2] = later;
    words[3] = 700;
    words[4] = hit(later + 1, 2);
    drain(&input);
    assert_int_equal(got.count, 2);
    expect_hit(1, later + 1, 2);
    assert_true(got.cpu_ns[0] == 501 && got.cpu_ns[1] == 701);
}

static void wide_ids(void **state)
{
    static const uint64_t ids[] = {0, PROBITY_WORD_CODE_FIRST, 0xffffffff, 8386560};
    struct probity_drain_input input = input_of(8);

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        words[2 * i] = probity_word(1000 + i, probity_word_special(PROBITY_WORD_HIT, 2));
        words[2 * i + 1] = 2 * ids[i];
    }
    drain(&input);
    assert_int_equal(got.count, 4);
    for (int i = 0; i < 4; i++)
        expect_hit(i, 1000 + (uint64_t)i, ids[i]);
}

/* Each CPU record sets the CPU time; its tick may be later than that of the next hit. */
static void cpu_records(void **state)
{
    struct probity_drain_input input = input_of(10);

    (void)state;
    words[0] = hit(1100, 0);
    words[1] = probity_word(21050, probity_word_special(PROBITY_WORD_CPU, 3));
    words[2] = 21050;
    words[3] = 900; /* on the CPU for 400 of 20,050 */
    words[4] = hit(21000, 1);
    words[5] = hit(21100, 2);
    drain(&input);
    assert_int_equal(got.count, 3);
    assert_true(got.cpu_ns[0] == 600);
    assert_true(got.cpu_ns[1] == 850 && got.cpu_ns[2] == 950);
    input.cpu_known = 0;
    drain(&input);
    assert_int_equal(got.data.flags & PROBITY_DATA_CPU_KNOWN, 0);
    expect_hit(2, 21100, 2);
}

static void events(void **state)
{
    struct probity_drain_input input = input_of(8);

    (void)state;
    words[0] = hit(1005, 1);
    words[1] = probity_word(1010, probity_word_special(PROBITY_WORD_EVENT, 5));
    words[2] = 1010;
    words[3] = PROBITY_EVENT_THREAD_NAME | 11 << 16;
    memcpy(&words[4], "hello world", 11);
    words[6] = hit(1020, 2);
    drain(&input);
    assert_int_equal(got.count, 3);
    assert_int_equal(got.record[1].kind, PROBITY_EVENT_THREAD_NAME);
    assert_int_equal(got.record[1].payload_bytes, 11);
    assert_memory_equal(got.record[1].payload, "hello world", 11);
    assert_true(got.data.flags & PROBITY_DATA_HAS_EVENTS);
    words[3] = PROBITY_EVENT_THREAD_NAME | UINT64_C(60000) << 16; /* longer than its words */
    drain(&input);
    assert_int_equal(got.record[1].payload_bytes, 16);
}

/* Decoding a chunk in two parts, split at any word, gives the same result as decoding it at
 * once. */
static void in_parts(void **state)
{
    struct probity_drain_input input;

    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        words[i] = hit(1000 + 10 * i, i);
    words[40] = probity_word(5000, probity_word_special(PROBITY_WORD_CPU, 3));
    words[41] = 5000;
    words[42] = 600;
    for (uint32_t i = 43; i < 100; i++)
        words[i] = hit(5000 + 10 * i, i);
    for (uint32_t first = 1; first < 100; first++) {
        if (first == 41 || first == 42)
            continue;
        input = input_of(100);
        input.first = first;
        drain(&input);
        assert_int_equal(got.count, first <= 40 ? 97 - (int)first : 100 - (int)first);
        expect_hit(got.count - 1, 5990, 99);
        assert_true(got.cpu_ns[got.count - 1] == 600 + 990);
        assert_int_equal(got.data.first_word, first);
        assert_int_equal(got.data.end_word, 100);
    }
}

/* Arbitrary words: decoding stays within the buffer, and the block is consistent. */
static void noise(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        for (uint32_t i = 0; i < WORDS; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            words[i] = round % 3 == 0 ? random : (random & 0xfff) | random << 50;
            words[i] = random % 5 == 0 ? 0 : words[i];
        }
        struct probity_drain_input input = input_of(WORDS - (uint32_t)(random % 9));
        input.first = (uint32_t)(random >> 40) % 64;
        input.stop_at_hole = round % 7 == 0;
        input.base_tick = random;
        drain(&input);
        assert_true(got.output.end <= input.end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(in_order, clear),     cmocka_unit_test_setup(nothing, clear),
        cmocka_unit_test_setup(holes, clear),        cmocka_unit_test_setup(out_of_order, clear),
        cmocka_unit_test_setup(ticks_wrap, clear),   cmocka_unit_test_setup(days_between, clear),
        cmocka_unit_test_setup(wide_ids, clear),     cmocka_unit_test_setup(cpu_records, clear),
        cmocka_unit_test_setup(events, clear),       cmocka_unit_test_setup(in_parts, clear),
        cmocka_unit_test_setup(noise, clear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
