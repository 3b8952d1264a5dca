/* SPDX-License-Identifier: MIT
 *
 * test_request_times.c: durations of requests by the probe at which they begin, from generated
 * hits; and their comparison.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/request_times.h"
#include "answers/diff/compare.h"
#include "probity.h"
#include "probity_typed.h"

#define START UINT64_C(1700000000000000000)

enum { BEGIN = PROBITY_ROLE_REQUEST_BEGIN, END = PROBITY_ROLE_REQUEST_END };

struct hit {
    uint32_t trace, probe;
    uint64_t ns, id;
    uint32_t role;
    const char *name;
};

static void put_hits(struct probity_request_times *times, const struct hit *hits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct probity_event event = {
            .kind = PROBITY_EVENT_HIT, .trace = hits[i].trace, .id = hits[i].probe,
            .wall_ns = START + hits[i].ns, .wall_known = 1, .role = hits[i].role,
            .has_correlation = 1, .correlation = hits[i].id, .name = hits[i].name,
            .name_bytes = hits[i].name != NULL ? strlen(hits[i].name) : 0,
            .is_site = hits[i].probe >= 100};
        assert_int_equal(probity_request_times_put(times, &event), 0);
    }
}

#define PUT_HITS(times, hits) put_hits(times, hits, sizeof(hits) / sizeof *(hits))

static void expect_kind(const struct probity_request_kind *kind, const char *name,
                        const char *with_name, uint64_t calls, uint64_t wall_ns)
{
    char *texts[] = {probity_request_kind_name(kind, 0), probity_request_kind_name(kind, 1)};

    assert_string_equal(texts[0], name);
    assert_string_equal(texts[1], with_name);
    assert_int_equal(kind->calls, calls);
    assert_int_equal(kind->wall_ns, wall_ns);
    free(texts[0]);
    free(texts[1]);
}

/* The same id in two traces denotes two requests. An id may be reused after its end, whichever
 * probe ends it. */
static void requests_begin_at_one_probe(void **state)
{
    static const struct hit hits[] = {
        {0, 100, 0, 1, BEGIN, "ask:begin"}, {1, 100, 5, 1, BEGIN, "ask:begin"},
        {0, 7, 10, 2, BEGIN, "arrive"},     {0, 101, 30, 1, END, "ask:end"},
        {1, 8, 45, 1, END, NULL},           {0, 7, 50, 1, BEGIN, "arrive"},
        {0, 8, 90, 2, END, NULL},           {0, 8, 110, 1, END, NULL}};
    struct probity_request_times times;

    (void)state;
    probity_request_times_init(0, 0, &times);
    PUT_HITS(&times, hits);
    probity_request_times_sort(&times);
    assert_int_equal(times.count, 2);
    expect_kind(times.kinds[0], "7", "7 (arrive)", 2, 80 + 60);
    expect_kind(times.kinds[1], "ask", "ask", 2, 30 + 40);
    assert_int_equal(probity_request_quantile(times.kinds[0], 500), 60);
    assert_int_equal(probity_request_quantile(times.kinds[0], 990), 80);
    probity_request_times_release(&times);
}

/* A request has no duration if its begin is missing, or if its id begins again before the end. */
static void parts_of_requests_do_not_count(void **state)
{
    static const struct hit hits[] = {
        {0, 8, 0, 1, END, NULL},    {0, 7, 10, 1, BEGIN, NULL}, {0, 7, 15, 1, BEGIN, NULL},
        {0, 8, 35, 1, END, NULL},   {0, 8, 40, 1, END, NULL},   {0, 7, 50, 2, BEGIN, NULL},
        {0, 9, 60, 2, PROBITY_ROLE_QUEUE_PUT, NULL}};
    struct probity_request_times times;

    (void)state;
    probity_request_times_init(0, 0, &times);
    PUT_HITS(&times, hits);
    assert_int_equal(times.count, 1);
    expect_kind(times.kinds[0], "7", "7", 1, 20);
    probity_request_times_release(&times);
}

