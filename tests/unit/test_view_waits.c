/* SPDX-License-Identifier: MIT
 *
 * test_view_waits.c: reading continues after the page's range only for waits that the page
 * keeps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "page/view_waits.h"
#include "probity_typed.h"

enum { SELECTED = 100, OTHER = 200 };

static int is_wanted(void *context, uint32_t tid)
{
    (void)context;
    return tid == SELECTED;
}

static void put_hit(struct probity_view_waits *waits, uint32_t tid, uint32_t role, uint64_t ns)
{
    const struct probity_event event = {
        .kind = PROBITY_EVENT_HIT, .role = role, .tid = tid, .thread = tid == OTHER,
        .thread_slot = tid == OTHER, .tick = ns, .wall_ns = ns, .is_site = 1, .has_object = 1,
        .object = 1, .name = "cache:wait", .name_bytes = 10};

    assert_int_equal(probity_view_waits_put(waits, &event), 0);
}

static void waits_of_other_threads_are_not_pending(void **state)
{
    struct probity_view_waits_options options = {.from_ns = 1000, .to_ns = 2000, .waits_max = 10,
                                                 .is_wanted = is_wanted};
    struct probity_view_waits *waits;

    (void)state;
    assert_int_equal(probity_view_waits_open(&options, &waits), 0);
    put_hit(waits, SELECTED, PROBITY_ROLE_LOCK_HOLD, 900);
    put_hit(waits, OTHER, PROBITY_ROLE_LOCK_WAIT, 1100);
    assert_int_equal(probity_view_waits_pending(waits), 0);
    put_hit(waits, SELECTED, PROBITY_ROLE_LOCK_RELEASE, 1200);
    put_hit(waits, OTHER, PROBITY_ROLE_LOCK_HOLD, 1300);
    put_hit(waits, SELECTED, PROBITY_ROLE_LOCK_WAIT, 1400);
    assert_int_equal(probity_view_waits_pending(waits), 1);
    put_hit(waits, OTHER, PROBITY_ROLE_LOCK_RELEASE, 2500);
    assert_int_equal(probity_view_waits_pending(waits), 1);
    put_hit(waits, SELECTED, PROBITY_ROLE_LOCK_HOLD, 2600);
    assert_int_equal(probity_view_waits_pending(waits), 0);
    assert_int_equal(probity_view_waits_finish(waits), 0);
    assert_int_equal(probity_view_waits_count(waits), 1);
    probity_view_waits_close(waits);
}

static void without_a_selection_all_are_pending(void **state)
{
    struct probity_view_waits_options options = {.waits_max = 10};
    struct probity_view_waits *waits;

    (void)state;
    assert_int_equal(probity_view_waits_open(&options, &waits), 0);
    put_hit(waits, SELECTED, PROBITY_ROLE_LOCK_HOLD, 900);
    put_hit(waits, OTHER, PROBITY_ROLE_LOCK_WAIT, 1100);
    assert_int_equal(probity_view_waits_pending(waits), 1);
    probity_view_waits_close(waits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_of_other_threads_are_not_pending),
        cmocka_unit_test(without_a_selection_all_are_pending),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
