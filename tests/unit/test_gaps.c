/* SPDX-License-Identifier: MIT
 *
 * test_gaps.c: how often a thread reads its CPU clock: always after a long gap; needless readings
 * take at most a small share of its CPU time, even if it is mostly off the CPU. With a budget,
 * readings after waits are limited, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/ticks.h"
#include "probity.h"
#include "probity_typed.h"
#include "runtime/budget.h"
#include "runtime/session.h"
#include "runtime/thread.h"

enum { ROUNDS = 200, SHORT_GAPS = 20, SHORT_NS = 3000, PAUSE_NS = 2000000, PERMILLE = 8 };

static char trace_path[64];

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void work(uint64_t ns)
{
    uint64_t since = now_ns(CLOCK_MONOTONIC);

    while (now_ns(CLOCK_MONOTONIC) - since < ns)
        continue;
}

/* Returns whether the hit read the CPU clock. */
static int hit(void)
{
    uint64_t before = probity_thread_slot()->reading.tick;

    PROBITY_PROBE(1);
    return probity_thread_slot()->reading.tick != before;
}

/* If the thread is preempted, the gap is not short. */
static uint64_t short_gaps_with_reading(void)
{
    uint64_t readings = 0;

    for (int i = 0; i < SHORT_GAPS; i++) {
        uint64_t since = now_ns(CLOCK_MONOTONIC);
        work(SHORT_NS);
        int is_read = hit();
        readings += is_read && now_ns(CLOCK_MONOTONIC) - since < 10 * SHORT_NS;
    }
    return readings;
}

static uint64_t cost_ns(void)
{
    const struct probity_session *session = probity_session_recording();

    return probity_ns_of_ticks(session->cpu_cost_ticks, probity_live_rate(&session->live));
}

static void test_share_of_cpu_time(void **state)
{
    const struct timespec pause = {0, PAUSE_NS};
    uint64_t cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID), readings = 0, measured = 0;

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        nanosleep(&pause, NULL);
        measured += (uint64_t)hit();
        readings += short_gaps_with_reading();
    }
    cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    /* Readings that find time off the CPU are not limited. */
    assert_int_equal(measured, ROUNDS);
    /* The first few are free. */
    assert_in_range(readings, 1, 32 + cpu_ns * PERMILLE / 1000 / cost_ns());
}

static void test_long_gap(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        short_gaps_with_reading(); /* the share is used up */
    for (int i = 0; i < 100; i++) {
        work(140 * cost_ns());
        assert_true(hit());
        short_gaps_with_reading();
    }
}

/* A thread that mostly waits. Its waits are recorded by hits with ids. */
static void test_waits_with_budget(void **state)
{
    enum { WAITS = 2000, WAIT_NS = 150000, LONG_COSTS = 4096, BUDGET_PERMILLE = 7, FREE = 64 };
    const struct timespec pause = {0, WAIT_NS};
    uint64_t since = now_ns(CLOCK_MONOTONIC), cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t readings = 0, object = 1;

    (void)state;
    for (int i = 0; i < WAITS; i++) {
        const struct probity_thread_state *slot = probity_thread_slot();
        nanosleep(&pause, NULL);
        uint64_t before = slot->reading.tick;
        PROBITY_LOCK_HOLD("lock", object);
        readings += slot->reading.tick != before;
        assert_true(slot->unmeasured < probity_session_recording()->cpu_cost_ticks * LONG_COSTS);
    }
    since = now_ns(CLOCK_MONOTONIC) - since;
    cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    assert_in_range(readings, 1, FREE + since / LONG_COSTS / cost_ns() +
                                     cpu_ns * BUDGET_PERMILLE / 1000 / cost_ns());
}

static int begin(void **state)
{
    struct probity_options options = {.out = trace_path, .cost = PROBITY_OFF};

    (void)state;
    snprintf(trace_path, sizeof trace_path, "/tmp/probity-test-gaps.%d", (int)getpid());
    if (probity_start(&options) != 0)
        return -1;
    PROBITY_PROBE(1);
    return 0;
}

/* Changing a budget changes the share of readings, too. */
static void test_share_of_a_budget(void **state)
{
    static struct probity_session session;

    (void)state;
    session.settings.cpu_budget_permille = PERMILLE;
    session.settings.budget = 10000;
    probity_budget_change(&session, 1000);
    assert_in_range(session.budget, 16, 17); /* a quarter of 0.1 %, × 2^16 */
    probity_budget_change(&session, 500000);
    assert_int_equal(session.budget, PERMILLE * 65536 / 1000);
}

static int end(void **state)
{
    (void)state;
    int error = probity_stop();
    unlink(trace_path);
    return error;
}

static int begin_with_budget(void **state)
{
    setenv("PROBITY_BUDGET", "3%", 1);
    int error = begin(state);
    unsetenv("PROBITY_BUDGET");
    return error;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share_of_cpu_time),
        cmocka_unit_test(test_long_gap),
        cmocka_unit_test(test_share_of_a_budget),
    };
    const struct CMUnitTest budget_tests[] = {cmocka_unit_test(test_waits_with_budget)};

    /* The limits above are for the defaults. */
    unsetenv("PROBITY_CPU_BUDGET_PERMILLE");
    unsetenv("PROBITY_CPU_GAP_NS");
    unsetenv("PROBITY_BUDGET");
    int failed = cmocka_run_group_tests(tests, begin, end);
    return failed + cmocka_run_group_tests(budget_tests, begin_with_budget, end);
}
