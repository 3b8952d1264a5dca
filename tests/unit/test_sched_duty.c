/* SPDX-License-Identifier: MIT
 *
 * Tests of src/sched/duty.c: the time spent on the scheduler's records stays below the share of the
 * program's CPU time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched/duty.h"

enum { STEP_NS = 20000000, SWITCH_NS = 1000, WAKING_NS = 800 };

static void count(struct probity_sched_duty *duty, uint32_t kind, uint64_t records)
{
    uint64_t out_ns = 0;

    for (uint64_t i = 0; i < records; i++)
        probity_sched_duty_count(duty, kind, STEP_NS, &out_ns);
}

/* A program that always uses a CPU, with this number of wakings and switches a second while the
 * events are on. Returns the percentage of the time in which they were on. */
static double run(uint32_t share, uint64_t a_second, double *ret_spent_percent)
{
    struct probity_sched_duty duty = {.share = share, .switch_ns = SWITCH_NS};
    uint64_t now_ns = 0, records = 0, on_steps = 0;
    enum { STEPS = 5000 };
    int is_on = 1;

    for (int i = 0; i < STEPS; i++) {
        uint64_t now_records = is_on ? a_second / 50 : 0;
        count(&duty, PROBITY_SCHED_WOKEN, now_records);
        records += now_records;
        on_steps += (uint64_t)is_on;
        now_ns += STEP_NS;
        enum probity_sched_duty_change change =
            probity_sched_duty_step_at(&duty, now_ns, now_ns, 0);
        assert_true(change != PROBITY_SCHED_DUTY_NO_WAKINGS);
        is_on = change == PROBITY_SCHED_DUTY_SAME ? is_on : change == PROBITY_SCHED_DUTY_ON;
        assert_int_equal(is_on, !duty.is_paused);
    }
    uint64_t paused_ns = duty.paused_ns + (duty.is_paused ? now_ns - duty.since_ns : 0);
    assert_int_equal(paused_ns, now_ns - on_steps * STEP_NS);
    *ret_spent_percent = 100 * (double)records * WAKING_NS / (double)now_ns;
    return 100 * (double)on_steps / STEPS;
}

static void test_rare_records_need_no_pause(void **state)
{
    double spent;

    (void)state;
    assert_true(run(10000, 9000, &spent) == 100);
}

static void test_share_is_kept(void **state)
{
    const uint32_t shares[] = {1000, 10000, 30000};
    double spent;

    (void)state;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double on = run(shares[i], 100000000 / WAKING_NS, &spent), percent = shares[i] / 10000.0;
        assert_true(spent <= percent * 1.05 && spent >= percent * 0.9);
        assert_true(on <= percent * 10.5 && on >= percent * 9);
    }
}

/* The amount saved while nothing happens is limited. */
static void test_savings_are_limited(void **state)
{
    struct probity_sched_duty duty = {.share = 10000, .switch_ns = SWITCH_NS};

    (void)state;
    assert_int_equal(probity_sched_duty_step_at(&duty, 1000, UINT64_C(1000000000000), 0),
                     PROBITY_SCHED_DUTY_SAME);
    count(&duty, PROBITY_SCHED_WOKEN, 5000000 / WAKING_NS + 1);
    assert_int_equal(probity_sched_duty_step_at(&duty, 2000, UINT64_C(1000000000000), 0),
                     PROBITY_SCHED_DUTY_OFF);
    /* The program has ended: its clock is 0. */
    assert_int_equal(probity_sched_duty_step_at(&duty, 3000, 0, 0), PROBITY_SCHED_DUTY_SAME);
}

