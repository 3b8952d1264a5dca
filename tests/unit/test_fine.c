/* SPDX-License-Identifier: MIT
 *
 * test_fine.c: compares histograms with the counted values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/histogram.h"

enum { VALUES = 20000 };

static uint64_t values[VALUES];

static int compare_values(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* Compares quantiles with values of the nearest ranks in the sorted values. */
static void expect_quantiles(void)
{
    static const unsigned per_mille[] = {1, 10, 100, 250, 500, 900, 990, 999, 1000};
    struct probity_histogram fine = {.count = 0};

    for (size_t i = 0; i < VALUES; i++)
        assert_int_equal(probity_histogram_add(&fine, values[i]), 0);
    qsort(values, VALUES, sizeof *values, compare_values);
    for (size_t i = 0; i < sizeof per_mille / sizeof *per_mille; i++) {
        double exact = (double)values[(VALUES * (size_t)per_mille[i] + 999) / 1000 - 1];
        double found = (double)probity_histogram_quantile(&fine, per_mille[i], values[0],
                                                           values[VALUES - 1]);
        assert_true(found >= exact * 255 / 256 && found <= exact * 257 / 256);
        assert_true(exact >= 256 || found == exact);
    }
    probity_histogram_release(&fine);
}

static uint64_t next_random(void)
{
    static uint64_t random = 1;

    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random >> 32;
}

static void percentiles_are_those_of_sorted_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < VALUES; i++) /* uniform */
        values[i] = next_random() % 1000000;
    expect_quantiles();
    for (size_t i = 0; i < VALUES; i++) /* the same number in each power of two */
        values[i] = (next_random() << 32 | next_random()) >> next_random() % 64;
    expect_quantiles();
    for (size_t i = 0; i < VALUES; i++) /* two peaks, and a long tail */
        values[i] = i % 2 == 0   ? 90 + next_random() % 20
                    : i % 50 != 1 ? 40000 + next_random() % 999
                                  : 100000000 / (1 + next_random() % 1000);
    expect_quantiles();
}

static void extremes_have_a_bucket(void **state)
{
    struct probity_histogram fine = {.count = 0};

    (void)state;
    assert_int_equal(probity_histogram_quantile(&fine, 500, 0, UINT64_MAX), 0);
    assert_int_equal(probity_histogram_add(&fine, 0), 0);
    assert_int_equal(probity_histogram_quantile(&fine, 500, 0, UINT64_MAX), 0);
    assert_int_equal(probity_histogram_add(&fine, UINT64_MAX), 0);
    assert_true(probity_histogram_quantile(&fine, 1000, 0, UINT64_MAX) > UINT64_MAX / 256 * 255);
    for (uint64_t value = 1; value < 256; value++)
        assert_int_equal(probity_histogram_add(&fine, value), 0);
    assert_int_equal(probity_histogram_quantile(&fine, 500, 0, UINT64_MAX), 128);
    probity_histogram_release(&fine);
}

/* The buckets are contiguous, and each contains the values counted in it. */
static void buckets_hold_the_values(void **state)
{
    struct probity_histogram fine = {0};
    struct probity_histogram_bucket bucket;
    size_t at = 0, next = 0;
    uint64_t end = 0;

    (void)state;
    for (size_t i = 0; i < VALUES; i++)
        values[i] = (next_random() << 32 | next_random()) >> next_random() % 64;
    for (int i = 0; i < VALUES; i++)
        assert_int_equal(probity_histogram_add(&fine, values[i]), 0);
    qsort(values, VALUES, sizeof *values, compare_values);
    while (probity_histogram_next(&fine, &at, &bucket)) {
        size_t first = next;
        assert_true(bucket.least >= end);
        assert_true(bucket.least < 256 ? bucket.width == 1 : bucket.width <= bucket.least / 128);
        end = bucket.least + (bucket.width - 1); /* the last ends at 2^64 */
        while (next < VALUES && values[next] <= end)
            assert_true(values[next++] >= bucket.least);
        assert_int_equal(bucket.count, next - first);
    }
    assert_int_equal(next, VALUES);
    probity_histogram_release(&fine);
}

static uint64_t count_of(const struct probity_histogram *fine, uint64_t value)
{
    struct probity_histogram_bucket bucket;
    size_t at = 0;

    while (probity_histogram_next(fine, &at, &bucket)) {
        if (value - bucket.least < bucket.width)
            return bucket.count;
    }
    return 0;
}

/* Few buckets are allocated at first, then all, with counts too large for the few. */
static void what_is_merged_is_added(void **state)
{
    struct probity_histogram one = {0}, other = {0};

    (void)state;
    for (uint64_t value = 1 << 20; value < 1 << 21; value += 1 << 13) {
        assert_int_equal(probity_histogram_add_times(&one, value, 3), 0);
        assert_int_equal(probity_histogram_add_times(&other, value, value), 0);
        assert_int_equal(probity_histogram_merge(&one, &other), 0);
        assert_int_equal(count_of(&one, value), 3 + value);
        probity_histogram_release(&other);
    }
    assert_int_equal(probity_histogram_add_times(&other, 5, UINT64_C(1) << 57), 0);
    assert_int_equal(probity_histogram_add_times(&other, 9, (UINT64_C(1) << 57) - 1), 0);
    assert_int_equal(probity_histogram_add(&other, 9), 0);
    assert_int_equal(probity_histogram_add_times(&other, 9, 0), 0);
    assert_int_equal(probity_histogram_add_times(&other, 1000, (UINT64_C(1) << 57) - 1), 0);
    assert_int_equal(probity_histogram_add(&other, 1000), 0);
    for (uint64_t value = 4096; value < 8192; value += 32)
        assert_int_equal(probity_histogram_add_times(&other, value, UINT32_MAX), 0);
    assert_int_equal(probity_histogram_add(&other, 6400), 0);
    assert_int_equal(probity_histogram_merge(&one, &other), 0);
    assert_int_equal(count_of(&one, 6400), UINT64_C(1) << 32);
    assert_int_equal(count_of(&one, 6400 + 32), UINT32_MAX);
    assert_int_equal(count_of(&one, 5), UINT64_C(1) << 57);
    assert_int_equal(count_of(&one, 9), UINT64_C(1) << 57);
    assert_int_equal(count_of(&one, 1000), UINT64_C(1) << 57);
    assert_int_equal(count_of(&one, 10), 0);
    probity_histogram_release(&one);
    probity_histogram_release(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_are_those_of_sorted_values),
        cmocka_unit_test(extremes_have_a_bucket),
        cmocka_unit_test(buckets_hold_the_values),
        cmocka_unit_test(what_is_merged_is_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
