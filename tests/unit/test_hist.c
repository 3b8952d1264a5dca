/* SPDX-License-Identifier: MIT
 *
 * test_hist.c: the rows for known values, on both scales, and for extreme values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answers/hist/hist.h"

static struct probity_histogram fine;

static struct probity_hist hist_of(const uint64_t *values, size_t count, int is_linear, size_t rows)
{
    struct probity_hist_values known = {&fine, 0, UINT64_MAX, 0};
    struct probity_hist hist;

    probity_histogram_release(&fine);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(probity_histogram_add(&fine, values[i]), 0);
        known.sum += values[i];
        known.min = values[i] < known.min ? values[i] : known.min;
        known.max = values[i] > known.max ? values[i] : known.max;
    }
    assert_int_equal(probity_hist_make(&known, is_linear, rows, &hist), 0);
    return hist;
}

/* Each value is within the bounds of its row, and the rows are contiguous from min to max. */
static void expect_rows(const uint64_t *values, size_t count, int is_linear, size_t rows)
{
    struct probity_hist hist = hist_of(values, count, is_linear, rows);
    uint64_t all = 0;

    assert_int_equal(hist.count, count);
    assert_true(hist.row_count <= (rows > 65 ? rows : 65));
    assert_true(hist.rows[0].least <= hist.min && hist.min < hist.rows[0].end);
    assert_true(hist.max >= hist.rows[hist.row_count - 1].least);
    for (size_t i = 0; i < hist.row_count; i++) {
        const struct probity_hist_row *row = &hist.rows[i];
        uint64_t found = 0;
        for (size_t j = 0; j < count; j++)
            found += values[j] >= row->least && (values[j] < row->end || row->end == UINT64_MAX);
        assert_int_equal(row->count, found);
        assert_true(i == 0 || row->least == hist.rows[i - 1].end);
        all += found;
    }
    assert_int_equal(all, count);
    probity_hist_release(&hist);
}

static void each_value_is_in_its_row(void **state)
{
    static const uint64_t small[] = {0, 1, 2, 3, 3, 7, 8, 100};
    static const uint64_t near[] = {1000000, 1000001, 1007000, 1100000, 1250000};
    static const uint64_t wide[] = {0, 5, 130, 4095, 4096, 1 << 30, UINT64_MAX / 2, UINT64_MAX};
    static const uint64_t one[] = {777};
    static const size_t rows[] = {1, 8, 32, 65, 200, 10000};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int is_linear = 0; is_linear <= 1; is_linear++) {
            expect_rows(small, 8, is_linear, rows[i]);
            expect_rows(near, 5, is_linear, rows[i]);
            expect_rows(wide, 8, is_linear, rows[i]);
            expect_rows(one, 1, is_linear, rows[i]);
        }
    }
}

static void bounds_are_as_promised(void **state)
{
    static const uint64_t values[] = {100, 300, 1000};
    struct probity_hist hist = hist_of(values, 3, 0, 8);

    (void)state;
    /* Two rows to each power of two: 96, 128, 192, 256 ... */
    assert_int_equal(hist.row_count, 7);
    assert_int_equal(hist.rows[0].least, 96);
    assert_int_equal(hist.rows[1].least, 128);
    assert_int_equal(hist.rows[2].least, 192);
    assert_int_equal(hist.rows[6].end, 1024);
    assert_int_equal(hist.mean, 466);
    assert_int_equal(hist.most, 1);
    probity_hist_release(&hist);
    hist = hist_of(values, 3, 1, 8);
    assert_int_equal(hist.row_count, 8);
    assert_int_equal(hist.rows[0].least, 0);
    assert_int_equal(hist.rows[7].least, 896);
    probity_hist_release(&hist);
    hist = hist_of(values, 0, 0, 8);
    assert_int_equal(hist.row_count, 0);
    assert_int_equal(hist.max, 0);
    probity_hist_release(&hist);
    probity_histogram_release(&fine);
}

/* Limits that contradict the counts, or each other, never give an invalid row. */
static void contradicting_limits_are_survived(void **state)
{
    static const struct {
        uint64_t min, max;
    } limits[] = {{1000, 10}, {UINT64_MAX, 0}, {UINT64_MAX, UINT64_MAX}, {1 << 20, 1},
                  {0, 0}, {200, 300}, {5000, 6000}};

    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        for (int is_linear = 0; is_linear <= 1; is_linear++) {
            struct probity_hist hist;
            uint64_t all = 0;
            probity_histogram_release(&fine);
            for (uint64_t value = 1; value < 100000; value *= 7)
                assert_int_equal(probity_histogram_add(&fine, value), 0);
            assert_int_equal(probity_hist_make(&(struct probity_hist_values){
                &fine, 0, limits[i].min, limits[i].max}, is_linear, 32, &hist), 0);
            assert_in_range(hist.row_count, 1, 65);
            assert_true(hist.min <= hist.max);
            for (size_t row = 0; row < hist.row_count; row++)
                all += hist.rows[row].count;
            assert_int_equal(all, hist.count);
            /* Values beyond the last row count there, not in the first. */
            assert_true(hist.row_count == 1 || hist.rows[hist.row_count - 1].count > 0);
            probity_hist_release(&hist);
        }
    }
    probity_histogram_release(&fine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradicting_limits_are_survived),
        cmocka_unit_test(each_value_is_in_its_row),
        cmocka_unit_test(bounds_are_as_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
