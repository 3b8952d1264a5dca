/* SPDX-License-Identifier: MIT
 *
 * test_paired.c: the estimate of a paired difference against a textbook, all combinations of signs,
 * and simulation; its use for paired runs.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/signed_rank.h"
#include "answers/overhead/overhead.h"
#include "random_numbers.h"

static void expect_near(double found, double expected, double bound)
{
    if (fabs(found - expected) > bound)
        fail_msg("%.9g is not within %g of %.9g", found, bound, expected);
}

static struct probity_shift shift_of(const double *differences, size_t count)
{
    struct probity_shift shift;

    assert_int_equal(probity_signed_rank_estimate(differences, count, 0.95, &shift), 0);
    return shift;
}

/* Hollander and Wolfe's example 3.1: nine patients before and after a therapy. */
static void the_textbook_agrees(void **state)
{
    static const double before[] = {1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
    static const double behind[] = {.878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
    double differences[9];

    (void)state;
    for (int i = 0; i < 9; i++)
        differences[i] = behind[i] - before[i];
    struct probity_shift shift = shift_of(differences, 9);
    assert_true(shift.has_interval);
    expect_near(shift.estimate, -0.46, 1e-9);
    expect_near(shift.low, -0.786, 1e-9);
    expect_near(shift.high, -0.010, 1e-9);
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

/* The interval ends at the k-th mean from each end, where rank sums below k occur in at most 5 % of
 * all combinations of signs, two-sided. */
static void all_signs_agree(void **state)
{
    enum { MOST = 14 };
    double differences[MOST], means[MOST * (MOST + 1) / 2];

    (void)state;
    for (size_t count = 5; count <= MOST; count++) {
        size_t made = 0, k = 0, all = (size_t)1 << count, sums[128] = {0}, below = 0;
        for (size_t i = 0; i < count; i++)
            differences[i] = uniform() - 0.3;
        for (size_t signs = 0; signs < all; signs++) {
            size_t sum = 0;
            for (size_t i = 0; i < count; i++)
                sum += (signs >> i & 1) != 0 ? i + 1 : 0;
            sums[sum]++;
        }
        while (2 * (double)(below + sums[k]) / (double)all <= 0.05)
            below += sums[k++];
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j <= i; j++)
                means[made++] = (differences[i] + differences[j]) / 2;
        }
        qsort(means, made, sizeof *means, compare_doubles);
        struct probity_shift shift = shift_of(differences, count);
        assert_int_equal(shift.has_interval, count >= 6);
        if (!shift.has_interval)
            continue;
        expect_near(shift.low, means[k - 1], 1e-12);
        expect_near(shift.high, means[made - k], 1e-12);
    }
}

/* Differences symmetrical about 1, 2,000 times: at least 95 % of the intervals contain 1, but not
 * all. */
static void intervals_hold_what_they_say(void **state)
{
    enum { REPETITIONS = 2000, COUNT = 12 };
    double differences[COUNT];
    int missed = 0;

    (void)state;
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        for (int i = 0; i < COUNT; i++) {
            double u = uniform() - 0.5;
            differences[i] = 1 + u * u * u;
        }
        struct probity_shift shift = shift_of(differences, COUNT);
        missed += shift.low > 1 || shift.high < 1;
    }
    assert_in_range(missed, REPETITIONS * 2 / 100, REPETITIONS * 6 / 100);
}

/* The bounds hardly change at the number of pairs from which the normal approximation is used. */
static void many_pairs(void **state)
{
    static double differences[PROBITY_SIGNED_RANK_EXACT_MAX + 1];

    (void)state;
    for (int i = 0; i <= PROBITY_SIGNED_RANK_EXACT_MAX; i++)
        differences[i] = uniform();
    struct probity_shift exact = shift_of(differences, PROBITY_SIGNED_RANK_EXACT_MAX);
    struct probity_shift normal = shift_of(differences, PROBITY_SIGNED_RANK_EXACT_MAX + 1);
    assert_true(exact.has_interval && normal.has_interval);
    expect_near(normal.low, exact.low, 0.005);
    expect_near(normal.high, exact.high, 0.005);
}

