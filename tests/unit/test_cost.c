/* SPDX-License-Identifier: MIT
 *
 * test_cost.c: COST blocks decode to what was encoded, and damaged ones are rejected; ranges cover
 * all measurements.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/correction.h"
#include "base/bytes.h"
#include "format/cost.h"

static const struct probity_cost sample = {
    .moment = PROBITY_COST_END,
    .took_ns = 170000,
    .rows = 4,
    .row = {{PROBITY_COST_SCOPE, PROBITY_COST_BARE, 20, 16, 5120, 5376},
            {PROBITY_COST_SCOPE_INNER, PROBITY_COST_BARE, 20, 16, 2560, 2304},
            {PROBITY_COST_HIT, PROBITY_COST_AMID_WORK, 20, 16, 0, 1024},
            {99, 7, 65535, 1, UINT32_MAX, 1}}};

static void comes_back(void **state)
{
    uint8_t payload[PROBITY_COST_BYTES_MAX];
    struct probity_cost found;

    (void)state;
    uint32_t bytes = probity_cost_put(payload, &sample);
    assert_int_equal(bytes, 16 + 4 * 16);
    assert_int_equal(probity_cost_get(payload, bytes, &found), 0);
    assert_memory_equal(&found, &sample, sizeof sample);
}

static void longer_rows_are_read(void **state)
{
    uint8_t payload[16 + 2 * 20] = {0};
    struct probity_cost found;

    (void)state;
    probity_put_u32(payload + 8, 2);
    probity_put_u32(payload + 12, 20);
    probity_put_u16(payload + 16, 1);
    probity_put_u16(payload + 36, 6);
    probity_put_u32(payload + 36 + 8, 77);
    assert_int_equal(probity_cost_get(payload, sizeof payload, &found), 0);
    assert_int_equal(found.rows, 2);
    assert_int_equal(found.row[1].kind, 6);
    assert_int_equal(found.row[1].least, 77);
}

static void damage_is_refused(void **state)
{
    uint8_t payload[PROBITY_COST_BYTES_MAX];
    struct probity_cost found;

    (void)state;
    uint32_t bytes = probity_cost_put(payload, &sample);
    for (uint32_t cut = 0; cut < bytes; cut++)
        assert_true(probity_cost_get(payload, cut, &found) < 0);
    probity_put_u32(payload + 12, 15); /* rows too short */
    assert_true(probity_cost_get(payload, bytes, &found) < 0);
    probity_put_u32(payload + 12, 0);
    assert_true(probity_cost_get(payload, bytes, &found) < 0);
    probity_put_u32(payload + 12, 16);
    probity_put_u32(payload + 8, UINT32_MAX);
    assert_true(probity_cost_get(payload, bytes, &found) < 0);
    probity_put_u32(payload + 8, 4);
    probity_put_u32(payload, 3); /* a moment defined by a later version */
    assert_int_equal(probity_cost_get(payload, bytes, &found), 0);
    assert_int_equal(found.rows, 0);
}

/* A tick of 1 ns and 16 calls: each figure is known to within 16/256 ns, plus 1 ns where it is
 * applied. */
enum { MARGIN = 16 + 256 };

static void ranges(void **state)
{
    struct probity_trace_facts facts = {.info.rate = UINT64_C(1) << 32};
    struct probity_costs costs;

    (void)state;
    probity_costs_of(&facts, &costs);
    assert_false(costs.is_known);
    facts.cost[PROBITY_COST_END] = sample;
    facts.cost[PROBITY_COST_START] = (struct probity_cost){
        .rows = 2,
        .row = {{PROBITY_COST_SCOPE, PROBITY_COST_BARE, 20, 16, 4096, 4096},
                {PROBITY_COST_SCOPE_INNER, PROBITY_COST_BARE, 20, 16, 1024, 2048}}};
    probity_costs_of(&facts, &costs);
    assert_true(costs.is_known);
    assert_int_equal(costs.part[PROBITY_PART_HIT].least, 0);
    assert_int_equal(costs.part[PROBITY_PART_HIT].most, 1024 + MARGIN);
    assert_int_equal(costs.part[PROBITY_PART_SCOPE_OWN].least, 1024 - MARGIN);
    assert_int_equal(costs.part[PROBITY_PART_SCOPE_OWN].most, 2560 + MARGIN);
    assert_int_equal(costs.part[PROBITY_PART_SCOPE_CALLER].least, 2048 - MARGIN);
    assert_int_equal(costs.part[PROBITY_PART_SCOPE_CALLER].most, 3072 + MARGIN);
    /* Without a measurement, the cost is between that of a plain scope and twice that. */
    assert_int_equal(costs.part[PROBITY_PART_VALUES_OWN].least, 1024 - MARGIN);
    assert_int_equal(costs.part[PROBITY_PART_VALUES_OWN].most, 2 * (2560 + MARGIN));
    assert_int_equal(costs.part[PROBITY_PART_PROFILED_OWN].most, 0);
}

/* The cost of a call by a compiler's hooks is as measured, otherwise between one and two scopes. */
static void hooked(void **state)
{
    struct probity_trace_facts facts = {.info.rate = UINT64_C(1) << 32};
    struct probity_costs costs;
    struct probity_cost *cost = &facts.cost[PROBITY_COST_START];

    (void)state;
    *cost = (struct probity_cost){
        .rows = 2,
        .row = {{PROBITY_COST_SCOPE, PROBITY_COST_BARE, 20, 16, 4096, 4096},
                {PROBITY_COST_SCOPE_INNER, PROBITY_COST_BARE, 20, 16, 1024, 1024},
                {PROBITY_COST_HOOKED, PROBITY_COST_BARE, 20, 16, 9216, 9216},
                {PROBITY_COST_HOOKED_INNER, PROBITY_COST_BARE, 20, 16, 4096, 4096}}};
    probity_costs_of(&facts, &costs);
    assert_int_equal(costs.part[PROBITY_PART_HOOKED_OWN].most, 0);
    struct probity_cost_range range = probity_cost_hooked(&costs, PROBITY_PART_SCOPE_OWN);
    assert_int_equal(range.least, 1024 - MARGIN);
    assert_int_equal(range.most, 2 * (1024 + MARGIN));
    cost->rows = 4;
    probity_costs_of(&facts, &costs);
    range = probity_cost_hooked(&costs, PROBITY_PART_SCOPE_OWN);
    assert_int_equal(range.least, 4096 - MARGIN);
    assert_int_equal(range.most, 4096 + MARGIN);
    range = probity_cost_hooked(&costs, PROBITY_PART_SCOPE_CALLER);
    assert_int_equal(range.least, 5120 - MARGIN);
    assert_int_equal(range.most, 5120 + MARGIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back), cmocka_unit_test(longer_rows_are_read),
        cmocka_unit_test(damage_is_refused), cmocka_unit_test(ranges), cmocka_unit_test(hooked)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
