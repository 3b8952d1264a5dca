/* SPDX-License-Identifier: MIT
 *
 * test_stream.c: packs and unpacks streams of random records; truncated streams are rejected or end
 * early, and damage is detected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/varint.h"
#include "format/stream.h"
#include "probity.h"

enum { RECORDS = 2000, ROOM = RECORDS * 200 };

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

struct sample {
    uint64_t tick, off, code, kind;
    uint8_t payload[40];
    size_t bytes;
};

/* Few or many codes, short or wide; tiny or huge time steps; CPU changes and events in between. */
static struct sample sample_next(uint64_t tick, uint64_t off, unsigned variety)
{
    uint64_t step = random_next() >> (34 + random_next() % 30);
    struct sample sample = {.tick = tick + step, .off = off};
    unsigned what = (unsigned)(random_next() % 100);

    if (what < 10)
        sample.off += random_next() >> (random_next() % 64);
    if (what < 5) {
        sample.kind = 1 + random_next() % 300;
        sample.kind += sample.kind == PROBITY_EVENT_HIT_PACKED; /* unpack as another kind */
        sample.kind += sample.kind == PROBITY_EVENT_HIT_PLACED;
        sample.bytes = random_next() % sizeof sample.payload;
        for (size_t i = 0; i < sample.bytes; i++)
            sample.payload[i] = (uint8_t)random_next();
    } else {
        uint64_t codes = variety == 1 ? 600 : UINT64_C(1) << 33;
        sample.code = variety == 0 ? tick % 3 : random_next() % codes;
    }
    return sample;
}

static void check_record(const struct probity_record *got, const struct sample *sample)
{
    assert_true(got->tick == sample->tick && got->off == sample->off && got->kind == sample->kind);
    if (sample->kind == PROBITY_EVENT_HIT) {
        assert_true(got->code == sample->code);
        return;
    }
    assert_int_equal(got->payload_bytes, sample->bytes);
    assert_memory_equal(got->payload, sample->payload, sample->bytes);
}

static size_t pack(const struct sample *samples, int count, uint8_t *stream)
{
    uint64_t table[PROBITY_STREAM_TABLE], off = 0;
    struct probity_packer packer = probity_packer_start(stream, 1000, table);

    for (int i = 0; i < count; i++) {
        const struct sample *sample = &samples[i];
        if (sample->off != off)
            packer = probity_pack_cpu(packer, (int64_t)(sample->off - off));
        off = sample->off;
        if (sample->kind == PROBITY_EVENT_HIT)
            probity_pack_hit(&packer, sample->tick, PROBITY_STREAM_CODE_FIRST + sample->code);
        else
            probity_pack_event(&packer, sample->tick, sample->kind, sample->payload,
                               sample->bytes);
    }
    return (size_t)(packer.at - stream);
}

/* Unpacks until the end or damage. Returns the last result. */
static int unpack(const struct sample *samples, int count, const uint8_t *stream, size_t bytes,
                  int *ret_got)
{
    struct probity_unpacker unpacker;
    struct probity_record record;
    int result;

    *ret_got = 0;
    probity_unpacker_init(&unpacker, stream, bytes, 1000);
    while ((result = probity_unpack(&unpacker, &record)) > 0) {
        assert_true(*ret_got < count);
        check_record(&record, &samples[(*ret_got)++]);
    }
    return result;
}

static void there_and_back(void **state)
{
    static struct sample samples[RECORDS];
    uint8_t *stream = malloc(ROOM);
    int got;

    (void)state;
    for (unsigned variety = 0; variety < 3; variety++) {
        uint64_t tick = 1000, off = 0;
        for (int i = 0; i < RECORDS; i++) {
            samples[i] = sample_next(tick, off, variety);
            tick = samples[i].tick;
            off = samples[i].off;
        }
        size_t bytes = pack(samples, RECORDS, stream);
        assert_int_equal(unpack(samples, RECORDS, stream, bytes, &got), 0);
        assert_int_equal(got, RECORDS);
        /* Truncated: only whole, correct records are returned. The copy has the exact size, so that
         * a sanitizer detects reads beyond the end. */
        for (size_t cut = 0; cut < bytes; cut += 1 + bytes / 300) {
            uint8_t *copy = malloc(cut + 1);
            memcpy(copy, stream, cut);
            int result = unpack(samples, RECORDS, copy, cut, &got);
            assert_true(result == 0 || result == PROBITY_ERROR_DAMAGED);
            assert_true(got < RECORDS);
            free(copy);
        }
    }
    free(stream);
}

