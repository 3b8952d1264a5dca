/* SPDX-License-Identifier: MIT
 *
 * test_array_grow.c: arrays keep their items when they grow, and are unchanged if they cannot grow.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array_grow.h"
#include "probity.h"

static void items_are_kept_when_an_array_grows_at_its_end(void **state)
{
    uint64_t *items = NULL;
    size_t capacity = 0;

    (void)state;
    for (size_t count = 0; count < 1000; count++) {
        items = probity_array_room(items, sizeof *items, count, &capacity);
        assert_non_null(items);
        assert_true(count < capacity);
        items[count] = 3 * count;
    }
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], 3 * i);
    free(items);
}

static void an_array_that_fits_stays_where_it_is(void **state)
{
    size_t capacity = 0;
    uint32_t *items = probity_array_fit(NULL, sizeof *items, 7, &capacity);

    (void)state;
    assert_non_null(items);
    assert_true(capacity >= 7);
    assert_ptr_equal(probity_array_fit(items, sizeof *items, capacity, &capacity), items);
    assert_ptr_equal(probity_array_room(items, sizeof *items, capacity - 1, &capacity), items);
    free(items);
}

/* Each item is written, so that a memory checker would detect that it does not fit. */
static void an_array_without_a_capacity_has_room_for_one_more(void **state)
{
    uint64_t *items = NULL;
    size_t moves = 0;

    (void)state;
    for (size_t count = 0; count < 1000; count++) {
        uint64_t *grown = probity_array_append(items, sizeof *items, count);
        assert_non_null(grown);
        moves += grown != items;
        items = grown;
        assert_true(malloc_usable_size(items) >= (count + 1) * sizeof *items);
        items[count] = 3 * count;
    }
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], 3 * i);
    assert_true(moves <= 11);
    free(items);
}

static void places_by_number_are_zeroed(void **state)
{
    uint32_t count = 0, *items = probity_array_grow(NULL, sizeof *items, 5, &count);

    (void)state;
    assert_non_null(items);
    assert_true(count > 5);
    items[5] = 1;
    uint32_t before = count;
    items = probity_array_grow(items, sizeof *items, count + 100, &count);
    assert_non_null(items);
    assert_true(count > before + 100);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(items[i], i == 5);
    free(items);
}

/* More bytes than can be addressed. */
static void an_array_too_large_is_not_made(void **state)
{
    size_t capacity = SIZE_MAX / 4;
    uint32_t count = 0;

    (void)state;
    assert_null(probity_array_extend(NULL, 64, &capacity));
    assert_int_equal(capacity, SIZE_MAX / 4);
    assert_null(probity_array_double(NULL, 64, SIZE_MAX / 2 + 1, &capacity));
    assert_null(probity_array_double(NULL, 64, SIZE_MAX / 4 + 1, &capacity));
    assert_int_equal(capacity, SIZE_MAX / 4);
    assert_null(probity_array_grow(NULL, 1, UINT32_MAX, &count));
    assert_int_equal(count, 0);
}

static void a_buffer_becomes_as_large_as_wanted(void **state)
{
    uint8_t *bytes = NULL;
    size_t capacity = 0;

    (void)state;
    assert_int_equal(probity_bytes_reserve(&bytes, &capacity, 0), 0);
    assert_null(bytes);
    assert_int_equal(probity_bytes_reserve(&bytes, &capacity, 100), 0);
    assert_int_equal(capacity, 100);
    bytes[99] = 7;
    const uint8_t *before = bytes;
    assert_int_equal(probity_bytes_reserve(&bytes, &capacity, 50), 0);
    assert_ptr_equal(bytes, before);
    assert_int_equal(capacity, 100);
    assert_int_equal(probity_bytes_reserve(&bytes, &capacity, SIZE_MAX / 2 + 1),
                     PROBITY_ERROR_MEMORY);
    assert_int_equal(capacity, 100);
    assert_int_equal(bytes[99], 7);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_kept_when_an_array_grows_at_its_end),
        cmocka_unit_test(an_array_that_fits_stays_where_it_is),
        cmocka_unit_test(an_array_without_a_capacity_has_room_for_one_more),
        cmocka_unit_test(places_by_number_are_zeroed),
        cmocka_unit_test(an_array_too_large_is_not_made),
        cmocka_unit_test(a_buffer_becomes_as_large_as_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
