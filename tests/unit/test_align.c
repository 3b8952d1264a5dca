/* SPDX-License-Identifier: MIT
 *
 * Fits lines to bounds of random clocks: the true offset is within the reported error, and the line
 * satisfies every bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reader/align.h"

enum { POINTS = 400 };

static uint64_t state_of_random = 88172645463325252U;

static double random_below(double limit)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return limit * (double)(state_of_random >> 11) / 9007199254740992.0;
}

static void truth_is_within_the_error(void **state)
{
    const double span = 1e10;
    static struct probity_align_point upper[POINTS], lower[POINTS], all[2][POINTS];

    (void)state;
    for (int round = 0; round < 500; round++) {
        double begin = random_below(8e9) - 4e9, slope = random_below(8e-4) - 4e-4;
        size_t count = 1 + (size_t)random_below(POINTS - 1);
        for (size_t i = 0; i < count; i++) {
            double x = random_below(span), y = random_below(span);
            upper[i] = (struct probity_align_point){x, begin + slope * x + random_below(1e6)};
            lower[i] = (struct probity_align_point){y, begin + slope * y - 1e4 - random_below(4e5)};
        }
        memcpy(all[0], upper, sizeof upper);
        memcpy(all[1], lower, sizeof lower);
        struct probity_align_bounds bounds = {upper, lower, count, count};
        struct probity_align_fit fit;
        probity_align_reduce(&bounds);
        assert_int_equal(
            probity_align_fit(&bounds, span, PROBITY_ALIGN_SLOPE_MAX, &fit), 1);
        double error = probity_align_error(&fit, &fit.line);
        for (double x = 0; x <= span; x += span / 4) {
            double off = probity_align_at(&fit.line, x) - (begin + slope * x);
            assert_true(off <= error + 1 && off >= -error - 1);
        }
        for (size_t i = 0; i < count; i++) {
            assert_true(probity_align_at(&fit.line, all[0][i].x) <= all[0][i].y + 1e-3);
            assert_true(probity_align_at(&fit.line, all[1][i].x) >= all[1][i].y - 1e-3);
        }
    }
}

static void bounds_that_cross_contradict(void **state)
{
    struct probity_align_point upper[] = {{0, 10}, {100, 10}}, lower[] = {{50, 12}};
    struct probity_align_bounds bounds = {upper, lower, 2, 1};
    struct probity_align_fit fit;

    (void)state;
    probity_align_reduce(&bounds);
    assert_int_equal(probity_align_fit(&bounds, 100, PROBITY_ALIGN_SLOPE_MAX, &fit), 0);
    lower[0].y = 9;
    assert_int_equal(probity_align_fit(&bounds, 100, PROBITY_ALIGN_SLOPE_MAX, &fit), 1);
}

static void slope_is_limited(void **state)
{
    struct probity_align_point upper[] = {{0, 0}}, lower[] = {{1e6, 501}};
    struct probity_align_bounds bounds = {upper, lower, 1, 1};
    struct probity_align_fit fit;

    (void)state;
    assert_int_equal(probity_align_fit(&bounds, 1e6, 5e-4, &fit), 0);
    lower[0].y = 499;
    assert_int_equal(probity_align_fit(&bounds, 1e6, 5e-4, &fit), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_is_within_the_error),
        cmocka_unit_test(bounds_that_cross_contradict),
        cmocka_unit_test(slope_is_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
