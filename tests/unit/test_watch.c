/* SPDX-License-Identifier: MIT
 *
 * test_watch.c: requests, gaps and rates whose hits are read chunk by chunk, not in order of time;
 * and behavior with full tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "probity_typed.h"
#include "writer/watch.h"
#include "writer/watch_gaps.h"
#include "writer/watch_rates.h"
#include "writer/watch_requests.h"

static struct probity_watch_request reported[4096];
static uint32_t count;

static uint64_t report(void *context, const struct probity_watch_request *request)
{
    assert_true(count < sizeof reported / sizeof reported[0]);
    reported[count++] = *request;
    return request->end - request->begin > *(uint64_t *)context ? request->conditions : 0;
}

static void hit(struct probity_watch_requests *requests, uint64_t tick, uint64_t id, uint32_t role,
                uint32_t thread)
{
    const struct probity_watch_hit of = {tick, id, 1, role, role, thread, 100 + thread};

    probity_watch_requests_hit(requests, &of);
}

static struct probity_watch_requests *begin(uint64_t *limit)
{
    struct probity_watch_requests *requests = probity_watch_requests_open(*limit, report, limit);

    assert_non_null(requests);
    count = 0;
    return requests;
}

/* The chunk with the ends is read first; both threads use one id again and again. */
static void requests_pass_threads_in_any_order(void **state)
{
    uint64_t limit = 10;
    struct probity_watch_requests *requests = begin(&limit);

    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        hit(requests, 100 * i + (i % 10 == 3 ? 11 : 10), 7, PROBITY_ROLE_REQUEST_END, 2);
    for (uint64_t i = 0; i < 100; i++)
        hit(requests, 100 * i, 7, PROBITY_ROLE_REQUEST_BEGIN, 1);
    probity_watch_requests_follow(requests, 5000);
    assert_int_equal(count, 5);
    probity_watch_requests_follow(requests, UINT64_C(1) << 40);
    assert_int_equal(count, 10);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(reported[i].begin, 1000 * i + 300);
        assert_int_equal(reported[i].end - reported[i].begin, 11);
        assert_int_equal(reported[i].thread, 2);
        assert_false(reported[i].has_begun_there);
        assert_int_equal(reported[i].from, PROBITY_ROLE_REQUEST_BEGIN);
    }
    probity_watch_requests_close(requests);
}

/* Without an end, a hit that is too late is reported once; with a begin, only the end is
 * reported. */
static void requests_without_an_end(void **state)
{
    uint64_t limit = 10;
    struct probity_watch_requests *requests = begin(&limit);

    (void)state;
    hit(requests, 100, 1, PROBITY_ROLE_NONE, 1);
    hit(requests, 110, 1, PROBITY_ROLE_NONE, 1);
    hit(requests, 111, 1, PROBITY_ROLE_NONE, 1);
    hit(requests, 150, 1, PROBITY_ROLE_NONE, 1);
    hit(requests, 200, 2, PROBITY_ROLE_REQUEST_BEGIN, 1);
    hit(requests, 250, 2, PROBITY_ROLE_QUEUE_GET, 1);
    hit(requests, 300, 3, PROBITY_ROLE_REQUEST_END, 1);
    probity_watch_requests_follow(requests, 1000);
    assert_int_equal(count, 1);
    assert_int_equal(reported[0].end, 111);
    assert_true(reported[0].has_begun_there);
    hit(requests, 2000, 2, PROBITY_ROLE_REQUEST_END, 1);
    probity_watch_requests_follow(requests, 3000);
    assert_int_equal(count, 2);
    assert_int_equal(reported[1].end - reported[1].begin, 1800);
    probity_watch_requests_close(requests);
}