/* Streams that no writer produces. */
static void damage(void **state)
{
    static const struct {
        uint8_t bytes[8];
        size_t count;
    } bad[] = {
        {{2 << 1 | 1}, 1},                     /* predicts a code that the table does not have */
        {{1 << 1 | 1, 0 << 1 | 1}, 2},         /* code 0 */
        {{1 << 1 | 1, 15 << 1 | 1}, 2},        /* code 15 */
        {{1 << 1 | 1}, 1},                     /* code missing */
        {{1 << 1 | 1, 1 << 1 | 1}, 2},         /* CPU without its number */
        {{1 << 1 | 1, 2 << 1 | 1, 3, 9, 0}, 5}, /* event longer than the stream */
        {{1 << 1 | 1, 2 << 1 | 1, 3, 0}, 4},   /* event's length cut off */
    };
    struct probity_unpacker unpacker;
    struct probity_record record;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        probity_unpacker_init(&unpacker, bad[i].bytes, bad[i].count, 0);
        assert_int_equal(probity_unpack(&unpacker, &record), PROBITY_ERROR_DAMAGED);
    }
}

/* A record whose tick exceeds 64 bits is invalid, whether predicted or not: it would be older than
 * the previous one. */
static void a_tick_beyond_64_bits_is_damage(void **state)
{
    uint8_t stream[128];
    struct probity_unpacker unpacker;
    struct probity_record record;

    (void)state;
    for (int is_predicted = 0; is_predicted < 2; is_predicted++) {
        const uint64_t code = PROBITY_STREAM_CODE_FIRST, step = UINT64_C(1) << 62;
        uint8_t *at = stream;
        for (uint64_t i = 0; i < 5; i++) {
            int is_short = is_predicted && i > 1; /* the code has already followed itself */
            at = probity_varint_put(at, (i > 0 ? step << 1 : 0) | !is_short);
            if (!is_short)
                at = probity_varint_put(at, code);
        }
        probity_unpacker_init(&unpacker, stream, (size_t)(at - stream), 0);
        for (uint64_t i = 0; i < 4; i++) {
            assert_int_equal(probity_unpack(&unpacker, &record), 1);
            assert_int_equal(record.tick, i * step);
        }
        assert_int_equal(probity_unpack(&unpacker, &record), PROBITY_ERROR_DAMAGED);
    }
}

/* The largest code, and the next one. */
static void codes_end_where_those_of_probes_end(void **state)
{
    uint64_t table[PROBITY_STREAM_TABLE];
    struct probity_unpacker unpacker;
    struct probity_record record;
    uint8_t stream[64];

    (void)state;
    for (uint64_t more = 0; more <= 1; more++) {
        uint64_t code = PROBITY_STREAM_CODE_MAX + more;
        struct probity_packer packer = probity_packer_start(stream, 1000, table);
        probity_pack_hit(&packer, 1000, PROBITY_STREAM_CODE_FIRST + code);
        probity_unpacker_init(&unpacker, stream, (size_t)(packer.at - stream), 1000);
        assert_int_equal(probity_unpack(&unpacker, &record), more ? PROBITY_ERROR_DAMAGED : 1);
    }
}

/* Arbitrary bytes give an end or damage, after at most one record per byte. */
static void noise(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        size_t bytes = random_next() % 200, records = 0;
        uint8_t *stream = malloc(bytes + 1);
        struct probity_unpacker unpacker;
        struct probity_record record;
        for (size_t i = 0; i < bytes; i++)
            stream[i] = (uint8_t)(random_next() >> 20);
        probity_unpacker_init(&unpacker, stream, bytes, 0);
        while (probity_unpack(&unpacker, &record) > 0)
            records++;
        assert_true(records <= bytes);
        free(stream);
    }
}

static const uint64_t id_values[] = {0, 1, 77, 1u << 20, UINT64_C(1) << 47, UINT64_MAX};

enum { ID_VALUES = sizeof id_values / sizeof *id_values, ID_ROLES = 64,
       ID_CASES = 16 * ID_ROLES * ID_VALUES * ID_VALUES };

/* All flags, roles, and combinations of ids. Returns the payload's size. */
static size_t make_hit_with(uint32_t i, uint8_t payload[PROBITY_HIT_WITH_BYTES_MAX])
{
    uint32_t flags = i % 16 | (i / 16 % ID_ROLES) << PROBITY_HIT_WITH_ROLE_SHIFT;
    uint32_t left = i / 16 / ID_ROLES;
    uint8_t *at = payload + 8;

    probity_put_u32(payload, (uint32_t)id_values[left % ID_VALUES]);
    probity_put_u32(payload + 4, flags);
    for (uint32_t bit = 2; bit <= 8; bit *= 2) {
        if ((flags & bit) == 0)
            continue;
        probity_put_u64(at, id_values[(left / ID_VALUES + bit) % ID_VALUES]);
        at += 8;
    }
    return (size_t)(at - payload);
}

