/* SPDX-License-Identifier: MIT
 *
 * Maps the clocks of several traces to one, with anchors that no real clock produces, so that UBSan
 * can detect overflows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reader/clockmap.h"

#define MS UINT64_C(1000000)

static void join_two(const struct probity_anchor *first, const struct probity_anchor *second,
                     struct probity_clockmap *ret_map)
{
    struct probity_clockmap one = {.nominal_rate = UINT64_C(1) << 32}, other = one;
    struct probity_clockmap *const sources[] = {&one, &other};

    *ret_map = (struct probity_clockmap){.nominal_rate = UINT64_C(1) << 32};
    assert_int_equal(probity_clockmap_add(&one, first), 0);
    assert_int_equal(probity_clockmap_add(&other, second), 0);
    assert_int_equal(probity_clockmap_join(ret_map, sources, 2), 0);
    probity_clockmap_release(&one);
    probity_clockmap_release(&other);
}

static void near_anchors_give_no_rate(void **state)
{
    const struct probity_anchor first = {100, 0, 5000, 7000, 0}, near = {200, 0, 5100, 7130, 0};
    struct probity_clockmap map;

    (void)state;
    join_two(&first, &near, &map);
    assert_int_equal(map.count, 1);
    assert_int_equal(map.steps, 0);
    assert_int_equal(probity_clockmap_wall(&map, 150), 7050);
    probity_clockmap_release(&map);
}

/* Exact, rounded down, for differences below 2^32 ticks. */
static void between_two_anchors_time_is_on_their_line(void **state)
{
    static const uint64_t lines[][2] = {{3, 1}, {2596145, 1000003}, {4000000000, 1541000000},
                                        {4294967295, 4294967294}, {7, 5000}, {1000, 1000}};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        uint64_t ticks = lines[i][0], ns = lines[i][1];
        const struct probity_anchor first = {100, 0, 0, 1000 * MS, 0};
        const struct probity_anchor second = {100 + ticks, ns, ns, 1000 * MS + ns, 0};
        struct probity_clockmap map = {.nominal_rate = UINT64_C(1) << 32};
        assert_int_equal(probity_clockmap_add(&map, &first), 0);
        assert_int_equal(probity_clockmap_add(&map, &second), 0);
        for (uint64_t step = 0; step <= 1000; step++) {
            uint64_t tick = ticks / 1000 * step + (step < ticks ? step % 7 : 0);
            __extension__ typedef unsigned __int128 wide;
            if (tick <= ticks)
                assert_int_equal(probity_clockmap_wall(&map, 100 + tick),
                                 1000 * MS + (uint64_t)((wide)tick * ns / ticks));
        }
        assert_int_equal(probity_clockmap_wall(&map, 100 + ticks), 1000 * MS + ns);
        probity_clockmap_release(&map);
    }
}

static void a_clock_that_was_set_does(void **state)
{
    const struct probity_anchor first = {100, 0, 0, 1000 * MS, 0};
    const struct probity_anchor set = {200, 0, 100, 1100 * MS, 0};
    struct probity_clockmap map;

    (void)state;
    join_two(&first, &set, &map);
    assert_int_equal(map.count, 2);
    assert_int_equal(map.steps, 1);
    assert_int_equal(probity_clockmap_wall(&map, 150), 1000 * MS + 50);
    assert_int_equal(probity_clockmap_wall(&map, 200), 1100 * MS);
    probity_clockmap_release(&map);
}

/* MONOTONIC and RAW are shifted by the namespace's offset; REALTIME is not. */
static void time_namespaces_are_no_steps(void **state)
{
    static const int64_t offsets[] = {0, 100000, -100000, 7, -7};
    enum { ANCHORS = 20 };

    (void)state;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct probity_clockmap map = {.nominal_rate = UINT64_C(1) << 31}, one = map, other = map;
        struct probity_clockmap *const sources[] = {&one, &other};
        const uint64_t start = 200000 * 1000 * MS;
        for (uint64_t j = 0; j < ANCHORS; j++) {
            uint64_t ns = j * 100 * MS, offset = (uint64_t)offsets[i] * 1000 * MS * (j & 1);
            const struct probity_anchor anchor = {2 * ns, start + ns + offset, start + ns + offset,
                                                  5 * start + ns, 0};
            assert_int_equal(probity_clockmap_add(j & 1 ? &other : &one, &anchor), 0);
        }
        assert_int_equal(probity_clockmap_join(&map, sources, 2), 0);
        assert_int_equal(map.count, ANCHORS);
        assert_int_equal(map.steps, 0);
        for (uint64_t ns = 0; ns < ANCHORS * 100 * MS; ns += 10 * MS)
            assert_int_equal(probity_clockmap_wall(&map, 2 * ns), 5 * start + ns);
        probity_clockmap_release(&map);
        probity_clockmap_release(&one);
        probity_clockmap_release(&other);
    }
}

static void differences_may_be_beyond_63_bits(void **state)
{
    const uint64_t far[] = {0, 1, UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX};
    enum { FAR = sizeof far / sizeof *far };

    (void)state;
    for (int i = 0; i < FAR * FAR * FAR * FAR; i++) {
        const struct probity_anchor first = {1, 0, far[i % FAR], far[i / FAR % FAR], 0};
        const struct probity_anchor second = {UINT64_MAX, 0, far[i / FAR / FAR % FAR],
                                              far[i / FAR / FAR / FAR], 0};
        struct probity_clockmap map;
        join_two(&first, &second, &map);
        assert_in_range(map.count, 1, 2);
        probity_clockmap_wall(&map, 0);
        probity_clockmap_wall(&map, UINT64_MAX - 1);
        probity_clockmap_release(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_anchors_give_no_rate),
        cmocka_unit_test(between_two_anchors_time_is_on_their_line),
        cmocka_unit_test(a_clock_that_was_set_does),
        cmocka_unit_test(time_namespaces_are_no_steps),
        cmocka_unit_test(differences_may_be_beyond_63_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
