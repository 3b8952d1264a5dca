/* SPDX-License-Identifier: MIT
 *
 * Converts ticks at the rates of processors' counters: AArch64's CNTVCT_EL0 at 24 MHz, 25 MHz, 54
 * MHz and 1 GHz, time stamp counters above that. Durations are as exact as the rate's 32 fractional
 * bits allow, and never negative.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/ticks.h"

#define SECOND UINT64_C(1000000000)

static const uint64_t rates_hz[] = {24000000, 25000000, 54000000, 62500000,
                                    SECOND,   2596145000, 4500000000};

static uint64_t rate_of(uint64_t hz)
{
    return (uint64_t)(((probity_wide)SECOND << 32) / (probity_wide)hz);
}

/* The rate is rounded down by less than one part in 2^32 for each ns of a tick. */
static void an_hour_is_exact_to_four_microseconds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rates_hz / sizeof *rates_hz; i++) {
        uint64_t hz = rates_hz[i], rate = rate_of(hz);
        for (uint64_t seconds = 1; seconds <= 3600; seconds += 59) {
            uint64_t ns = probity_ns_of_ticks(seconds * hz, rate);
            assert_in_range(ns, seconds * SECOND - seconds * hz / UINT32_MAX - 1, seconds * SECOND);
        }
    }
    assert_int_equal(probity_ns_of_ticks(3600 * SECOND, rate_of(SECOND)), 3600 * SECOND);
}

/* At 24 MHz a tick takes 41.67 ns. */
static void short_spans_are_whole_ticks(void **state)
{
    (void)state;
    uint64_t slow = rate_of(24000000);

    assert_int_equal(probity_ns_of_ticks(0, slow), 0);
    assert_int_equal(probity_ns_of_ticks(1, slow), 41);
    assert_int_equal(probity_ns_of_ticks(2, slow), 83);
    assert_int_equal(probity_ns_of_ticks(3, slow), 124);
    assert_int_equal(probity_ns_of_ticks(1, rate_of(SECOND)), 1);
    /* A difference that is negative, modulo 2^64, is rounded down, too. */
    assert_int_equal((int64_t)probity_ns_of_ticks((uint64_t)-1, slow), -42);
}

static void ticks_of_a_duration_are_at_most_one_too_few(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rates_hz / sizeof *rates_hz; i++) {
        uint64_t rate = rate_of(rates_hz[i]);
        for (uint64_t ns = 1; ns < UINT64_C(1) << 52; ns = ns * 3 + 1) {
            uint64_t ticks = probity_ticks_of_ns((int64_t)ns, rate);
            assert_true(probity_ns_of_ticks(ticks, rate) <= ns);
            assert_true(probity_ns_of_ticks(ticks + 1, rate) >= ns);
        }
    }
    assert_int_equal(probity_ticks_of_ns(5, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_hour_is_exact_to_four_microseconds),
        cmocka_unit_test(short_spans_are_whole_ticks),
        cmocka_unit_test(ticks_of_a_duration_are_at_most_one_too_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
