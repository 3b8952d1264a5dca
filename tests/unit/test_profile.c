/* SPDX-License-Identifier: MIT
 *
 * test_profile.c: cells, rows and PROFILE blocks: decoding returns what was encoded, the newest
 * complete profile is used, and all damage is detected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "answers/hist/hist.h"
#include "answers/report/profiled.h"
#include "format/profile.h"
#include "reader/profile.h"
#include "spool/cells.h"
#include "test_reader_make.h"
#include "writer/profile.h"

/* ---- Buckets -----------------------------------------------------------------------------------
 */

static void buckets_begin_where_they_say(void **state)
{
    (void)state;
    assert_int_equal(probity_profile_bucket(0), 0);
    assert_int_equal(probity_profile_bucket(15), 0);
    assert_int_equal(probity_profile_bucket(16), 0);
    assert_int_equal(probity_profile_bucket(UINT64_MAX), PROBITY_PROFILE_BUCKETS - 1);
    for (uint32_t i = 1; i < PROBITY_PROFILE_BUCKETS; i++) {
        uint64_t start = probity_profile_bucket_start(i);
        assert_int_equal(probity_profile_bucket(start), i);
        assert_int_equal(probity_profile_bucket(start - 1), i - 1);
    }
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

static void fill_row(struct probity_profile_row *row, uint64_t seed)
{
    memset(row, 0, sizeof *row);
    row->set = 1 + (uint32_t)seed % 7;
    row->thread = (uint32_t)seed;
    row->tid = UINT32_MAX;
    row->threads = 3;
    row->site = 2 * (uint32_t)seed;
    row->calls = UINT64_MAX - seed;
    row->total = seed << 40;
    row->self = seed * seed;
    row->max = UINT64_MAX;
    row->durations = 1;
    row->off_total = -(int64_t)seed;
    row->off_self = INT64_MIN;
    for (uint32_t i = 0; i < PROBITY_PROFILE_BUCKETS; i++)
        row->histogram[i] = (seed * (i + 1)) % 3 == 0 ? seed * i : 0;
}

static void rows_come_out_as_they_went_in(void **state)
{
    static uint8_t bytes[PROBITY_PROFILE_ROW_BYTES_MAX];
    struct probity_profile_row row, got;

    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        fill_row(&row, seed * seed * seed);
        uint8_t *end = probity_profile_row_put(bytes, &row);
        assert_ptr_equal(probity_profile_row_get(bytes, end, &got), end);
        assert_memory_equal(&row, &got, sizeof row);
    }
}

static void longest_row_has_room(void **state)
{
    uint8_t bytes[PROBITY_PROFILE_ROW_BYTES_MAX + 1];
    struct probity_profile_row row;

    (void)state;
    memset(&row, 0xfe, sizeof row);
    bytes[PROBITY_PROFILE_ROW_BYTES_MAX] = 0x5a;
    assert_in_range(probity_profile_row_put(bytes, &row) - bytes, 1,
                    PROBITY_PROFILE_ROW_BYTES_MAX - 8);
    assert_int_equal(bytes[PROBITY_PROFILE_ROW_BYTES_MAX], 0x5a);
}

/* Rows are rejected if truncated anywhere. Whichever byte is wrong, only the row is read, which a
 * sanitizer checks, and the word after it keeps its value. */
static void damaged_rows_are_refused(void **state)
{
    static uint8_t bytes[PROBITY_PROFILE_ROW_BYTES_MAX];
    struct probity_profile_row row;
    struct { struct probity_profile_row row; uint64_t after; } got = {.after = 4711};

    (void)state;
    fill_row(&row, 77);
    size_t length = (size_t)(probity_profile_row_put(bytes, &row) - bytes);
    for (size_t cut = 0; cut < length; cut++) {
        uint8_t *copy = malloc(cut + 1);
        assert_non_null(copy);
        memcpy(copy, bytes, cut);
        assert_null(probity_profile_row_get(copy, copy + cut, &got.row));
        free(copy);
    }
    for (size_t i = 0; i < length * 255; i++) {
        uint8_t *copy = malloc(length);
        assert_non_null(copy);
        memcpy(copy, bytes, length);
        copy[i % length] ^= (uint8_t)(1 + i / length);
        const uint8_t *end = probity_profile_row_get(copy, copy + length, &got.row);
        assert_true(end == NULL || end <= copy + length);
        assert_int_equal(got.after, 4711);
        free(copy);
    }
}

/* ---- Cells to parts ----------------------------------------------------------------------------
 */

enum { CELLS = 20, ROOM = 2 * PROBITY_PROFILE_ROW_BYTES_MAX, PARTS_MAX = 64 };

