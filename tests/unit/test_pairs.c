/* SPDX-License-Identifier: MIT
 *
 * test_pairs.c: the table of pairs of instructions: it contains the pairs that were added, and no
 * others.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pairs.h"

/* Addresses as in a program: a few bytes apart. */
static uint64_t address(uint64_t i)
{
    return UINT64_C(0x555555554000) + 13 * i;
}

static void empty_has_none(void **state)
{
    static struct probity_pairs pairs;

    (void)state;
    assert_false(probity_pairs_has(&pairs, 0, 0));
    for (uint64_t i = 0; i < 100000; i++)
        assert_false(probity_pairs_has(&pairs, address(i), address(i / 7)));
}

static void kept_are_found(void **state)
{
    static struct probity_pairs pairs;

    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        assert_false(probity_pairs_has(&pairs, address(i), address(3 * i + 1)));
        probity_pairs_keep(&pairs, address(i), address(3 * i + 1));
        assert_true(probity_pairs_has(&pairs, address(i), address(3 * i + 1)));
        assert_false(probity_pairs_has(&pairs, address(3 * i + 1), address(i)));
    }
}

/* It holds as many pairs as a large program uses at a time. */
static void most_stay(void **state)
{
    static struct probity_pairs pairs;
    int found = 0;

    (void)state;
    for (uint64_t i = 0; i < 400; i++)
        probity_pairs_keep(&pairs, address(i), address(i + 1));
    for (uint64_t i = 0; i < 400; i++)
        found += probity_pairs_has(&pairs, address(i), address(i + 1));
    assert_true(found > 350);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_has_none),
        cmocka_unit_test(kept_are_found),
        cmocka_unit_test(most_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
