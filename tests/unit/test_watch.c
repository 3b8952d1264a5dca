/* SPDX-License-Identifier: MIT
 *
 * test_watch.c: requests and gaps whose hits come chunk by chunk, not in the order of time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probity_typed.h"
#include "writer/watch_gaps.h"
#include "writer/watch_requests.h"

static struct probity_watch_request told[4096];
static uint32_t count;

static uint64_t tell(void *context, const struct probity_watch_request *request)
{
    assert_true(count < sizeof told / sizeof told[0]);
    told[count++] = *request;
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
    struct probity_watch_requests *requests = probity_watch_requests_open(*limit, tell, limit);

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
        assert_int_equal(told[i].begin, 1000 * i + 300);
        assert_int_equal(told[i].end - told[i].begin, 11);
        assert_int_equal(told[i].thread, 2);
        assert_false(told[i].has_begun_there);
        assert_int_equal(told[i].from, PROBITY_ROLE_REQUEST_BEGIN);
    }
    probity_watch_requests_close(requests);
}

/* Without an end, a hit that is too late is told, once; with a begin, only the end is. */
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
    assert_int_equal(told[0].end, 111);
    assert_true(told[0].has_begun_there);
    hit(requests, 2000, 2, PROBITY_ROLE_REQUEST_END, 1);
    probity_watch_requests_follow(requests, 3000);
    assert_int_equal(count, 2);
    assert_int_equal(told[1].end - told[1].begin, 1800);
    probity_watch_requests_close(requests);
}

/* More ids than are followed, and more hits than fit: what is slow and recent is still found. */
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

static void tell_gap(struct probity_watch *watch, uint32_t condition, uint64_t end)
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
            const struct probity_watch_stretch hit = {at, at, 0, (uint32_t)thread, 0, 5};
            if (at < 500 || at >= 550)
                probity_watch_gaps_hit(&watch, 0, &hit);
        }
    }
    watch.horizon = 400;
    probity_watch_gaps_follow(&watch, tell_gap);
    assert_int_equal(count, 0);
    watch.horizon = 2000;
    probity_watch_gaps_follow(&watch, tell_gap);
    assert_int_equal(count, 1);
    assert_int_equal(gap_begin, 496);
    assert_int_equal(gap_end, 550);
    assert_int_equal(watch.stretch_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_pass_threads_in_any_order),
                                       cmocka_unit_test(requests_without_an_end),
                                       cmocka_unit_test(requests_beyond_all_limits),
                                       cmocka_unit_test(gaps_are_those_of_all_threads)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