struct written {
    uint8_t payload[PARTS_MAX][ROOM];
    uint32_t bytes[PARTS_MAX];
    uint32_t count;
};

static uint8_t *give_room(void *context)
{
    struct written *written = context;

    return written->count < PARTS_MAX ? written->payload[written->count] : NULL;
}

static int take_part(void *context, uint32_t payload_bytes)
{
    struct written *written = context;

    assert_in_range(payload_bytes, PROBITY_PROFILE_FIXED_BYTES, ROOM);
    written->bytes[written->count++] = payload_bytes;
    return 0;
}

static struct probity_profile_cell *cells_new(void)
{
    struct probity_profile_cell *cells = calloc(CELLS, sizeof *cells);

    assert_non_null(cells);
    for (uint32_t i = 0; i < CELLS; i++) {
        cells[i].site = 2 * i;
        cells[i].calls = i + 1;
        cells[i].min = i > 0 ? i : UINT64_MAX;
        cells[i].latest = 1000;
        for (uint32_t bucket = 0; bucket < PROBITY_PROFILE_BUCKETS; bucket++)
            cells[i].histogram[bucket] = bucket * i;
    }
    return cells;
}

/* Writes a profile whose parts have one or two rows each. */
static struct written *write_profile(uint64_t tick)
{
    struct written *written = calloc(1, sizeof *written);
    struct probity_profile_cell *cells = cells_new();
    struct probity_cells chunk = {.cells = cells, .count = CELLS, .owner = {1, 2, 3, 4}};
    struct probity_profile_sink sink = {.room = give_room,
                                        .put = take_part,
                                        .context = written,
                                        .bytes = PROBITY_PROFILE_ROW_BYTES_MAX + 500,
                                        .tick = tick,
                                        .rate = 7};

    assert_non_null(written);
    assert_int_equal(probity_profile_add(&sink, &chunk), 0);
    assert_int_equal(probity_profile_finish(&sink), 0);
    assert_in_range(written->count, 2, CELLS);
    free(cells);
    return written;
}

static void parts_hold_all_cells_in_order(void **state)
{
    struct written *written = write_profile(5);
    struct probity_profile_part part;
    struct probity_profile_row row;
    uint32_t site = 0;

    (void)state;
    for (uint32_t i = 0; i < written->count; i++) {
        const uint8_t *at = written->payload[i], *end = at + written->bytes[i];
        assert_int_equal(probity_profile_part_get(at, written->bytes[i], &part), 0);
        assert_int_equal(part.part, i);
        assert_int_equal(part.flags, i + 1 == written->count ? PROBITY_PROFILE_LAST : 0);
        assert_int_equal(part.tick, 5);
        assert_int_equal(part.rate, 7);
        at += PROBITY_PROFILE_FIXED_BYTES;
        for (uint32_t r = 0; r < part.rows; r++, site++) {
            at = probity_profile_row_get(at, end, &row);
            assert_non_null(at);
            assert_int_equal(row.site, 2 * site);
            assert_int_equal(row.calls, site + 1);
            assert_int_equal(row.min, site);
            assert_int_equal(row.threads, 4);
            uint32_t latest = probity_profile_bucket(1000);
            assert_int_equal(row.histogram[latest], latest * site + 1);
        }
        assert_ptr_equal(at, end);
    }
    assert_int_equal(site, CELLS);
    free(written);
}

static void chunk_of_records_holds_no_cells(void **state)
{
    struct probity_chunk_header header = {.state = PROBITY_CHUNK_FULL, .used = 1};
    static uint64_t words[PROBITY_CHUNK_WORDS_MIN];
    struct probity_cells cells;

    (void)state;
    assert_int_equal(probity_cells_get(&header, words, PROBITY_CHUNK_WORDS_MIN, &cells), 0);
    header.state = PROBITY_CHUNK_CELLS;
    header.used = UINT32_MAX; /* malicious */
    assert_int_equal(probity_cells_get(&header, words, PROBITY_CHUNK_WORDS_MIN, &cells), 1);
    assert_int_equal(cells.count, 2);
}

/* ---- The newest complete profile ---------------------------------------------------------------
 */

static void add_part(struct probity_profile_parts *parts, const struct written *written,
                     uint32_t index, uint64_t offset)
{
    struct probity_scan_item item = {.kind = PROBITY_SCAN_BLOCK,
                                     .offset = offset,
                                     .bytes = written->bytes[index],
                                     .header = {.payload_bytes = written->bytes[index]},
                                     .payload = written->payload[index]};

    assert_int_equal(probity_profile_parts_add(parts, &item), 0);
}