static void a_factor_is_found(void **state)
{
    struct probity_overhead_pair pairs[8] = {{.on_came_first = 0}};
    struct probity_overhead overhead;

    (void)state;
    for (uint64_t i = 0; i < 8; i++) {
        pairs[i].off = (struct probity_overhead_run){.wall_ns = 1000000 * (i + 1),
                                                     .user_ns = 400000, .system_ns = 100000};
        pairs[i].on = (struct probity_overhead_run){
            .wall_ns = 1250000 * (i + 1), .user_ns = 500000, .system_ns = 250000, .traces = 2,
            .records = 1000, .lost = i, .incomplete = i == 7};
    }
    assert_int_equal(probity_overhead_of(pairs, 8, &overhead), 0);
    const struct probity_overhead_times *wall = &overhead.times[PROBITY_OVERHEAD_WALL];
    const struct probity_overhead_times *cpu = &overhead.times[PROBITY_OVERHEAD_CPU];
    assert_true(wall->has_ratio && wall->ratio.has_interval);
    expect_near(wall->ratio.estimate, 0.25, 1e-12);
    expect_near(wall->ratio.low, 0.25, 1e-12);
    expect_near(wall->ratio.high, 0.25, 1e-12);
    expect_near(wall->off_ns, 4500000, 1e-6);
    expect_near(wall->on_ns, 5625000, 1e-6);
    expect_near(cpu->ratio.estimate, 0.5, 1e-12);
    expect_near(cpu->added.estimate, 250000, 1e-6);
    assert_false(overhead.start.is_known || overhead.has_record);
    assert_int_equal(overhead.lost, 28);
    assert_int_equal(overhead.incomplete, 1);
    assert_int_equal(overhead.traces, 16);
    pairs[3].off.user_ns = pairs[3].off.system_ns = 0;
    assert_int_equal(probity_overhead_of(pairs, 8, &overhead), 0);
    assert_false(overhead.times[PROBITY_OVERHEAD_CPU].has_ratio);
    assert_int_equal(probity_overhead_of(pairs, 1, &overhead), 0);
    assert_false(overhead.times[PROBITY_OVERHEAD_WALL].ratio.has_interval);
}

/* The idle runs start 2 processes and the others 3; all other differences are due to records. */
static void starts_are_distinguished_from_records(void **state)
{
    enum {
        PAIRS = 8,
        START_NS = 600000,
        RECORD_NS = 20,
        ENOUGH = 3 * PROBITY_OVERHEAD_RECORDS_MIN
    };
    struct probity_overhead_pair pairs[PAIRS] = {{.on_came_first = 0}};
    struct probity_overhead overhead;

    (void)state;
    for (uint64_t i = 0; i < PAIRS; i++) {
        uint64_t off_ns = 1000000 * (i + 1), records = ENOUGH + i;
        pairs[i].off = (struct probity_overhead_run){.wall_ns = off_ns, .user_ns = off_ns};
        pairs[i].idle = (struct probity_overhead_run){
            .wall_ns = off_ns + 2 * START_NS, .user_ns = off_ns + START_NS, .system_ns = START_NS,
            .traces = 2};
        pairs[i].on = (struct probity_overhead_run){
            .wall_ns = off_ns, .user_ns = off_ns + 3 * START_NS + RECORD_NS * records,
            .traces = 3, .records = records};
    }
    assert_int_equal(probity_overhead_of(pairs, PAIRS, &overhead), 0);
    assert_true(overhead.start.is_known && overhead.has_record && overhead.record.has_interval);
    expect_near(overhead.start.processes, 2, 0);
    expect_near(overhead.start.added[PROBITY_OVERHEAD_CPU].estimate, START_NS, 1e-6);
    expect_near(overhead.start.added[PROBITY_OVERHEAD_WALL].low, START_NS, 1e-6);
    expect_near(overhead.record.estimate, RECORD_NS, 1e-9);
    expect_near(overhead.record.high, RECORD_NS, 1e-9);
    pairs[5].on.records = ENOUGH - 1;
    assert_int_equal(probity_overhead_of(pairs, PAIRS, &overhead), 0);
    assert_true(overhead.start.is_known && !overhead.has_record);
    pairs[5].on.records = ENOUGH;
    pairs[7].idle.traces = 0;
    assert_int_equal(probity_overhead_of(pairs, PAIRS, &overhead), 0);
    assert_false(overhead.start.is_known || overhead.has_record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_textbook_agrees), cmocka_unit_test(all_signs_agree),
        cmocka_unit_test(intervals_hold_what_they_say), cmocka_unit_test(many_pairs),
        cmocka_unit_test(a_factor_is_found),
        cmocka_unit_test(starts_are_distinguished_from_records)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