/* 1 % of 20 ms is 200 us. */
static void test_wakings_go_first(void **state)
{
    struct probity_sched_duty duty = {
        .share = 10000, .has_wakings = 1, .switch_ns = SWITCH_NS};
    uint64_t now_ns = STEP_NS;

    (void)state;
    count(&duty, PROBITY_SCHED_WOKEN, 200);
    count(&duty, PROBITY_SCHED_IN, 100);
    assert_int_equal(probity_sched_duty_step_at(&duty, now_ns, now_ns, 0),
                     PROBITY_SCHED_DUTY_NO_WAKINGS);
    assert_int_equal(duty.wakings_ns, now_ns);
    for (int i = 0; i < 5; i++) {
        now_ns += STEP_NS;
        duty.credit_ns = 0;
        count(&duty, PROBITY_SCHED_IN, 100);
        assert_int_equal(probity_sched_duty_step_at(&duty, now_ns, now_ns, 0),
                         PROBITY_SCHED_DUTY_SAME);
    }
    assert_int_equal(duty.pauses, 0);
    now_ns += STEP_NS;
    count(&duty, PROBITY_SCHED_IN, 10000);
    assert_int_equal(probity_sched_duty_step_at(&duty, now_ns, now_ns, 0), PROBITY_SCHED_DUTY_OFF);
    assert_int_equal(duty.wakings_ns, STEP_NS);
}

/* If switches cost most of it, wakings stay on, and all events are switched off together. */
static void test_few_wakings_stay(void **state)
{
    struct probity_sched_duty duty = {
        .share = 10000, .has_wakings = 1, .switch_ns = SWITCH_NS};

    (void)state;
    count(&duty, PROBITY_SCHED_WOKEN, 10);
    count(&duty, PROBITY_SCHED_PREEMPTED, 1000);
    assert_int_equal(probity_sched_duty_step_at(&duty, STEP_NS, STEP_NS, 0),
                     PROBITY_SCHED_DUTY_OFF);
    assert_int_equal(duty.wakings_ns, 0);
}

/* 1 % of 20 ms is 200 us, and 165 switches cost 165 us in the program. */
static void test_reading_counts(void **state)
{
    struct probity_sched_duty duty = {.share = 10000, .switch_ns = SWITCH_NS}, other = duty;

    (void)state;
    count(&duty, PROBITY_SCHED_IN, 165);
    assert_int_equal(probity_sched_duty_step_at(&duty, STEP_NS, STEP_NS, 30000),
                     PROBITY_SCHED_DUTY_SAME);
    assert_int_equal(duty.credit_ns, 5000);
    count(&duty, PROBITY_SCHED_IN, 165);
    assert_int_equal(probity_sched_duty_step_at(&duty, UINT64_C(2) * STEP_NS,
                                                UINT64_C(2) * STEP_NS, 80000),
                     PROBITY_SCHED_DUTY_OFF);
    /* Time in which there was little to read does not count. */
    count(&other, PROBITY_SCHED_IN, 55);
    assert_int_equal(probity_sched_duty_step_at(&other, STEP_NS, STEP_NS, STEP_NS),
                     PROBITY_SCHED_DUTY_SAME);
    assert_int_equal(other.credit_ns, 200000 - 55000 - 55 * 300);
}

/* The switch from one thread of the program to another is one switch, with two records. */
static void test_a_switch_is_counted_once(void **state)
{
    struct probity_sched_duty duty = {.share = 10000, .switch_ns = SWITCH_NS};
    uint64_t now_ns = STEP_NS, out_ns = 0;

    (void)state;
    for (int i = 0; i < 10; i++, now_ns += 100000) {
        probity_sched_duty_count(&duty, i % 2 ? PROBITY_SCHED_OUT : PROBITY_SCHED_PREEMPTED,
                                 now_ns, &out_ns);
        probity_sched_duty_count(&duty, PROBITY_SCHED_IN, now_ns + 900, &out_ns);
    }
    assert_int_equal(duty.switches, 10);
    /* Between these, the CPU ran another thread. */
    probity_sched_duty_count(&duty, PROBITY_SCHED_OUT, now_ns, &out_ns);
    probity_sched_duty_count(&duty, PROBITY_SCHED_IN, now_ns + 5000, &out_ns);
    assert_int_equal(duty.switches, 12);
}

