/* SPDX-License-Identifier: MIT
 *
 * Tests of src/sched/price.c: the price of a recorded switch is measured in a bounded time, and the
 * measurement does not change the thread's scheduling. `test_sched_price N` prints N prices and the
 * CPU time of each, in ns, for bench/calls/states.sh.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "sched/price.h"

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now = {0, 0};

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void test_price_is_plausible(void **state)
{
    uint32_t least = UINT32_MAX, measured = 0;
    uint64_t cpu_ns = UINT64_MAX;

    (void)state;
    for (int i = 0; i < 20; i++) {
        uint64_t before_ns = read_ns(CLOCK_PROCESS_CPUTIME_ID);
        uint32_t price_ns = probity_sched_price_ns();
        uint64_t used_ns = read_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns;
        cpu_ns = used_ns < cpu_ns ? used_ns : cpu_ns;
        measured += price_ns != 0;
        least = price_ns != 0 && price_ns < least ? price_ns : least;
    }
    print_message("measured %u of 20 times, least %u ns, %u us of CPU time\n", measured,
                  measured != 0 ? least : 0, (unsigned)(cpu_ns / 1000));
    assert_true(cpu_ns < 10000000); /* 1 ms, on a machine that is ten times slower */
    assert_true(measured == 0 || (least >= 200 && least <= 20000));
}

static void test_affinity_is_restored(void **state)
{
    cpu_set_t before, after;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    probity_sched_price_ns();
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_price_is_plausible),
        cmocka_unit_test(test_affinity_is_restored),
    };

    for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
        uint64_t before_ns = read_ns(CLOCK_PROCESS_CPUTIME_ID);
        uint32_t price_ns = probity_sched_price_ns();
        printf("%u %u\n", price_ns,
               (unsigned)(read_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns));
    }
    return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
