/* SPDX-License-Identifier: MIT
 *
 * test_mappings.c: the newest mapping that contains an address at a given time; mappings that are
 * late, overlapping, broken or too many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/mappings.h"

static int put(struct probity_mappings *mappings, uint32_t trace, uint64_t tick, uint64_t first,
               uint64_t end, const char *path)
{
    const struct probity_mapping_event mapping = {first, end, 16, path, "ab", strlen(path), 2};
    uint8_t payload[128];
    struct probity_event event = {.kind = PROBITY_EVENT_MAPPING, .trace = trace, .tick = tick,
                                  .payload = payload};

    event.payload_bytes = probity_mapping_event_put(payload, sizeof payload, &mapping);
    assert_true(event.payload_bytes > 0);
    return probity_mappings_put(mappings, &event);
}

static const char *path_at(const struct probity_mappings *mappings, uint32_t trace, uint64_t tick,
                           uint64_t address)
{
    const struct probity_mapping *mapping = probity_mappings_find(mappings, trace, tick, address);

    return mapping != NULL ? mapping->path : "";
}

static void the_newest_that_is_not_later_counts(void **state)
{
    struct probity_mappings mappings = {0};

    (void)state;
    assert_string_equal(path_at(&mappings, 0, 1, 100), "");
    assert_int_equal(put(&mappings, 1, 10, 100, 200, "a"), 0);
    assert_int_equal(put(&mappings, 1, 30, 150, 250, "c"), 0);
    assert_int_equal(put(&mappings, 1, 20, 150, 160, "late"), 0);
    assert_int_equal(put(&mappings, 0, 5, 0, UINT64_MAX, "other"), 0);
    assert_string_equal(path_at(&mappings, 1, 9, 100), "");
    assert_string_equal(path_at(&mappings, 1, 10, 99), "");
    assert_string_equal(path_at(&mappings, 1, 10, 100), "a");
    assert_string_equal(path_at(&mappings, 1, 99, 149), "a");
    assert_string_equal(path_at(&mappings, 1, 19, 155), "a");
    assert_string_equal(path_at(&mappings, 1, 29, 155), "late");
    assert_string_equal(path_at(&mappings, 1, 30, 155), "c");
    assert_string_equal(path_at(&mappings, 1, 30, 250), "");
    assert_string_equal(path_at(&mappings, 0, 30, 250), "other");
    assert_string_equal(path_at(&mappings, 2, 30, 150), "");
    assert_int_equal(probity_mappings_find(&mappings, 1, 30, 155)->bias, 16);
    assert_string_equal(probity_mappings_find(&mappings, 1, 30, 155)->build_id, "ab");
    probity_mappings_release(&mappings);
}

static void others_and_broken_ones_are_passed_over(void **state)
{
    static const uint8_t payload[27] = {0};
    struct probity_mappings mappings = {0};
    struct probity_event event = {.kind = PROBITY_EVENT_MAPPING, .payload = payload,
                                  .payload_bytes = sizeof payload};

    (void)state;
    assert_int_equal(probity_mappings_put(&mappings, &event), 0);
    event.kind = PROBITY_EVENT_HIT;
    assert_int_equal(probity_mappings_put(&mappings, &event), 0);
    assert_int_equal(mappings.trace_count, 0);
    assert_int_equal(put(&mappings, 0, 1, 7, 7, "empty"), 0);
    assert_int_equal(put(&mappings, 0, 1, 9, 8, "inside out"), 0);
    for (uint64_t address = 6; address < 10; address++)
        assert_string_equal(path_at(&mappings, 0, 1, address), "");
    probity_mappings_release(&mappings);
}

static void there_is_a_limit(void **state)
{
    struct probity_mappings mappings = {0};

    (void)state;
    for (uint64_t i = 0; i < PROBITY_MAPPINGS_MAX + 3; i++)
        assert_int_equal(put(&mappings, 0, i, i, i + 1, "x"), 0);
    assert_int_equal(mappings.beyond, 3);
    assert_string_equal(path_at(&mappings, 0, UINT64_MAX, PROBITY_MAPPINGS_MAX - 1), "x");
    assert_string_equal(path_at(&mappings, 0, UINT64_MAX, PROBITY_MAPPINGS_MAX), "");
    probity_mappings_release(&mappings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_that_is_not_later_counts),
        cmocka_unit_test(others_and_broken_ones_are_passed_over),
        cmocka_unit_test(there_is_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
