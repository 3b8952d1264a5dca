/* SPDX-License-Identifier: MIT
 *
 * test_fleet.c: data sent to a database and read back: literals, blocks, replies truncated
 * anywhere, runs, and rows that depend only on events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/batch.h"
#include "fleet/numbers.h"
#include "fleet/rows.h"
#include "fleet/run.h"
#include "fleet/sql.h"
#include "fleet/sums.h"
#include "probity.h"

/* ---- Statements --------------------------------------------------------------------------------
 */

static void literals_have_only_harmless_bytes(void **state)
{
    char *text = NULL;
    size_t bytes;
    char all[256];
    FILE *stream = open_memstream(&text, &bytes);

    (void)state;
    for (int i = 1; i < 256; i++)
        all[i - 1] = (char)i;
    all[255] = '\0';
    probity_fleet_sql_text(stream, all);
    fclose(stream);
    assert_int_equal(text[0], '\'');
    assert_int_equal(text[bytes - 1], '\'');
    assert_null(memchr(text + 1, '\'', bytes - 2));
    assert_null(memchr(text, '\n', bytes));
    for (size_t i = 0; i < bytes; i++) {
        assert_in_range((unsigned char)text[i], ' ', '~');
        if (text[i] == '\\')
            assert_int_equal(text[i + 1], 'x');
    }
    assert_non_null(strstr(text, "\\x27"));
    assert_non_null(strstr(text, "\\x5c"));
    assert_non_null(strstr(text, "\\xff'"));
    free(text);
}

static void every_choice_is_a_literal(void **state)
{
    const struct probity_fleet_choice choice = {"a'", "b\\", "c\n", "d;", 5, 6, 7};
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    (void)state;
    probity_fleet_sql_choice(stream, &choice);
    fclose(stream);
    assert_string_equal(text, "1 AND host = 'a\\x27' AND executable = 'b\\x5c' AND "
                        "label = 'c\\x0a' AND build = 'd\\x3b' AND ended_ns >= 5 AND "
                        "started_ns < 6 AND run = 7");
    free(text);
}

static void chosen_functions_are_numbers(void **state)
{
    static const uint64_t functions[] = {UINT64_MAX, 2}, runs[] = {3};
    const struct probity_fleet_range range = {.functions = functions, .function_count = 2,
                                              .runs = runs, .run_count = 1};
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    (void)state;
    probity_fleet_sql_sums(stream, &range);
    fclose(stream);
    assert_non_null(strstr(text, " AND run IN (3) AND function IN (18446744073709551615, 2) "));
    free(text);
}

static void repairs_are_two_numbers(void **state)
{
    uint64_t numbers[] = {5, 2, 0};
    struct probity_scopes_repairs repairs = {0};
    struct probity_fleet_answer answer = {(uint8_t *)numbers, (uint8_t *)numbers + 16, 0};

    (void)state;
    assert_int_equal(probity_fleet_take_repairs(&answer, &repairs), 0);
    assert_int_equal(repairs.unwound, 3);
    assert_int_equal(repairs.open, 2);
    for (size_t bytes = 0; bytes <= 24; bytes++) {
        answer = (struct probity_fleet_answer){(uint8_t *)numbers, (uint8_t *)numbers + bytes, 0};
        assert_int_equal(probity_fleet_take_repairs(&answer, &repairs),
                         bytes == 16 ? 0 : PROBITY_ERROR_FORMAT);
    }
    numbers[1] = 6; /* more are open than were repaired */
    answer = (struct probity_fleet_answer){(uint8_t *)numbers, (uint8_t *)numbers + 16, 0};
    assert_int_equal(probity_fleet_take_repairs(&answer, &repairs), PROBITY_ERROR_FORMAT);
}

/* ---- Blocks ------------------------------------------------------------------------------------
 */

static const struct probity_fleet_column few_columns[] = {
    {"n", PROBITY_FLEET_U16, "", ""},
    {"t", PROBITY_FLEET_TEXT, "", ""},
    {"a", PROBITY_FLEET_U64S, "", ""}};
