/* SPDX-License-Identifier: MIT
 *
 * test_statistics.c: compares rank sums with tables and all permutations, and intervals and
 * required numbers of runs with simulations.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/statistics.h"
#include "random_numbers.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct probity_rank_null null;

static void expect_near(double found, double expected, double bound)
{
    if (fabs(found - expected) > bound)
        fail_msg("%.9g is not within %g of %.9g", found, bound, expected);
}

static struct probity_rank_test test_of(const double *first, size_t first_count,
                                        const double *second, size_t second_count)
{
    struct probity_rank_test test;
    const struct probity_samples samples = {first, second, first_count, second_count};

    assert_int_equal(probity_rank_test(&null, &samples, &test), 0);
    return test;
}

/* Hollander and Wolfe's example 4.1. */
static const double at_term[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
static const double earlier[] = {1.15, 0.88, 0.90, 0.74, 1.21};

static void the_textbook_agrees(void **state)
{
    struct probity_rank_test test = test_of(at_term, 10, earlier, 5);
    struct probity_shift shift;
    const struct probity_samples samples = {earlier, at_term, 5, 10};

    (void)state;
    assert_true(test.is_exact);
    expect_near(test.p_less, 0.1272, 0.00005);
    expect_near(test.p, 0.2544, 0.0001);
    assert_int_equal(probity_shift_estimate(&null, &samples, 0.95, &shift), 0);
    expect_near(shift.estimate, 0.305, 1e-9);
}

/* Counts over all choices of values for the second sample. */
static void count_choices(const double *values, size_t count, size_t size, double *ret_less,
                          double *ret_greater)
{
    unsigned observed = ((1u << size) - 1) << (count - size), all = 0, less = 0, greater = 0;
    double found = 0;

    for (unsigned choice = observed;; choice = choice > 0 ? choice - 1 : 0) {
        double u = 0;
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < count && (choice >> i & 1) != 0; j++)
                u += (choice >> j & 1) != 0 ? 0 : values[i] > values[j]    ? 1
                                              : values[i] == values[j] ? 0.5 : 0;
        }
        found = choice == observed ? u : found;
        if ((size_t)__builtin_popcount(choice) == size) {
            all++;
            less += u <= found;
            greater += u >= found;
        }
        if (choice == 0)
            break;
    }
    *ret_less = (double)less / all;
    *ret_greater = (double)greater / all;
}

static void exact_means_all_permutations(void **state)
{
    double values[11], less, greater;

    (void)state;
    for (int round = 0; round < 60; round++) {
        size_t count = 4 + (size_t)round % 8, size = 1 + (size_t)(uniform() * (double)(count - 1));
        for (size_t i = 0; i < count; i++)
            values[i] = round % 3 == 0 ? uniform() : floor(4 * uniform()); /* many ties */
        struct probity_rank_test test =
            test_of(values, count - size, values + count - size, size);
        if (test.is_constant)
            continue;
        /* The observed choice has the highest bits set: no other number with as many bits is
         * larger. */
        count_choices(values, count, size, &less, &greater);
        expect_near(test.p_less, less, 1e-12);
        expect_near(test.p_greater, greater, 1e-12);
    }
}

static void equal_values_are_inconclusive(void **state)
{
    const double same[] = {7, 7, 7, 7, 7}, other[] = {9, 9, 9, 9, 9};
    struct probity_rank_test test = test_of(same, 5, same, 5);

    (void)state;
    assert_true(test.is_constant);
    expect_near(test.p, 1, 0);
    test = test_of(same, 5, other, 5);
    assert_false(test.is_constant);
    expect_near(test.p, 2.0 / 252, 1e-12);
    expect_near(test.p_greater, 1.0 / 252, 1e-12);
    expect_near(test.p_less, 1, 1e-12);
}

/* Returns the rank sum of the second sample by counting: for each value, the smaller values plus
 * half the equal ones. */
static double statistic_of(const double *values, size_t first_count, size_t count)
{
    double u = 0;

    for (size_t i = first_count; i < count; i++) {
        for (size_t j = 0; j < first_count; j++)
            u += values[i] > values[j] ? 1 : values[i] == values[j] ? 0.5 : 0;
    }
    return u;
}

/* Above 20 runs per side, random permutations replace the set of all. */
static void normal_goes_on_where_exact_ends(void **state)
{
    double values[44];

    (void)state;
    for (int round = 0; round < 6; round++) {
        int as_low = 0;
        for (size_t i = 0; i < 44; i++)
            values[i] = (round % 2 == 0 ? normal() : floor(3 * normal())) +
                        (i < 21 ? 0 : 0.2 * round);
        struct probity_rank_test test = test_of(values, 21, values + 21, 23);
        double found = statistic_of(values, 21, 44);
        assert_false(test.is_exact);
        for (int permutation = 0; permutation < 10000; permutation++) {
            for (size_t i = 43; i > 0; i--) {
                size_t other = (size_t)(uniform() * (double)(i + 1));
                double kept = values[i];
                values[i] = values[other];
                values[other] = kept;
            }
            as_low += statistic_of(values, 21, 44) <= found;
        }
        expect_near(test.p_less, as_low / 10000.0, 0.02);
    }
}