static void newest_whole_profile_counts(void **state)
{
    struct written *first = write_profile(100), *second = write_profile(200);
    struct probity_profile_parts parts = {0};

    (void)state;
    for (uint32_t i = 0; i < first->count; i++)
        add_part(&parts, first, i, 1000 + i);
    assert_int_equal(parts.count, first->count);
    /* One part is missing, so the first profile remains valid. */
    for (uint32_t i = 0; i < second->count; i++) {
        if (i != 1)
            add_part(&parts, second, i, 2000 + i);
    }
    assert_int_equal(parts.places[0].offset, 1000);
    /* Parts of two different profiles do not form one. */
    add_part(&parts, second, 0, 3000);
    for (uint32_t i = 1; i < first->count; i++)
        add_part(&parts, first, i, 3000 + i);
    assert_int_equal(parts.places[0].offset, 1000);
    for (uint32_t i = 0; i < second->count; i++)
        add_part(&parts, second, i, 4000 + i);
    assert_int_equal(parts.count, second->count);
    assert_int_equal(parts.places[0].offset, 4000);
    probity_profile_parts_release(&parts);
    free(first);
    free(second);
}

/* ---- Inconsistent rows -------------------------------------------------------------------------
 */

static void make_row(struct make *make, const struct probity_profile_row *row)
{
    const struct probity_profile_part part = {.flags = PROBITY_PROFILE_LAST, .rows = 1,
                                              .tick = MAKE_START, .rate = UINT64_C(1) << 32};
    uint8_t *payload = make_payload(make);

    probity_profile_part_put(payload, &part);
    uint8_t *end = probity_profile_row_put(payload + PROBITY_PROFILE_FIXED_BYTES, row);
    make_block(make, PROBITY_BLOCK_PROFILE, (size_t)(end - payload));
}

/* Guarantees that an analysis relies on: min is at most max, and every duration is between the
 * two. */
static void expect_order(const struct probity_report_sums *sums)
{
    const struct probity_hist_values values = {&sums->durations, sums->sum_ns, sums->min_ns,
                                               sums->max_ns};
    struct probity_histogram_bucket bucket;
    size_t at = 0;

    if (sums->durations.count == 0)
        return;
    assert_true(sums->min_ns <= sums->max_ns);
    while (probity_histogram_next(&sums->durations, &at, &bucket))
        assert_true(bucket.least + bucket.width > sums->min_ns && bucket.least <= sums->max_ns);
    for (int is_linear = 0; is_linear <= 1; is_linear++) {
        struct probity_hist hist;
        assert_int_equal(probity_hist_make(&values, is_linear, 32, &hist), 0);
        assert_in_range(hist.row_count, 1, 65);
        probity_hist_release(&hist);
    }
}

static void contradicting_rows_are_put_in_order(void **state)
{
    static const struct {
        uint64_t calls, untimed, min, max;
    } cases[] = {{3, 0, 1000000, 10},
                 {3, 0, UINT64_MAX >> 1, 0},
                 {3, 0, 7, UINT64_MAX}, /* a tick beyond 2^63 is before tick 0 */
                 {0, 5, 1000000, 10},   /* durations without a call */
                 {UINT64_MAX, 2, 90, 100},
                 {1, 0, 0, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct make make;
        struct probity_profile_row row = {.set = 1, .thread = 1, .tid = 1, .threads = 1, .site = 2,
                                          .calls = cases[i].calls, .untimed = cases[i].untimed,
                                          .min = cases[i].min, .max = cases[i].max};
        struct probity_reader *reader;
        struct probity_report *report;
        const char *path = make.path;
        size_t count;

        row.histogram[0] = row.histogram[50] = row.histogram[PROBITY_PROFILE_BUCKETS - 1] = 1;
        make_start(&make);
        make_row(&make, &row);
        make_sync(&make, PROBITY_BLOCK_END, make_anchor(MAKE_START + 1000), MAKE_START + 1000);
        make_write(&make, "contradicting");
        assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
        assert_int_equal(probity_report_open(NULL, &report), 0);
        assert_int_equal(probity_report_read(report, reader), 0);
        const struct probity_report_function *functions = probity_report_functions(report, &count);
        assert_int_equal(count, 1);
        expect_order(&functions->sums);
        probity_report_close(report);
        probity_reader_close(reader);
        unlink(make.path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_begin_where_they_say),
        cmocka_unit_test(rows_come_out_as_they_went_in),
        cmocka_unit_test(longest_row_has_room),
        cmocka_unit_test(damaged_rows_are_refused),
        cmocka_unit_test(parts_hold_all_cells_in_order),
        cmocka_unit_test(chunk_of_records_holds_no_cells),
        cmocka_unit_test(newest_whole_profile_counts),
        cmocka_unit_test(contradicting_rows_are_put_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