static const struct probity_fleet_table few = {
    .name = "few", .columns = few_columns, .column_count = 3, .engine = "", .sharded_by = ""};

static void a_block_is_what_the_format_says(void **state)
{
    static const uint8_t expected[] = {
        3, 2,
        1, 'n', 6, 'U', 'I', 'n', 't', '1', '6', 1, 0, 0x34, 0x12,
        1, 't', 6, 'S', 't', 'r', 'i', 'n', 'g', 2, '\'', 0, 0,
        1, 'a', 13, 'A', 'r', 'r', 'a', 'y', '(', 'U', 'I', 'n', 't', '6', '4', ')',
        1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, /* ends */
        7, 0, 0, 0, 0, 0, 0, 0};
    struct probity_fleet_batch batch = {.table = &few};
    struct probity_fleet_bytes bytes = {0};
    const uint64_t seven = 7;

    (void)state;
    probity_fleet_put(&batch, 1);
    probity_fleet_put_text(&batch, "'\0", 2);
    probity_fleet_put_array(&batch, &seven, 1);
    probity_fleet_put(&batch, 0x1234);
    probity_fleet_put_text(&batch, "", 0);
    probity_fleet_put_array(&batch, NULL, 0);
    assert_int_equal(batch.rows, 2);
    assert_int_equal(probity_fleet_batch_encode(&batch, &bytes), 0);
    assert_int_equal(bytes.count, sizeof expected);
    assert_memory_equal(bytes.items, expected, sizeof expected);
    probity_fleet_batch_clear(&batch);
    assert_int_equal(batch.rows, 0);
    probity_fleet_batch_release(&batch);
    free(bytes.items);
}

static void long_texts_have_long_lengths(void **state)
{
    struct probity_fleet_batch batch = {.table = &few};
    struct probity_fleet_bytes bytes = {0};
    char *text = calloc(1, 65536);

    (void)state;
    memset(text, 0xff, 65536);
    probity_fleet_put(&batch, 1);
    probity_fleet_put_text(&batch, text, 65536);
    probity_fleet_put_array(&batch, NULL, 0);
    assert_int_equal(probity_fleet_batch_encode(&batch, &bytes), 0);
    const uint8_t *at = bytes.items + 2 + 9 + 2 + 9; /* counts, column n with a row, t's head */
    assert_memory_equal(at, "\x80\x80\x04\xff", 4);
    probity_fleet_batch_release(&batch);
    free(bytes.items);
    free(text);
}

/* ---- Runs --------------------------------------------------------------------------------------
 */

/* A row of one line of columns, as RowBinary: the values in the order of the columns. */
static size_t row_of(const struct probity_fleet_batch *batch, uint8_t *ret_bytes)
{
    size_t count = 0;

    for (size_t i = 0; i < batch->table->column_count; i++) {
        memcpy(ret_bytes + count, batch->columns[i].items, batch->columns[i].count);
        count += batch->columns[i].count;
    }
    return count;
}

