/* SPDX-License-Identifier: MIT
 *
 * Readings of a clock that goes back, which CLOCK_MONOTONIC may do if a library replaces it.
 *
 * link-flags: -Wl,--wrap=clock_gettime
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"

#define START UINT64_C(1000000000)

enum { KIND_MONOTONIC_NS = 3, STEP = 1000, TRIES = 3, READINGS_MAX = 100 };

static uint64_t now = START;

/* Each reading of CLOCK_MONOTONIC is earlier than the one before. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
    if (clock == CLOCK_MONOTONIC)
        now -= STEP;
    *ret_now = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
    return 0;
}

static void a_moment_is_one_that_the_clock_showed(void **state)
{
    struct probity_clock_moment moment;

    (void)state;
    now = START;
    probity_clock_moment(KIND_MONOTONIC_NS, 0, TRIES, &moment);
    assert_in_range(moment.ticks, START - READINGS_MAX * STEP, START);
    assert_int_equal(moment.width_ns, 2 * STEP);
}

static void so_is_that_of_a_cpu_time(void **state)
{
    struct probity_clock_cpu cpu;

    (void)state;
    now = START;
    assert_int_equal(probity_clock_cpu(KIND_MONOTONIC_NS, 1, &cpu), STEP);
    assert_in_range(cpu.tick, START - READINGS_MAX * STEP, START);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_is_one_that_the_clock_showed),
        cmocka_unit_test(so_is_that_of_a_cpu_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