static void ids_are_packed_and_unpacked(void **state)
{
    static uint8_t stream[ID_CASES * 64];
    uint64_t table[PROBITY_STREAM_TABLE];
    uint8_t payload[PROBITY_HIT_WITH_BYTES_MAX], packed[PROBITY_IDS_ROOM];
    uint64_t kind = 0;
    struct probity_packer packer = probity_packer_start(stream, 5, table);
    struct probity_ids ids = {.packed.correlation = 0};
    struct probity_unpacker unpacker;
    struct probity_record record;

    (void)state;
    for (uint32_t i = 0; i < ID_CASES; i++) {
        size_t bytes = make_hit_with(i, payload);
        const uint8_t *end = probity_ids_pack(&ids, payload, bytes, packed, &kind);
        assert_non_null(end);
        assert_int_equal(kind, payload[5] < 8 && (payload[4] & PROBITY_HIT_WITH_PLACE) == 0
                                   ? PROBITY_EVENT_HIT_PACKED
                                   : PROBITY_EVENT_HIT_PLACED);
        assert_true(end - packed <= PROBITY_IDS_ROOM);
        probity_pack_event(&packer, 5 + i, kind, packed, (size_t)(end - packed));
    }
    probity_unpacker_init(&unpacker, stream, (size_t)(packer.at - stream), 5);
    for (uint32_t i = 0; i < ID_CASES; i++) {
        size_t bytes = make_hit_with(i, payload);
        assert_int_equal(probity_unpack(&unpacker, &record), 1);
        assert_int_equal(record.tick, 5 + i);
        assert_int_equal(record.kind, PROBITY_EVENT_HIT_WITH);
        assert_int_equal(record.payload_bytes, bytes);
        assert_memory_equal(record.payload, payload, bytes);
    }
    assert_int_equal(probity_unpack(&unpacker, &record), 0);
}

/* Returns whether the hits of a kind are decoded from a stream that has no event of the other
 * one. */
static void check_without(uint64_t dropped)
{
    static uint8_t stream[ID_CASES * 64];
    uint64_t table[PROBITY_STREAM_TABLE];
    uint8_t payload[PROBITY_HIT_WITH_BYTES_MAX], packed[PROBITY_IDS_ROOM];
    uint64_t kind = 0;
    uint32_t left = 0;
    struct probity_packer packer = probity_packer_start(stream, 5, table);
    struct probity_ids ids = {.packed.correlation = 0};
    struct probity_unpacker unpacker;
    struct probity_record record;

    for (uint32_t i = 0; i < ID_CASES; i++) {
        const uint8_t *end =
            probity_ids_pack(&ids, payload, make_hit_with(i, payload), packed, &kind);
        assert_non_null(end);
        if (kind != dropped)
            probity_pack_event(&packer, 5 + i, kind, packed, (size_t)(end - packed));
    }
    probity_unpacker_init(&unpacker, stream, (size_t)(packer.at - stream), 5);
    for (; probity_unpack(&unpacker, &record) == 1; left++) {
        size_t bytes = make_hit_with((uint32_t)record.tick - 5, payload);
        assert_int_equal(record.payload_bytes, bytes);
        assert_memory_equal(record.payload, payload, bytes);
    }
    assert_in_range(left, ID_CASES / 32, ID_CASES - ID_CASES / 32);
}

/* As in a reader of format minor 3, which skips kind 22. */
static void ids_do_not_depend_on_a_kind_that_is_skipped(void **state)
{
    (void)state;
    check_without(PROBITY_EVENT_HIT_PLACED);
    check_without(PROBITY_EVENT_HIT_PACKED);
}

