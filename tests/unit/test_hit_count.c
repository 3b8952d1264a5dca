/* SPDX-License-Identifier: MIT
 *
 * test_hit_count.c: a function for which a budget set a level twice is counted once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "reader/hit_count.h"

static uint8_t block[4096];
static uint64_t table[65536];

static void decide(struct probity_packer *packer, uint32_t what, uint32_t site)
{
    const struct probity_budget_event event = {.what = what, .site = site, .budget = 7};
    uint8_t payload[PROBITY_BUDGET_EVENT_BYTES];

    probity_budget_event_put(payload, &event);
    probity_pack_event(packer, 1, PROBITY_EVENT_BUDGET, payload, sizeof payload);
}

static void counts_functions(void **state)
{
    struct probity_hit_count tally = {.threads = NULL};
    struct probity_data data = {.flags = PROBITY_DATA_HAS_EVENTS, .first_tick = 1};
    struct probity_packer packer =
        probity_packer_start(block + PROBITY_DATA_FIXED_BYTES, 1, table);

    (void)state;
    for (int i = 0; i < 2; i++) {
        decide(&packer, PROBITY_BUDGET_WHAT_COUNTED, 4);
        decide(&packer, PROBITY_BUDGET_WHAT_COUNTED, 6);
        decide(&packer, PROBITY_BUDGET_WHAT_REMOVED, 4);
        decide(&packer, PROBITY_BUDGET_WHAT_HITS, 8);
    }
    /* From a later version, or damaged. */
    decide(&packer, UINT32_MAX, 4);
    decide(&packer, PROBITY_BUDGET_WHAT_COUNTED, PROBITY_LIMIT_SITES);
    decide(&packer, PROBITY_BUDGET_WHAT_TOTAL, UINT32_MAX);
    assert_int_equal(probity_hit_count_add(&tally, 0, &data, block, (size_t)(packer.at - block)),
                     0);
    assert_int_equal(tally.counted_functions, 2);
    assert_int_equal(tally.removed_functions, 1);
    assert_int_equal(tally.counted_hits, 1);
    assert_int_equal(tally.budget.what, PROBITY_BUDGET_WHAT_TOTAL);
    probity_hit_count_release(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_functions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
