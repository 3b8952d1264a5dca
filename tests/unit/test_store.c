/* SPDX-License-Identifier: MIT
 *
 * test_store.c: runs read from a history equal the written ones bit for bit; labels, numbers,
 * replacement of runs, and texts in invalid UTF-8.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probity.h"
#include "store/store.h"

static char path[256];

static int make_path(void **state)
{
    const char *directory = getenv("TMPDIR");

    (void)state;
    snprintf(path, sizeof path, "%s/store.%ld", directory != NULL ? directory : "/tmp",
             (long)getpid());
    unlink(path);
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static struct probity_store *create(void)
{
    struct probity_store *store;

    assert_int_equal(probity_store_create(path, &store), 0);
    return store;
}

static struct probity_compare_run make_run(uint8_t session, const char *label)
{
    struct probity_compare_run run = {.started_ns = 1000000 - session, .records = 100,
                                      .is_complete = 1};

    memset(run.session, session, sizeof run.session);
    run.path = strdup("/a/trace");
    run.label = strdup(label);
    run.why = strdup("closed");
    for (int i = 0; i < PROBITY_COMPARE_ENVIRONMENTS; i++)
        run.environment[i] = strdup(i % 2 != 0 ? "" : probity_compare_environment_name(i));
    return run;
}

static void add_item(struct probity_compare_run *run, enum probity_compare_kind kind,
                     const char *name, const double *values)
{
    struct probity_compare_item item = {
        .kind = kind, .name = (char *)(uintptr_t)name, .signature = (char *)"int f(const char *)",
        .file = (char *)"f.c", .line = 7, .instance = 3, .quantile_error = 1.0 / 256};

    memcpy(item.values, values, sizeof item.values);
    assert_int_equal(probity_compare_run_add(run, &item), 0);
}

static uint64_t put(struct probity_store *store, struct probity_compare_run run, const char *label,
                    enum probity_store_put expected)
{
    enum probity_store_put how;
    uint64_t number;

    assert_int_equal(probity_store_put(store, &run, label, &number, &how), 0);
    assert_int_equal(how, expected);
    probity_compare_run_release(&run);
    return number;
}

struct found {
    size_t count;
    struct probity_store_entry entries[8];
};

static int keep(void *context, struct probity_store_entry *entry)
{
    struct found *found = context;

    assert_in_range(found->count, 0, 7);
    found->entries[found->count++] = *entry;
    entry->run = (struct probity_compare_run){.item_count = 0};
    return 0;
}

static struct found find(struct probity_store *store, uint64_t number, const char *label)
{
    const struct probity_store_choice choice = {number, label};
    struct found found = {0};

    assert_int_equal(probity_store_each(store, &choice, keep, &found), 0);
    return found;
}

static void release(struct found *found)
{
    for (size_t i = 0; i < found->count; i++)
        probity_compare_run_release(&found->entries[i].run);
}

static void runs_come_back_as_they_were(void **state)
{
    static const double values[][PROBITY_COMPARE_STATISTICS] = {
        {1, 2, 3, NAN, 0.1, 1e300, DBL_MIN},
        {0, NAN, 9007199254740993.0, -1, 1.0 / 3, 4, 5},
        {9, NAN, 1e300, NAN, 0.1, NAN, DBL_MIN}};
    struct probity_store *store = create();
    struct probity_compare_run run = make_run(1, "it's \"b\xff\xfe\"; --");

    (void)state;
    add_item(&run, PROBITY_COMPARE_FUNCTION, "operator'()", values[0]);
    add_item(&run, PROBITY_COMPARE_BLOCK, "1 -> \xc3\x28", values[1]);
    add_item(&run, PROBITY_COMPARE_REQUEST, "7\xff", values[2]);
    run.has_requests = 1;
    assert_int_equal(put(store, run, NULL, PROBITY_STORE_ADDED), 1);
    probity_store_close(store);
    assert_int_equal(probity_store_open(path, 0, &store), 0);
    struct found found = find(store, 0, "it's \"b\xff\xfe\"; --");
    assert_int_equal(found.count, 1);
    struct probity_store_entry *entry = &found.entries[0];
    assert_int_equal(entry->counts[PROBITY_COMPARE_FUNCTION], 1);
    assert_int_equal(entry->counts[PROBITY_COMPARE_BLOCK], 1);
    assert_int_equal(entry->counts[PROBITY_COMPARE_REQUEST], 1);
    assert_true(entry->run.has_requests);
    assert_int_equal(entry->run.started_ns, 999999);
    assert_true(entry->run.is_complete && !entry->run.is_damaged);
    assert_string_equal(entry->run.environment[PROBITY_COMPARE_HOST], "host");
    assert_string_equal(entry->run.environment[PROBITY_COMPARE_KERNEL], "");
    assert_int_equal(probity_store_load(store, 1, &entry->run), 0);
    assert_int_equal(entry->run.item_count, 3);
    assert_int_equal(entry->run.items[1].kind, PROBITY_COMPARE_BLOCK);
    assert_string_equal(entry->run.items[0].name, "operator'()");
    assert_string_equal(entry->run.items[1].name, "1 -> \xc3\x28");
    assert_int_equal(entry->run.items[1].line, 7);
    assert_int_equal(entry->run.items[1].instance, 3);
    assert_int_equal(entry->run.items[2].kind, PROBITY_COMPARE_REQUEST);
    assert_string_equal(entry->run.items[2].name, "7\xff");
    assert_string_equal(entry->run.items[2].signature, "int f(const char *)");
    assert_int_equal(entry->run.items[2].instance, 1); /* whether it is a site */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < PROBITY_COMPARE_STATISTICS; j++) {
            double value = entry->run.items[i].values[j];
            assert_true(isnan(values[i][j]) ? isnan(value) : value == values[i][j]);
        }
    }
    release(&found);
    probity_store_close(store);
}