/* A request that exceeded the limit before its end is passed on with its end, to be counted. */
static void requests_are_counted_when_they_end(void **state)
{
    uint64_t limit = 10;
    struct probity_watch_requests *requests = begin(&limit);

    (void)state;
    hit(requests, 100, 1, PROBITY_ROLE_QUEUE_PUT, 1);
    hit(requests, 150, 1, PROBITY_ROLE_QUEUE_GET, 1);
    hit(requests, 170, 1, PROBITY_ROLE_QUEUE_GET, 1);
    hit(requests, 190, 1, PROBITY_ROLE_REQUEST_END, 1);
    probity_watch_requests_follow(requests, 1000);
    assert_int_equal(count, 2);
    assert_false(reported[0].is_over);
    assert_int_equal(reported[0].met, 0);
    assert_true(reported[1].is_over);
    assert_int_equal(reported[1].end - reported[1].begin, 90);
    assert_int_equal(reported[1].conditions, 1);
    assert_int_equal(reported[1].met, 1);
    probity_watch_requests_close(requests);
}

/* There are more ids than can be followed, and more hits than fit: recent slow requests are still
 * found. */
static void requests_beyond_all_limits(void **state)
{
    uint64_t limit = 10, id = 0;
    struct probity_watch_requests *requests = begin(&limit);

    (void)state;
    for (; id < 300000; id++)
        hit(requests, id, id << 12, PROBITY_ROLE_REQUEST_BEGIN, 1);
    for (uint64_t i = 1; i <= 1000; i++)
        hit(requests, id + 20, (id - i) << 12, PROBITY_ROLE_REQUEST_END, 1);
    probity_watch_requests_follow(requests, id + 100);
    assert_int_equal(count, 1000);
    probity_watch_requests_close(requests);
}

static uint64_t gap_begin, gap_end;

static void report_gap(struct probity_watch *watch, uint32_t condition, uint64_t end)
{
    gap_begin = watch->state[condition].last;
    gap_end = end;
    count++;
}

static void gaps_are_those_of_all_threads(void **state)
{
    static struct probity_watch watch;

    (void)state;
    count = 0;
    watch.gaps = 1;
    watch.state[0].limit = 10;
    for (uint64_t thread = 0; thread < 3; thread++) {
        probity_watch_gaps_begin(&watch);
        for (uint64_t at = 100 + 9 * thread; at < 1000; at += 27) {
            const struct probity_watch_stretch hit = {at, at, (uint32_t)thread, 0, 5};
            if (at < 500 || at >= 550)
                probity_watch_gaps_hit(&watch, 0, &hit);
        }
    }
    watch.horizon = 400;
    probity_watch_gaps_follow(&watch, 0, report_gap);
    assert_int_equal(count, 0);
    watch.horizon = 2000;
    probity_watch_gaps_follow(&watch, 0, report_gap);
    assert_int_equal(count, 1);
    assert_int_equal(gap_begin, 496);
    assert_int_equal(gap_end, 550);
    assert_int_equal(watch.state[0].stretches, 0);
}

static void hit_at(struct probity_watch *watch, uint32_t condition, uint64_t tick)
{
    const struct probity_watch_stretch hit = {tick, tick, 1, 1, 5};

    probity_watch_gaps_hit(watch, condition, &hit);
}

/* Stretches without a gap between them are joined, from however many chunks they are, and those of
 * one condition do not use the room of another. */
static void gaps_beyond_the_room(void **state)
{
    static struct probity_watch watch;
    enum { CHUNKS = 4 * PROBITY_WATCH_STRETCHES };

    (void)state;
    count = 0;
    watch.gaps = 3;
    watch.state[0].limit = watch.state[1].limit = 10;
    for (uint64_t i = 0; i < CHUNKS; i++) {
        probity_watch_gaps_begin(&watch);
        hit_at(&watch, 0, 1000 + 20 * i);
        probity_watch_gaps_begin(&watch);
        hit_at(&watch, 1, 1000 + 10 * (CHUNKS - i) + (i < CHUNKS / 2 ? 1 : 0));
    }
    watch.horizon = 1000000;
    probity_watch_gaps_follow(&watch, 1, report_gap);
    assert_int_equal(count, 1);
    assert_int_equal(gap_begin, 1000 + 10 * (CHUNKS / 2));
    assert_int_equal(gap_end - gap_begin, 11);
    /* All of these are gaps; those that do not fit are lost, and nothing else is reported. */
    count = 0;
    probity_watch_gaps_follow(&watch, 0, report_gap);
    assert_in_range(count, PROBITY_WATCH_STRETCHES - 2, CHUNKS - 1);
    assert_int_equal(gap_end - gap_begin, 20);
    assert_int_equal(watch.state[0].last, 1000 + 20 * (CHUNKS - 1));
}