/* Critical values of the usual tables, two-sided at 5 %: the bound has the next rank. */
static void intervals_end_at_the_critical_values(void **state)
{
    static const struct {
        size_t first, second, critical;
    } table[] = {{5, 5, 2},   {6, 8, 8},    {10, 10, 23}, {12, 9, 26},
                 {15, 15, 64}, {20, 20, 127}, {4, 4, 0}};
    double first[20], second[20];
    struct probity_shift shift;

    (void)state;
    for (size_t i = 0; i < 20; i++) {
        first[i] = -(double)i;
        second[i] = 20 * (double)i; /* the differences are 0, 1, 2 ... if all 20 are used */
    }
    for (size_t i = 0; i < COUNT(table); i++) {
        const struct probity_samples samples = {first, second, table[i].first, table[i].second};
        size_t below = 0, above = 0;
        assert_int_equal(probity_shift_estimate(&null, &samples, 0.95, &shift), 0);
        assert_true(shift.has_interval);
        for (size_t j = 0; j < table[i].first * table[i].second; j++) {
            double difference = second[j / table[i].first] - first[j % table[i].first];
            below += difference < shift.low;
            above += difference > shift.high;
        }
        assert_int_equal(below, table[i].critical);
        assert_int_equal(above, table[i].critical);
    }
    const struct probity_samples few = {first, second, 3, 3};
    assert_int_equal(probity_shift_estimate(&null, &few, 0.95, &shift), 0);
    assert_false(shift.has_interval);
}

static void intervals_hold_the_truth(void **state)
{
    double first[10], second[8];
    const struct probity_samples samples = {first, second, 10, 8};
    struct probity_shift shift;
    int held = 0;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < 10; i++)
            first[i] = normal();
        for (size_t i = 0; i < 8; i++)
            second[i] = 3 + normal();
        assert_int_equal(probity_shift_estimate(&null, &samples, 0.95, &shift), 0);
        held += shift.low <= 3 && shift.high >= 3;
    }
    assert_in_range(held, 1880, 1960);
}

static void many_tests_are_paid_for(void **state)
{
    double once[] = {0.01, 0.04, 0.03, 0.005}, again[] = {0.01, 0.04, 0.03, 0.005}, one = 0.7;
    static const double hochberg[] = {0.02, 0.04, 0.04, 0.02}, holm[] = {0.03, 0.06, 0.06, 0.02};

    (void)state;
    assert_int_equal(probity_adjust_benjamini_hochberg(once, 4), 0);
    assert_int_equal(probity_adjust_holm(again, 4), 0);
    for (size_t i = 0; i < 4; i++) {
        expect_near(once[i], hochberg[i], 1e-12);
        expect_near(again[i], holm[i], 1e-12);
    }
    assert_int_equal(probity_adjust_benjamini_hochberg(&one, 1), 0);
    assert_int_equal(probity_adjust_holm(&one, 1), 0);
    expect_near(one, 0.7, 0);
    assert_int_equal(probity_adjust_holm(NULL, 0), 0);
}

static void enough_runs_are_enough(void **state)
{
    double first[100], second[100];
    int found = 0;

    (void)state;
    expect_near(probity_normal_reach(0.95), 1.959964, 1e-6);
    assert_int_equal(probity_runs_least(0.05), 4);
    assert_int_equal(probity_runs_least(0.005), 6);
    struct probity_demand demand = probity_demand_of(0.05);
    assert_int_equal(probity_runs_needed(&demand, 0, 1), 4);
    assert_int_equal(probity_runs_needed(&demand, 1, 1e-9), PROBITY_RUNS_MAX);
    size_t runs = probity_runs_needed(&demand, 0.02, 0.02);
    assert_in_range(runs, 20, 24);
    for (int round = 0; round < 1000; round++) {
        for (size_t i = 0; i < runs; i++) {
            first[i] = 0.02 * normal();
            second[i] = 0.02 + 0.02 * normal();
        }
        found += test_of(first, runs, second, runs).p <= 0.05;
    }
    assert_in_range(found, 870, 930);
}

static void spread_is_that_within_the_sides(void **state)
{
    const double first[] = {1, 2, 3}, second[] = {11, 13};
    const struct probity_samples samples = {first, second, 3, 2}, single = {first, second, 1, 1};

    (void)state;
    expect_near(probity_sparkline_within(&samples), sqrt(4.0 / 3), 1e-12);
    expect_near(probity_sparkline_within(&single), 0, 0);
}

static int release(void **state)
{
    (void)state;
    probity_rank_null_release(&null);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_textbook_agrees),
        cmocka_unit_test(exact_means_all_permutations),
        cmocka_unit_test(equal_values_are_inconclusive),
        cmocka_unit_test(normal_goes_on_where_exact_ends),
        cmocka_unit_test(intervals_end_at_the_critical_values),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(many_tests_are_paid_for),
        cmocka_unit_test(enough_runs_are_enough),
        cmocka_unit_test(spread_is_that_within_the_sides),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