static void a_run_comes_back_as_it_was(void **state)
{
    struct probity_trace_facts facts = {.path = "a b", .state = PROBITY_TRACE_KILLED}, again;
    const struct probity_fleet_run run = {.run = 5, .version = 6, .is_finished = 1, .sent_ns = 8,
                                          .detail = PROBITY_FLEET_DETAIL_CALLS,
                                          .block_rows = 7,
                                          .rows = {[PROBITY_FLEET_MINUTES] = 9,
                                                   [PROBITY_FLEET_RECORDS] = 10},
                                          .repairs = {.unwound = 1, .resumes_unmatched = 5}};
    struct probity_fleet_run got;
    struct probity_fleet_batch batch = {.table = &probity_fleet_tables[PROBITY_FLEET_RUNS]};
    uint8_t bytes[4096];

    (void)state;
    facts.info.pid = 77;
    facts.info.text[PROBITY_TAG_HOST] = (struct probity_text){"ho'st", 5};
    facts.totals.dropped_write = UINT64_MAX;
    facts.failed_errno = 28;
    facts.is_short = 1;
    probity_fleet_run_put(&batch, &run, &facts);
    assert_int_equal(batch.rows, 1);
    size_t count = row_of(&batch, bytes);
    struct probity_fleet_answer answer = {bytes, bytes + count, 0};
    assert_int_equal(probity_fleet_run_get(&answer, &got, &again), 0);
    assert_true(probity_fleet_answer_is_over(&answer));
    assert_false(answer.is_bad);
    assert_true(got.run == run.run && got.version == run.version);
    assert_true(got.is_finished == run.is_finished && got.detail == run.detail);
    assert_int_equal(got.block_rows, run.block_rows);
    assert_true(got.sent_ns == run.sent_ns);
    assert_memory_equal(got.rows, run.rows, sizeof run.rows);
    assert_memory_equal(&got.repairs, &run.repairs, sizeof run.repairs);
    assert_string_equal(again.path, "ho'st:a b");
    assert_int_equal(again.info.pid, 77);
    assert_true(again.totals.dropped_write == UINT64_MAX);
    assert_int_equal(again.failed_errno, 28);
    assert_int_equal(again.is_short, 1);
    assert_int_equal(again.state, PROBITY_TRACE_KILLED);
    free((char *)again.path);
    for (size_t shorter = 0; shorter < count; shorter++) {
        uint8_t *copy = malloc(shorter + 1);
        memcpy(copy, bytes, shorter);
        answer = (struct probity_fleet_answer){copy, copy + shorter, 0};
        assert_int_equal(probity_fleet_run_get(&answer, &got, &again), PROBITY_ERROR_FORMAT);
        free(copy);
    }
    probity_fleet_batch_release(&batch);
}

/* ---- Answers -----------------------------------------------------------------------------------
 */

static void put(uint8_t **at, uint64_t value, size_t bytes)
{
    memcpy(*at, &value, bytes);
    *at += bytes;
}

/* The reply about functions, with one function: number 9, "f". */
static size_t functions_answer(uint8_t *bytes)
{
    uint8_t *at = bytes;

    put(&at, 9, 8);
    put(&at, 1, 1);
    put(&at, 1, 1);
    put(&at, 'f', 1);
    put(&at, 0, 4); /* four empty texts */
    put(&at, 12, 4);
    put(&at, 1, 4);
    return (size_t)(at - bytes);
}

/* The reply about sums: 2 calls of function 9, of 5 and 300 ns, whose buckets are 5 and 278. */
static size_t sums_answer(uint8_t *bytes, unsigned second_bucket)
{
    static const uint64_t sums[] = {2, 0, 0, 0, 0, 0, 0, 305, 300, 305, 300, 0, 0, 305};
    uint8_t *at = bytes;

    put(&at, 9, 8);
    put(&at, 0, 8);
    put(&at, 0, 4);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        put(&at, sums[i], 8);
    put(&at, 0, 1);
    put(&at, 5, 8);
    put(&at, 300, 8);
    put(&at, 2, 1);
    put(&at, 5, 2);
    put(&at, second_bucket, 2);
    put(&at, 2, 1);
    put(&at, 1, 8);
    put(&at, 1, 8);
    return (size_t)(at - bytes);
}

/* Takes both replies, the second one truncated to `bytes`. Returns the result for the second. */
static int take_both(size_t bytes, unsigned second_bucket, struct probity_report **ret_report,
                     struct probity_fleet_sums *ret_sums)
{
    uint8_t functions[256], *sums = malloc(256);
    size_t count = functions_answer(functions), all = sums_answer(sums, second_bucket);
    struct probity_fleet_answer answer = {functions, functions + count, 0};

    assert_int_equal(probity_report_open(NULL, ret_report), 0);
    assert_int_equal(probity_fleet_sums_init(ret_sums, NULL, NULL, 0), 0);
    assert_int_equal(probity_fleet_take_functions(ret_sums, &answer), 0);
    count = bytes < all ? bytes : all;
    uint8_t *cut = malloc(count + 1);
    memcpy(cut, sums, count);
    answer = (struct probity_fleet_answer){cut, cut + count, 0};
    int error = probity_fleet_take_sums(ret_sums, &answer, ret_report);
    free(cut);
    free(sums);
    return error;
}