static void one_session_is_one_run(void **state)
{
    static const double values[PROBITY_COMPARE_STATISTICS] = {1, 1, 1, 1, 1, 1, 1};
    struct probity_store *store = create();
    struct probity_compare_run run = make_run(1, "own");

    (void)state;
    add_item(&run, PROBITY_COMPARE_FUNCTION, "a", values);
    add_item(&run, PROBITY_COMPARE_FUNCTION, "b", values);
    assert_int_equal(put(store, run, "given", PROBITY_STORE_ADDED), 1);
    run = make_run(1, "own");
    add_item(&run, PROBITY_COMPARE_FUNCTION, "a", values);
    assert_int_equal(put(store, run, NULL, PROBITY_STORE_UPDATED), 1);
    struct found found = find(store, 0, NULL);
    assert_int_equal(found.count, 1);
    assert_string_equal(found.entries[0].run.label, "given");
    assert_int_equal(found.entries[0].counts[PROBITY_COMPARE_FUNCTION], 1);
    release(&found);
    run = make_run(1, "own"); /* a truncated copy */
    run.is_complete = 0;
    put(store, run, "cut", PROBITY_STORE_KEPT);
    run = make_run(1, "own"); /* the program had continued */
    run.is_complete = 0;
    run.records++;
    put(store, run, "more", PROBITY_STORE_UPDATED);
    found = find(store, 1, "more");
    assert_int_equal(found.count, 1);
    assert_false(found.entries[0].run.is_complete);
    release(&found);
    probity_store_close(store);
}

/* Not the same as a run without any. */
static void requests_may_be_unknown(void **state)
{
    struct probity_store *store = create();
    struct probity_compare_run run = make_run(1, "");

    (void)state;
    put(store, run, NULL, PROBITY_STORE_ADDED);
    struct found found = find(store, 1, NULL);
    assert_false(found.entries[0].run.has_requests);
    assert_int_equal(found.entries[0].counts[PROBITY_COMPARE_REQUEST], UINT64_MAX);
    release(&found);
    run = make_run(1, "");
    run.has_requests = 1;
    put(store, run, NULL, PROBITY_STORE_UPDATED);
    found = find(store, 1, NULL);
    assert_true(found.entries[0].run.has_requests);
    assert_int_equal(found.entries[0].counts[PROBITY_COMPARE_REQUEST], 0);
    assert_false(probity_store_is_converted(store));
    release(&found);
    probity_store_close(store);
}