static void both_hits_are_in_the_range(void **state)
{
    static const struct hit hits[] = {
        {0, 7, 9, 1, BEGIN, NULL},  {0, 7, 10, 2, BEGIN, NULL}, {0, 8, 19, 1, END, NULL},
        {0, 8, 29, 2, END, NULL},   {0, 7, 25, 3, BEGIN, NULL}, {0, 8, 30, 3, END, NULL}};
    struct probity_request_times times;

    (void)state;
    probity_request_times_init(START + 10, START + 30, &times);
    PUT_HITS(&times, hits);
    assert_int_equal(times.count, 1);
    expect_kind(times.kinds[0], "7", "7", 1, 19);
    probity_request_times_release(&times);
}

static void ids_in_flight_are_bounded(void **state)
{
    struct probity_request_times times;
    struct hit hit = {0, 7, 0, 0, BEGIN, NULL};

    (void)state;
    probity_request_times_init(0, 0, &times);
    for (uint64_t id = 0; id <= PROBITY_INFLIGHT_MAX; id++) {
        hit.id = id;
        put_hits(&times, &hit, 1);
    }
    hit.role = END;
    for (uint64_t id = 0; id < 2; id++) {
        hit.id = id;
        put_hits(&times, &hit, 1);
    }
    expect_kind(times.kinds[0], "7", "7", 1, 0); /* the first id was evicted */
    probity_request_times_release(&times);
}

/* ---- Comparison --------------------------------------------------------------------------------
 */

static void take_run(struct probity_compare *compare, int side, uint64_t ns, int has_requests)
{
    const struct probity_trace_facts facts = {.path = "run", .info = {.mode = 0}};
    const struct hit hits[] = {{0, 7, 0, 1, BEGIN, side == 0 ? "ask" : "asked"},
                               {0, 8, ns, 1, END, NULL}};
    struct probity_request_times times;
    struct probity_compare_run run;

    probity_request_times_init(0, 0, &times);
    PUT_HITS(&times, hits);
    assert_int_equal(probity_compare_run_describe(&facts, &run), 0);
    if (has_requests)
        assert_int_equal(probity_compare_run_add_requests(&run, &times), 0);
    assert_int_equal(probity_compare_take(compare, side, &run), 0);
    probity_request_times_release(&times);
}

static struct probity_compare *compare_runs(int last_has_requests)
{
    static const struct probity_compare_options options = {.confidence = 0.95,
                                                           .tolerance_percent = 2};
    struct probity_compare *compare;

    assert_int_equal(probity_compare_open(&options, &compare), 0);
    for (uint64_t i = 0; i < 16; i++)
        take_run(compare, i % 2 != 0, (i % 2 != 0 ? 3000 : 2000) + i, i < 15 || last_has_requests);
    assert_int_equal(probity_compare_finish(compare), 0);
    return compare;
}

/* They have neither self nor CPU time: a request is not always in one thread. */
static void requests_are_compared(void **state)
{
    struct probity_compare *compare = compare_runs(1);
    size_t count;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);

    (void)state;
    assert_int_equal(count, 1);
    assert_int_equal(rows->item.kind, PROBITY_COMPARE_REQUEST);
    assert_string_equal(rows->item.name, "7");
    assert_int_equal(rows->results[PROBITY_COMPARE_MEDIAN].verdict, PROBITY_COMPARE_MORE);
    assert_int_equal(rows->results[PROBITY_COMPARE_CALLS].verdict, PROBITY_COMPARE_SAME);
    assert_int_equal(probity_compare_tests(compare), 4); /* calls are constant */
    assert_false(probity_compare_is_chosen(compare, PROBITY_COMPARE_REQUEST,
                                           PROBITY_COMPARE_CPU));
    assert_int_equal(probity_compare_requests_left_out(compare), 0);
    assert_null(probity_compare_without_requests(compare, &count));
    probity_compare_close(compare);
}

static void unknown_requests_are_not_compared(void **state)
{
    struct probity_compare *compare = compare_runs(0);
    size_t count;

    (void)state;
    probity_compare_rows(compare, &count);
    assert_int_equal(count, 0);
    assert_int_equal(probity_compare_requests_left_out(compare), 1);
    assert_non_null(probity_compare_without_requests(compare, &count));
    assert_in_range(count, 1, 8);
    probity_compare_close(compare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_begin_at_one_probe),
        cmocka_unit_test(parts_of_requests_do_not_count),
        cmocka_unit_test(both_hits_are_in_the_range),
        cmocka_unit_test(ids_in_flight_are_bounded),
        cmocka_unit_test(requests_are_compared),
        cmocka_unit_test(unknown_requests_are_not_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