/* Of such a switch, both records have to be read: 2 x 300 ns at most. 1 % of 20 ms is 200 us. */
static void test_both_records_are_read(void **state)
{
    struct probity_sched_duty duty = {.share = 10000, .switch_ns = SWITCH_NS}, other;
    uint64_t out_ns = 0;

    (void)state;
    for (uint64_t i = 1; i <= 100; i++) {
        probity_sched_duty_count(&duty, PROBITY_SCHED_OUT, i * 100000, &out_ns);
        probity_sched_duty_count(&duty, PROBITY_SCHED_IN, i * 100000 + 900, &out_ns);
    }
    probity_sched_duty_count(&duty, PROBITY_SCHED_WOKEN, STEP_NS, &out_ns);
    other = duty;
    assert_int_equal(probity_sched_duty_step_at(&duty, STEP_NS, STEP_NS, 50000),
                     PROBITY_SCHED_DUTY_SAME);
    assert_int_equal(duty.credit_ns, 200000 - 100 * SWITCH_NS - WAKING_NS - 50000);
    assert_int_equal(probity_sched_duty_step_at(&other, STEP_NS, STEP_NS, STEP_NS),
                     PROBITY_SCHED_DUTY_SAME);
    assert_int_equal(other.credit_ns, 200000 - 100 * SWITCH_NS - WAKING_NS - 201 * 300);
    /* The records of the last step do not count again. */
    assert_int_equal(probity_sched_duty_step_at(&other, UINT64_C(2) * STEP_NS, STEP_NS,
                                                UINT64_C(2) * STEP_NS),
                     PROBITY_SCHED_DUTY_SAME);
    assert_int_equal(other.credit_ns, 200000 - 100 * SWITCH_NS - WAKING_NS - 201 * 300);
}

/* Without a measured price, a default applies. */
static void test_price_may_be_unknown(void **state)
{
    struct probity_sched_duty duty = {.share = 10000};

    (void)state;
    count(&duty, PROBITY_SCHED_IN, 1000);
    assert_int_equal(probity_sched_duty_step_at(&duty, STEP_NS, STEP_NS, 0),
                     PROBITY_SCHED_DUTY_OFF);
}

/* A pause lasts until 2 ms are saved, which takes ten steps here, or 250 ms. */
static void test_pauses_are_long(void **state)
{
    struct probity_sched_duty duty = {.share = 10000, .switch_ns = SWITCH_NS}, slow = duty;
    uint64_t now_ns = 0;
    int steps = 0;

    (void)state;
    count(&duty, PROBITY_SCHED_WOKEN, 1);
    assert_int_equal(probity_sched_duty_step_at(&duty, now_ns, 0, 0), PROBITY_SCHED_DUTY_OFF);
    do {
        now_ns += STEP_NS;
        steps++;
    } while (probity_sched_duty_step_at(&duty, now_ns, now_ns, 0) == PROBITY_SCHED_DUTY_SAME);
    assert_int_equal(duty.is_paused, 0);
    assert_int_equal(steps, 11);
    count(&slow, PROBITY_SCHED_WOKEN, 1);
    assert_int_equal(probity_sched_duty_step_at(&slow, 0, 0, 0), PROBITY_SCHED_DUTY_OFF);
    assert_int_equal(probity_sched_duty_step_at(&slow, 249999999, 1000000, 0),
                     PROBITY_SCHED_DUTY_SAME);
    assert_int_equal(probity_sched_duty_step_at(&slow, 250000000, 1000000, 0),
                     PROBITY_SCHED_DUTY_ON);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rare_records_need_no_pause),
        cmocka_unit_test(test_share_is_kept),
        cmocka_unit_test(test_savings_are_limited),
        cmocka_unit_test(test_wakings_go_first),
        cmocka_unit_test(test_few_wakings_stay),
        cmocka_unit_test(test_reading_counts),
        cmocka_unit_test(test_a_switch_is_counted_once),
        cmocka_unit_test(test_both_records_are_read),
        cmocka_unit_test(test_price_may_be_unknown),
        cmocka_unit_test(test_pauses_are_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
