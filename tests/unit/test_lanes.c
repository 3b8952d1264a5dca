/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reader/lanes.h"
#include "reader/trace.h"

static void add(struct probity_trace *trace, uint32_t thread, uint32_t records, uint16_t flags)
{
    const struct probity_data data = {.thread = thread, .tid = 100 + thread, .records = records,
                                      .flags = flags};

    assert_int_equal(probity_lanes_add(&trace->lanes, &data), 0);
}

static struct probity_trace closed_trace(void)
{
    struct probity_trace trace;

    memset(&trace, 0, sizeof trace);
    trace.facts.state = PROBITY_TRACE_CLOSED;
    trace.index.file = trace.sched.range.file = -1;
    return trace;
}

static uint32_t lane_of(struct probity_trace *trace, uint32_t thread)
{
    int first = probity_lanes_have(&trace->lanes, 1, thread);

    assert_int_equal(first + probity_lanes_have(&trace->lanes, 2, thread), 1);
    return first ? 1 : 2;
}

static void the_largest_threads_are_apart(void **state)
{
    struct probity_trace trace = closed_trace();

    (void)state;
    add(&trace, 1, 4000, 0);
    add(&trace, 2, 1500, 0);
    add(&trace, 3, 3500, 0);
    add(&trace, 4, 1000, 0);
    add(&trace, 1, 4000, 0);
    add(&trace, 3, 3500, 0);
    assert_int_equal(probity_lanes_divide(&trace, 1), 1);
    assert_int_not_equal(lane_of(&trace, 1), lane_of(&trace, 3));
    assert_int_equal(lane_of(&trace, 2), lane_of(&trace, 3));
    assert_int_equal(lane_of(&trace, 4), lane_of(&trace, 1));
    assert_int_equal(lane_of(&trace, 99), 1);
    probity_lanes_release(&trace.lanes);
}

static void several_traces_are_divided_together(void **state)
{
    struct probity_trace traces[2] = {closed_trace(), closed_trace()};

    (void)state;
    add(&traces[0], 1, 5000, 0);
    add(&traces[1], 1, 5000, 0);
    assert_int_equal(probity_lanes_divide(traces, 2), 1);
    assert_int_not_equal(lane_of(&traces[0], 1), lane_of(&traces[1], 1));
    probity_lanes_release(&traces[0].lanes);
    probity_lanes_release(&traces[1].lanes);
}

/* One thread has most records, or most records are in blocks that both lanes read. */
static void a_trace_that_gains_nothing_is_not_divided(void **state)
{
    struct probity_trace single = closed_trace(), shared = closed_trace();

    (void)state;
    add(&single, 1, 9000, 0);
    add(&single, 2, 1000, 0);
    assert_int_equal(probity_lanes_divide(&single, 1), 0);
    add(&shared, 1, 5000, PROBITY_DATA_HAS_EVENTS);
    add(&shared, 2, 5000, PROBITY_DATA_HAS_EVENTS);
    assert_int_equal(probity_lanes_divide(&shared, 1), 0);
    probity_lanes_release(&single.lanes);
    probity_lanes_release(&shared.lanes);
}

static void an_open_or_damaged_trace_is_not_divided(void **state)
{
    struct probity_trace trace = closed_trace();

    (void)state;
    add(&trace, 1, 5000, 0);
    add(&trace, 2, 5000, 0);
    trace.facts.state = PROBITY_TRACE_UNFINISHED;
    assert_int_equal(probity_lanes_divide(&trace, 1), 0);
    trace.facts.state = PROBITY_TRACE_CLOSED;
    trace.facts.damages = 1;
    assert_int_equal(probity_lanes_divide(&trace, 1), 0);
    trace.facts.damages = 0;
    assert_int_equal(probity_lanes_divide(&trace, 1), 1);
    probity_lanes_release(&trace.lanes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_threads_are_apart),
        cmocka_unit_test(several_traces_are_divided_together),
        cmocka_unit_test(a_trace_that_gains_nothing_is_not_divided),
        cmocka_unit_test(an_open_or_damaged_trace_is_not_divided),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