static struct probity_watch_period periods[PROBITY_WATCH_PERIODS];

static void report_period(struct probity_watch *watch, uint32_t condition,
                          const struct probity_watch_period *period)
{
    (void)watch;
    assert_int_equal(condition, 0);
    periods[count++] = *period;
}

static void hits_in(struct probity_watch *watch, uint64_t begin, uint32_t hits)
{
    for (uint32_t i = 0; i < hits; i++) {
        probity_watch_rates_hit(watch, 0, begin + i);
        watch->state[0].last = begin + i;
    }
}

static void judge_until(struct probity_watch *watch, uint64_t horizon)
{
    watch->horizon = horizon;
    probity_watch_rates_judge(watch, 0, report_period);
}

/* 6.4 s and more at once, with periods of 0.1 s; then more than fits. */
static void rates_after_a_long_delay(void **state)
{
    static struct probity_condition condition;
    static struct probity_watch watch;

    (void)state;
    for (int is_below = 0; is_below < 2; is_below++) {
        memset(&watch, 0, sizeof watch);
        condition.is_below = is_below;
        condition.number = 2 + is_below; /* > 2, < 3 */
        watch.conditions = &condition;
        watch.state[0].limit = 100;
        count = 0;
        for (uint64_t period = 0; period < 3 * PROBITY_WATCH_PERIODS; period++)
            hits_in(&watch, 100 * period, (period == 200 || period == 2500) != is_below ? 3 : 1);
        judge_until(&watch, 100 * 3 * PROBITY_WATCH_PERIODS);
        assert_int_equal(count, 1);
        assert_int_equal(periods[0].begin, 20000);
        assert_int_equal(periods[0].hits, is_below ? 1 : 3);
        /* In ranges without counts, rates are unknown; afterwards they are known again. */
        hits_in(&watch, 100 * 3 * PROBITY_WATCH_PERIODS, is_below ? 1 : 3);
        judge_until(&watch, 100 * (3 * PROBITY_WATCH_PERIODS + 1));
        assert_int_equal(count, 2);
        assert_int_equal(periods[1].begin, 100 * 3 * PROBITY_WATCH_PERIODS);
    }
}

/* Without memory for requests, no part of the condition is added. */
static void memory_is_taken_first(void **state)
{
    static struct probity_condition conditions[2] = {
        {.kind = PROBITY_CONDITION_GAP, .name = {.name = "beat"}, .limit_ns = 1000000},
        {.kind = PROBITY_CONDITION_REQUEST, .limit_ns = 1000000}};
    struct probity_notices *notices = test_calloc(1, sizeof *notices);
    struct probity_watch *watch = probity_watch_open(conditions, 1, UINT64_C(1) << 32, 0, notices);
    struct rlimit before, none = {.rlim_cur = 1};

    (void)state;
    assert_non_null(watch);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    none.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    int result = probity_watch_make_room(watch, PROBITY_CONDITION_REQUEST);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(result, PROBITY_ERROR_MEMORY);
    assert_null(watch->open);
    assert_int_equal(watch->requests | watch->unnamed, 0);
    assert_int_equal(probity_watch_make_room(watch, PROBITY_CONDITION_REQUEST), 0);
    probity_watch_add(watch, 1, UINT64_C(1) << 32);
    assert_int_equal(watch->requests, 2);
    probity_watch_close(watch);
    test_free(notices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_pass_threads_in_any_order),
                                       cmocka_unit_test(requests_without_an_end),
                                       cmocka_unit_test(requests_are_counted_when_they_end),
                                       cmocka_unit_test(requests_beyond_all_limits),
                                       cmocka_unit_test(gaps_are_those_of_all_threads),
                                       cmocka_unit_test(gaps_beyond_the_room),
                                       cmocka_unit_test(rates_after_a_long_delay),
                                       cmocka_unit_test(memory_is_taken_first)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