static void unusual_ids_are_left_as_they_are(void **state)
{
    struct probity_ids ids = {.placed = {3, 4, 5}};
    uint8_t payload[40] = {7, 0, 0, 0, PROBITY_HIT_WITH_CORRELATION, 64, 0, 0};
    uint8_t packed[PROBITY_IDS_ROOM];
    uint64_t kind = 99;

    (void)state;
    assert_null(probity_ids_pack(&ids, payload, 16, packed, &kind)); /* role 64 */
    payload[5] = 7;
    payload[4] = PROBITY_HIT_WITH_CORRELATION | 16;
    assert_null(probity_ids_pack(&ids, payload, 16, packed, &kind)); /* an unknown flag */
    payload[4] = PROBITY_HIT_WITH_CORRELATION;
    assert_null(probity_ids_pack(&ids, payload, 15, packed, &kind));
    assert_null(probity_ids_pack(&ids, payload, 24, packed, &kind));
    assert_null(probity_ids_pack(&ids, payload, 4, packed, &kind));
    payload[4] = PROBITY_HIT_WITH_CORRELATION | PROBITY_HIT_WITH_PLACE;
    assert_null(probity_ids_pack(&ids, payload, 16, packed, &kind));
    assert_int_equal(kind, 99);
    assert_int_equal(ids.placed.correlation, 3);
    assert_int_equal(ids.placed.object, 4);
    assert_int_equal(ids.placed.place, 5);
    assert_non_null(probity_ids_pack(&ids, payload, 24, packed, &kind));
    assert_int_equal(kind, PROBITY_EVENT_HIT_PLACED);
    assert_int_equal(ids.placed.correlation, 0);
    assert_int_equal(ids.placed.object, 4);
    assert_int_equal(ids.placed.place, 0);
}

static void a_hit_with_a_place_is_parsed(void **state)
{
    static const struct {
        uint8_t flags, role, bytes;
        uint32_t is; /* role, has_correlation, has_object, has_place, as digits */
    } cases[] = {{14, 13, 32, 13111}, {14, 17, 31, 17110}, {8, 20, 16, 1},  {10, 255, 24, 101},
                 {12, 8, 16, 8010},   {14, 9, 16, 9100},   {0, 10, 8, 10000}};
    struct probity_hit_with hit;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t payload[32] = {1, 0, 0, 0, cases[i].flags, cases[i].role};
        assert_int_equal(probity_hit_with_parse(payload, cases[i].bytes, &hit), 1);
        assert_int_equal(hit.role * 1000 + (uint32_t)(hit.has_correlation * 100 +
                                                      hit.has_object * 10 + hit.has_place),
                         cases[i].is);
    }
}

static void roles_have_names(void **state)
{
    (void)state;
    assert_string_equal(probity_role_name(0), "");
    assert_string_equal(probity_role_name(20), "");
    assert_string_equal(probity_role_ending(20), "");
    for (uint32_t role = 1; role <= PROBITY_HIT_WITH_ROLE_MAX; role++) {
        const char *name = probity_role_name(role), *ending = probity_role_ending(role);
        size_t bytes = strlen(name), ending_bytes = strlen(ending) - 1;
        assert_int_equal(ending[0], ':');
        assert_true(bytes >= ending_bytes);
        assert_string_equal(name + bytes - ending_bytes, ending + 1);
    }
}

static void mappings_are_read_back_and_cut_ones_refused(void **state)
{
    const struct probity_mapping_event event = {1, UINT64_MAX, 77, "/lib/x.so", "0123ab", 9, 6};
    struct probity_mapping_event got;
    uint8_t payload[64];

    (void)state;
    assert_int_equal(probity_mapping_event_put(payload, 42, &event), 0);
    size_t bytes = probity_mapping_event_put(payload, 43, &event);
    assert_int_equal(bytes, 43);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(probity_mapping_event_get(payload, i, &got), PROBITY_ERROR_DAMAGED);
    assert_int_equal(probity_mapping_event_get(payload, bytes + 9, &got), 0);
    assert_int_equal(got.first, 1);
    assert_int_equal(got.end, UINT64_MAX);
    assert_int_equal(got.bias, 77);
    assert_int_equal(got.path_bytes, 9);
    assert_memory_equal(got.path, "/lib/x.so", 9);
    assert_int_equal(got.build_id_bytes, 6);
    assert_memory_equal(got.build_id, "0123ab", 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(damage),
        cmocka_unit_test(ids_are_packed_and_unpacked),
        cmocka_unit_test(ids_do_not_depend_on_a_kind_that_is_skipped),
        cmocka_unit_test(unusual_ids_are_left_as_they_are),
        cmocka_unit_test(a_hit_with_a_place_is_parsed),
        cmocka_unit_test(roles_have_names),
        cmocka_unit_test(mappings_are_read_back_and_cut_ones_refused),
        cmocka_unit_test(a_tick_beyond_64_bits_is_damage),
        cmocka_unit_test(codes_end_where_those_of_probes_end),
        cmocka_unit_test(noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
