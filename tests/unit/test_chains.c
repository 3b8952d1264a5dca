/* SPDX-License-Identifier: MIT
 *
 * test_chains.c: the hash table that grows with its items.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/chains.h"
#include "base/scatter.h"

struct item {
    struct probity_link link;
    uint64_t key;
    int is_seen;
};

enum { ITEMS = 100000 };

static struct item *find(const struct probity_chains *table, uint64_t key, size_t *steps)
{
    struct item *item = probity_chains_at(table, probity_scatter(key));

    for (; item != NULL && item->key != key; item = (void *)item->link.next)
        ++*steps;
    return item;
}

static void finds_what_was_added_in_few_steps(void **state)
{
    struct item *items = calloc(ITEMS, sizeof *items);
    struct probity_chains table = {0};
    size_t steps = 0;

    (void)state;
    assert_non_null(items);
    assert_null(find(&table, 1, &steps));
    for (uint64_t i = 0; i < ITEMS; i++) {
        items[i].key = i << 20;
        assert_int_equal(probity_chains_add(&table, &items[i], probity_scatter(i << 20)), 0);
    }
    assert_int_equal(table.items, ITEMS);
    for (uint64_t i = 0; i < ITEMS; i++) {
        assert_ptr_equal(find(&table, i << 20, &steps), &items[i]);
        assert_null(find(&table, i << 20 | 1, &steps));
    }
    /* Two look-ups each, in chains of one item in the mean, or less. */
    assert_true(steps < 3 * (size_t)ITEMS);
    free(table.first);
    free(items);
}

static void gives_each_item_back_once(void **state)
{
    struct item *items = calloc(ITEMS, sizeof *items), *item;
    struct probity_chains table = {0};
    size_t count = 0;

    (void)state;
    assert_non_null(items);
    assert_null(probity_chains_take(&table));
    for (uint64_t i = 0; i < ITEMS; i++)
        assert_int_equal(probity_chains_add(&table, &items[i], probity_scatter(i % 1000)), 0);
    while ((item = probity_chains_take(&table)) != NULL) {
        assert_false(item->is_seen);
        item->is_seen = 1;
        count++;
    }
    assert_int_equal(count, ITEMS);
    assert_null(table.first);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_added_in_few_steps),
        cmocka_unit_test(gives_each_item_back_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
