/* SPDX-License-Identifier: MIT
 *
 * test_chains.c: the hash table, which grows with its items.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/hashtable.h"

struct item {
    struct probity_link link;
    uint64_t key;
    int is_seen;
};

enum { ITEMS = 100000 };

static struct item *find(const struct probity_hashtable *table, uint64_t key, size_t *steps)
{
    struct item *item = probity_hashtable_at(table, probity_hash(key));

    for (; item != NULL && item->key != key; item = (void *)item->link.next)
        ++*steps;
    return item;
}

static void finds_what_was_added_in_few_steps(void **state)
{
    struct item *items = calloc(ITEMS, sizeof *items);
    struct probity_hashtable table = {0};
    size_t steps = 0;

    (void)state;
    assert_non_null(items);
    assert_null(find(&table, 1, &steps));
    for (uint64_t i = 0; i < ITEMS; i++) {
        items[i].key = i << 20;
        assert_int_equal(probity_hashtable_add(&table, &items[i], probity_hash(i << 20)), 0);
    }
    assert_int_equal(table.items, ITEMS);
    for (uint64_t i = 0; i < ITEMS; i++) {
        assert_ptr_equal(find(&table, i << 20, &steps), &items[i]);
        assert_null(find(&table, i << 20 | 1, &steps));
    }
    /* Looks each key up twice, and finds at most one item per chain on average. */
    assert_true(steps < 3 * (size_t)ITEMS);
    for (uint64_t i = 0; i < ITEMS; i += 2)
        probity_hashtable_remove(&table, &items[i]);
    assert_int_equal(table.items, ITEMS / 2);
    for (uint64_t i = 0; i < ITEMS; i++)
        assert_ptr_equal(find(&table, i << 20, &steps), i % 2 == 0 ? NULL : &items[i]);
    free(table.first);
    free(items);
}

/* Keys that differ by a constant step fill the buckets evenly, whatever the secret. */
static void spreads_keys_in_steps_under_any_secret(void **state)
{
    enum { KEYS = 4096, SECRETS = 500 };
    static uint16_t buckets[KEYS];

    (void)state;
    for (uint64_t run = 0; run < 5 * SECRETS; run++) {
        uint64_t page = UINT64_C(0x555555554000) + (run * UINT64_C(0x9e3779b97f4a7c15) >> 36 << 12);
        uint64_t pairs = 0;
        memset(buckets, 0, sizeof buckets);
        for (uint64_t i = 0; i < KEYS; i++) {
            uint64_t hash = probity_hash_keyed(page * UINT64_C(0x9e3779b97f4a7c15),
                                               i << run % 5 * 12);
            pairs += buckets[hash % KEYS]++;
        }
        /* The expected number of colliding pairs is half the number of keys. */
        assert_true(pairs < KEYS * 4 / 5);
    }
}

static void gives_each_item_back_once(void **state)
{
    struct item *items = calloc(ITEMS, sizeof *items), *item;
    struct probity_hashtable table = {0};
    size_t count = 0;

    (void)state;
    assert_non_null(items);
    assert_null(probity_hashtable_take(&table));
    for (uint64_t i = 0; i < ITEMS; i++)
        assert_int_equal(probity_hashtable_add(&table, &items[i], probity_hash(i % 1000)), 0);
    while ((item = probity_hashtable_take(&table)) != NULL) {
        assert_false(item->is_seen);
        item->is_seen = 1;
        count++;
    }
    assert_int_equal(count, ITEMS);
    assert_null(table.first);
    free(items);
}

static void iterates_over_each_item_once(void **state)
{
    enum { FEW = 1000 };
    struct item *items = calloc(FEW, sizeof *items), *item = NULL;
    struct probity_hashtable table = {0};
    size_t count = 0;

    (void)state;
    assert_non_null(items);
    assert_null(probity_hashtable_next(&table, NULL));
    for (uint64_t i = 0; i < FEW; i++)
        assert_int_equal(probity_hashtable_add(&table, &items[i], probity_hash(i % 100)), 0);
    while ((item = probity_hashtable_next(&table, item)) != NULL) {
        assert_false(item->is_seen);
        item->is_seen = 1;
        count++;
    }
    assert_int_equal(count, FEW);
    probity_hashtable_release(&table);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_added_in_few_steps),
        cmocka_unit_test(spreads_keys_in_steps_under_any_secret),
        cmocka_unit_test(gives_each_item_back_once),
        cmocka_unit_test(iterates_over_each_item_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
