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

#include "sched/events.h"
#include "sched/price.h"

enum {
    TRIES = 20,
    PRICES_MIN = 5
};
#define BUSY_NS UINT64_C(60000000000)

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now = {0, 0};

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int is_permitted(void)
{
    struct probity_sched_ring ring;
    int error = probity_sched_ring_try(&ring, 0, (uint32_t)sched_getcpu());

    if (error == 0)
        probity_sched_ring_end(&ring);
    return error == 0;
}

static int compare(const void *left, const void *right)
{
    uint32_t one = *(const uint32_t *)left, other = *(const uint32_t *)right;

    return (one > other) - (one < other);
}

/* Measures at least TRIES times, and longer if other programs use the CPU. Returns the number of
 * prices. */
static size_t measure(uint32_t prices[TRIES], uint64_t *ret_cpu_ns)
{
    uint64_t until_ns = read_ns(CLOCK_MONOTONIC) + BUSY_NS;
    uint64_t cpu_ns = UINT64_MAX;
    size_t count = 0;
    int tries = 0;

    for (; tries < TRIES || (count < PRICES_MIN && read_ns(CLOCK_MONOTONIC) < until_ns); tries++) {
        uint64_t before_ns = read_ns(CLOCK_PROCESS_CPUTIME_ID);
        uint32_t price_ns = probity_sched_price_ns();
        uint64_t used_ns = read_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns;
        cpu_ns = used_ns < cpu_ns ? used_ns : cpu_ns;
        if (price_ns != 0)
            prices[count++] = price_ns;
    }
    print_message("measured %u of %d times, %u us of CPU time\n", (unsigned)count, tries,
                  (unsigned)(cpu_ns / 1000));
    *ret_cpu_ns = cpu_ns;
    return count;
}

/* Most prices are similar, whatever else the machine does. */
static void test_price_is_plausible(void **state)
{
    uint32_t prices[TRIES];
    uint64_t cpu_ns;
    size_t similar = 0;

    (void)state;
    if (!is_permitted()) {
        assert_int_equal(probity_sched_price_ns(), 0);
        print_message("left out: perf events are not permitted\n");
        skip();
    }
    size_t count = measure(prices, &cpu_ns);
    assert_true(cpu_ns < 10000000); /* 1 ms, on a machine that is ten times slower */
    assert_true(count > 0);
    qsort(prices, count, sizeof *prices, compare);
    uint32_t median = prices[count / 2];
    for (size_t i = 0; i < count; i++)
        similar += prices[i] >= median / 3 && prices[i] / 3 <= median;
    print_message("least %u, median %u, most %u ns\n", prices[0], median, prices[count - 1]);
    assert_true(prices[0] >= 200 && prices[count - 1] <= 12000);
    assert_true(2 * similar > count);
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
