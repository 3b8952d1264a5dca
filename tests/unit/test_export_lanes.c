/* SPDX-License-Identifier: MIT
 *
 * test_export_lanes.c: an interval gets its preferred lane if that is free, otherwise the lowest
 * free one; no two overlap in a lane, and there are no more lanes than intervals that overlap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exports/export_lanes.h"

static void an_interval_gets_the_lowest_free_lane(void **state)
{
    struct export_lanes lanes = {.leaves = 0};

    (void)state;
    assert_int_equal(0, export_lanes_take(&lanes, 10, EXPORT_LANE_NONE, 100));
    assert_int_equal(1, export_lanes_take(&lanes, 10, EXPORT_LANE_NONE, 101));
    assert_int_equal(2, export_lanes_take(&lanes, 10, EXPORT_LANE_NONE, 102));
    export_lanes_put(&lanes, 1, 20);
    export_lanes_put(&lanes, 0, 30);
    assert_int_equal(1, export_lanes_take(&lanes, 20, EXPORT_LANE_NONE, 103));
    assert_int_equal(3, export_lanes_take(&lanes, 29, EXPORT_LANE_NONE, 103));
    assert_int_equal(0, export_lanes_take(&lanes, 30, EXPORT_LANE_NONE, 104));
    assert_int_equal(4, lanes.count);
    assert_int_equal(102, lanes.ids[2]);
    assert_int_equal(103, lanes.ids[3]);
    export_lanes_release(&lanes);
}

static void a_preferred_lane_is_taken_if_it_is_free(void **state)
{
    struct export_lanes lanes = {.leaves = 0};

    (void)state;
    for (uint32_t lane = 0; lane < 3; lane++)
        assert_int_equal(lane, export_lanes_take(&lanes, 0, EXPORT_LANE_NONE, lane));
    export_lanes_put(&lanes, 0, 10);
    export_lanes_put(&lanes, 2, 10);
    assert_int_equal(2, export_lanes_take(&lanes, 10, 2, 9));
    assert_int_equal(0, export_lanes_take(&lanes, 10, 2, 9));
    assert_int_equal(3, lanes.count);
    export_lanes_release(&lanes);
}

enum { INTERVALS = 20000, AT_A_TIME = 300 };

/* Opens many at a time: the tree grows several times. */
static void intervals_of_a_lane_do_not_overlap(void **state)
{
    struct export_lanes lanes = {.leaves = 0};
    static uint64_t until[2 * AT_A_TIME];
    uint32_t taken[AT_A_TIME], random = 1, count = 0;

    (void)state;
    for (uint64_t now = 1; now <= INTERVALS; now++) {
        random = random * 1664525u + 1013904223u;
        if (count == AT_A_TIME || (count > 0 && random >> 31)) {
            uint32_t which = random % count, lane = taken[which];
            export_lanes_put(&lanes, lane, now);
            until[lane] = now;
            taken[which] = taken[--count];
        }
        /* It may have begun earlier. */
        uint64_t start = now - random % 7 % now;
        uint32_t lane = export_lanes_take(&lanes, start, random % AT_A_TIME, 0);
        assert_true(lane < 2 * AT_A_TIME);
        assert_true(until[lane] <= start);
        until[lane] = UINT64_MAX;
        if (count < AT_A_TIME) {
            taken[count++] = lane;
        } else {
            export_lanes_put(&lanes, lane, now);
            until[lane] = now;
        }
    }
    assert_true(lanes.count >= AT_A_TIME / 2);
    export_lanes_release(&lanes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_gets_the_lowest_free_lane),
        cmocka_unit_test(a_preferred_lane_is_taken_if_it_is_free),
        cmocka_unit_test(intervals_of_a_lane_do_not_overlap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
