/* SPDX-License-Identifier: MIT
 *
 * test_compare_bound.c: which spans are compared when there are more than the maximum.
 */
#include "test_reader_make.h"

#include <math.h>

#include "answers/diff/compare.h"

static void add(struct probity_compare_run *run, enum probity_compare_kind kind, const char *name,
                double ns)
{
    const struct probity_compare_item item = {
        .kind = kind, .name = (char *)(uintptr_t)name, .signature = (char *)(uintptr_t)name,
        .file = (char *)"", .object = (char *)"", .values = {1, NAN, ns, ns, ns, ns, ns}};

    assert_int_equal(probity_compare_run_add(run, &item), 0);
}

/* Sixteen runs of a function a and 40 spans, of which span i takes i * 1000 ns. The last run has
 * two more spans, and its span 3, which was left out until then, takes long. */
static struct probity_compare *compare_many(const struct probity_compare_options *options)
{
    struct probity_trace_facts facts = {.path = "run", .state = PROBITY_TRACE_CLOSED,
                                        .info = make_info(NULL), .end_reason = PROBITY_END_EXIT};
    struct probity_compare *compare;
    char name[16];

    assert_int_equal(probity_compare_open(options, &compare), 0);
    for (int run = 0; run < 16; run++) {
        struct probity_compare_run made;
        assert_int_equal(probity_compare_run_describe(&facts, &made), 0);
        add(&made, PROBITY_COMPARE_FUNCTION, "a", 500);
        for (int i = 1; i <= 40; i++) {
            snprintf(name, sizeof name, "1 -> %d", i);
            add(&made, PROBITY_COMPARE_BLOCK, name, i == 3 && run == 15 ? 1e9 : i * 1000);
        }
        if (run == 15) {
            add(&made, PROBITY_COMPARE_BLOCK, "2 -> 1", 1e8);
            add(&made, PROBITY_COMPARE_BLOCK, "2 -> 2", 1);
        }
        assert_int_equal(probity_compare_take(compare, run % 2, &made), 0);
    }
    assert_int_equal(probity_compare_finish(compare), 0);
    return compare;
}

/* Returns the row, or NULL if it is not compared. */
static const struct probity_compare_row *find(const struct probity_compare *compare,
                                              const char *name)
{
    size_t count;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].item.name, name) == 0)
            return &rows[i];
    }
    return NULL;
}

static void those_of_most_time_are_compared(void **state)
{
    static const char *const kept[] = {"a", "1 -> 40", "1 -> 39", "1 -> 38"};
    const struct probity_compare_options options = {.confidence = 0.95, .tolerance_percent = 2,
                                                    .blocks_max = 4};
    struct probity_compare *compare = compare_many(&options);
    size_t count;

    (void)state;
    probity_compare_rows(compare, &count);
    assert_int_equal(count, 1 + 4);
    for (size_t i = 0; i < 4; i++) {
        const struct probity_compare_row *row = find(compare, kept[i]);
        assert_non_null(row);
        assert_int_equal(row->results[0].runs[0], 8);
        assert_int_equal(row->results[0].runs[1], 8);
    }
    assert_int_equal(find(compare, "2 -> 1")->results[0].verdict, PROBITY_COMPARE_ADDED);
    assert_null(find(compare, "1 -> 3"));
    assert_int_equal(probity_compare_left_out(compare), 42 - 4);
    probity_compare_close(compare);
}

static void what_was_asked_for_is_compared(void **state)
{
    const struct probity_compare_options options = {
        .confidence = 0.95, .tolerance_percent = 2, .blocks_max = 4,
        .patterns = {[PROBITY_COMPARE_BLOCK] = (const char *const[]){"1 -> [12]", NULL}}};
    struct probity_compare *compare = compare_many(&options);
    size_t count;

    (void)state;
    probity_compare_rows(compare, &count);
    assert_int_equal(count, 2);
    assert_int_equal(find(compare, "1 -> 1")->results[0].runs[1], 8);
    assert_int_equal(find(compare, "1 -> 2")->results[0].runs[0], 8);
    probity_compare_close(compare);
}

static void all_are_compared_where_they_may_be(void **state)
{
    const struct probity_compare_options options = {.confidence = 0.95, .tolerance_percent = 2,
                                                    .blocks_max = 42};
    struct probity_compare *compare = compare_many(&options);
    size_t count;

    (void)state;
    probity_compare_rows(compare, &count);
    assert_int_equal(count, 1 + 42);
    assert_int_equal(probity_compare_left_out(compare), 0);
    probity_compare_close(compare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_most_time_are_compared),
        cmocka_unit_test(what_was_asked_for_is_compared),
        cmocka_unit_test(all_are_compared_where_they_may_be),
    };

    return cmocka_run_group_tests_name("compare_bound", tests, NULL, NULL);
}