static void runs_are_found_by_number_and_label(void **state)
{
    struct probity_store *store = create();
    uint64_t count;

    (void)state;
    for (uint8_t i = 1; i <= 4; i++)
        assert_int_equal(put(store, make_run(i, i % 2 != 0 ? "odd" : "even"), NULL,
                             PROBITY_STORE_ADDED), i);
    struct found found = find(store, 0, "odd");
    assert_int_equal(found.count, 2);
    assert_int_equal(found.entries[0].number, 3); /* started earlier */
    assert_int_equal(found.entries[1].number, 1);
    release(&found);
    found = find(store, 2, "odd");
    assert_int_equal(found.count, 0);
    assert_int_equal(probity_store_remove(store, &(struct probity_store_choice){4, NULL}, &count),
                     0);
    assert_int_equal(count, 1);
    assert_int_equal(put(store, make_run(5, ""), NULL, PROBITY_STORE_ADDED), 5);
    assert_int_equal(
        probity_store_remove(store, &(struct probity_store_choice){0, "odd"}, &count), 0);
    assert_int_equal(count, 2);
    found = find(store, 0, NULL);
    assert_int_equal(found.count, 2);
    release(&found);
    probity_store_close(store);
}

static void nothing_is_made_by_opening(void **state)
{
    struct probity_store *store;

    (void)state;
    for (int is_for_writing = 0; is_for_writing < 2; is_for_writing++) {
        assert_int_equal(probity_store_open(path, is_for_writing, &store), PROBITY_ERROR_OPEN);
        assert_non_null(strstr(probity_store_why(store), path));
        assert_int_not_equal(access(path, F_OK), 0);
        probity_store_close(store);
    }
    probity_store_close(create());
    probity_store_close(create()); /* again, unchanged */
}

/* A history opened for reading cannot be changed, and the error message reports that. */
static void reading_does_not_write(void **state)
{
    struct probity_compare_run run = make_run(1, "a");
    enum probity_store_put how;
    struct probity_store *store;
    uint64_t number;

    (void)state;
    probity_store_close(create());
    assert_int_equal(probity_store_open(path, 0, &store), 0);
    assert_int_equal(probity_store_put(store, &run, NULL, &number, &how), PROBITY_ERROR_WRITE);
    assert_non_null(strstr(probity_store_why(store), "readonly"));
    probity_compare_run_release(&run);
    probity_store_close(store);
}

static void what_is_infinite_is_refused(void **state)
{
    static const double values[PROBITY_COMPARE_STATISTICS] = {1, 1, 1, INFINITY, 1, 1, 1};
    struct probity_compare_run run = make_run(6, "");
    struct probity_store *store = create();

    (void)state;
    add_item(&run, PROBITY_COMPARE_FUNCTION, "f", values);
    uint64_t number = put(store, run, NULL, PROBITY_STORE_ADDED);
    struct found found = find(store, number, NULL);
    assert_int_equal(probity_store_load(store, number, &found.entries[0].run),
                     PROBITY_ERROR_DAMAGED);
    assert_non_null(strstr(probity_store_why(store), "infinite"));
    release(&found);
    probity_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_come_back_as_they_were, make_path, remove_path),
        cmocka_unit_test_setup_teardown(one_session_is_one_run, make_path, remove_path),
        cmocka_unit_test_setup_teardown(requests_may_be_unknown, make_path, remove_path),
        cmocka_unit_test_setup_teardown(runs_are_found_by_number_and_label, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(nothing_is_made_by_opening, make_path, remove_path),
        cmocka_unit_test_setup_teardown(reading_does_not_write, make_path, remove_path),
        cmocka_unit_test_setup_teardown(what_is_infinite_is_refused, make_path, remove_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