static void sums_become_a_report(void **state)
{
    struct probity_report *report;
    struct probity_fleet_sums sums;
    size_t count;

    (void)state;
    assert_int_equal(take_both(SIZE_MAX, 278, &report, &sums), 0);
    assert_int_equal(probity_report_finish(report), 0);
    const struct probity_report_function *functions = probity_report_functions(report, &count);
    assert_int_equal(count, 1);
    assert_string_equal(functions[0].function->name, "f");
    assert_int_equal(functions[0].sums.calls, 2);
    assert_int_equal(functions[0].sums.self.wall_ns, 305);
    assert_int_equal(functions[0].sums.profiled, 0);
    assert_int_equal(probity_report_quantile(&functions[0].sums, 500), 5);
    assert_int_equal(probity_report_quantile(&functions[0].sums, 990), 300);
    assert_false(probity_report_is_known(&functions[0].sums, PROBITY_REPORT_ELAPSED, 1));
    probity_report_close(report);
    probity_fleet_sums_release(&sums);
}

static void a_truncated_answer_is_an_error(void **state)
{
    struct probity_report *report;
    struct probity_fleet_sums sums;
    uint8_t bytes[256];
    size_t all = sums_answer(bytes, 278);

    (void)state;
    for (size_t count = 1; count < all; count++) {
        assert_int_equal(take_both(count, 278, &report, &sums), PROBITY_ERROR_FORMAT);
        probity_report_close(report);
        probity_fleet_sums_release(&sums);
    }
}

static void a_bucket_that_does_not_exist_is_an_error(void **state)
{
    struct probity_report *report;
    struct probity_fleet_sums sums;

    (void)state;
    assert_int_equal(take_both(SIZE_MAX, 65535, &report, &sums), PROBITY_ERROR_FORMAT);
    probity_report_close(report);
    probity_fleet_sums_release(&sums);
}

static void a_length_beyond_the_answer_is_an_error(void **state)
{
    static const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    struct probity_fleet_answer answer = {huge, huge + sizeof huge, 0};
    size_t length;

    (void)state;
    assert_string_equal(probity_fleet_take_text(&answer, &length), "");
    assert_int_equal(length, 0);
    assert_true(answer.is_bad);
}

/* ---- Functions ---------------------------------------------------------------------------------
 */

static void a_function_has_the_same_number_everywhere(void **state)
{
    const struct probity_function one = {.name = "f", .signature = "", .file = "a.c", .line = 3,
                                         .level = 1, .object = "", .returns = "int"};
    struct probity_function other = one;

    (void)state;
    /* FNV-1a of "f\0" "\0" "a.c\0" "\0" "int\0" and 3, 1 as four bytes each */
    assert_true(probity_fleet_function(&one, 1, 2) == UINT64_C(0x6dd4f7a2d05584f6));
    assert_true(probity_fleet_function(&other, 8, 9) == probity_fleet_function(&one, 1, 2));
    other.line = 4;
    assert_false(probity_fleet_function(&one, 1, 2) == probity_fleet_function(&other, 1, 2));
    assert_false(probity_fleet_function(NULL, 1, 2) == probity_fleet_function(NULL, 1, 3));
    assert_false(probity_fleet_function(NULL, 1, 2) == probity_fleet_function(NULL, 2, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_have_only_harmless_bytes),
        cmocka_unit_test(every_choice_is_a_literal),
        cmocka_unit_test(chosen_functions_are_numbers),
        cmocka_unit_test(repairs_are_two_numbers),
        cmocka_unit_test(a_block_is_what_the_format_says),
        cmocka_unit_test(long_texts_have_long_lengths),
        cmocka_unit_test(a_run_comes_back_as_it_was),
        cmocka_unit_test(sums_become_a_report),
        cmocka_unit_test(a_truncated_answer_is_an_error),
        cmocka_unit_test(a_bucket_that_does_not_exist_is_an_error),
        cmocka_unit_test(a_length_beyond_the_answer_is_an_error),
        cmocka_unit_test(a_function_has_the_same_number_everywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
