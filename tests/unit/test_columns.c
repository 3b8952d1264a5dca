/* SPDX-License-Identifier: MIT
 *
 * test_columns.c: columns are the same in CSV and JSON, each kind of value has the form that the
 * format requires, and unknown values are absent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "print/columns.h"
#include "print/json.h"

static struct probity_cell as_count(const void *row)
{
    return probity_cell_count(*(const uint64_t *)row);
}

static struct probity_cell as_share(const void *row)
{
    return probity_cell_fraction((double)*(const uint64_t *)row / 4);
}

static struct probity_cell none(const void *row)
{
    (void)row;
    return probity_cell_unknown();
}

static const struct probity_column columns[] = {
    {"count", as_count}, {"none", none}, {"share", as_share}};

static void columns_are_the_same_in_csv_and_json(void **state)
{
    enum { COUNT = sizeof columns / sizeof *columns };
    const uint64_t row = UINT64_MAX - 1, small = 3;
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);

    (void)state;
    probity_columns_put_names(stream, columns, COUNT);
    fputc('\n', stream);
    probity_columns_put_csv(stream, columns, COUNT - 1, &row);
    probity_columns_put_csv(stream, columns, COUNT, &small);
    fputc('\n', stream);
    probity_columns_put_json(stream, columns, COUNT, &small);
    fclose(stream);
    assert_string_equal(text, ",count,none,share\n"
                              ",18446744073709551614,,3,,0.750000\n"
                              "\"count\": 3, \"none\": null, \"share\": 0.750000");
    free(text);
}

struct kinds {
    const char *text;
    double real;
    int is_set, has_number;
};

PROBITY_COLUMN(text_of, text, struct kinds, row->text)
PROBITY_COLUMN(flag_of, flag, struct kinds, row->is_set)
PROBITY_COLUMN(ns_of, ns, struct kinds, (uint64_t)row->is_set)

static struct probity_cell real_of(const void *row)
{
    return probity_cell_real(((const struct kinds *)row)->real, 3);
}

static struct probity_cell whole_of(const void *row)
{
    return probity_cell_whole(((const struct kinds *)row)->real, 3);
}

static struct probity_cell number_of(const void *row)
{
    return ((const struct kinds *)row)->has_number ? probity_cell_count(7) : probity_cell_none();
}

static struct probity_cell decimal_of(const void *row)
{
    return probity_cell_decimal(((const struct kinds *)row)->real, 3);
}

static struct probity_cell figures_of(const void *row)
{
    return probity_cell_number(((const struct kinds *)row)->real, 3);
}

enum { TEXT, FLAG, NS, REAL, WHOLE, DECIMAL, FIGURES, NUMBER, KINDS };

static const struct probity_column kinds[KINDS] = {
    [TEXT] = {"a text", text_of}, [FLAG] = {"flag", flag_of},    [NS] = {"ns", ns_of},
    [REAL] = {"real", real_of},   [WHOLE] = {"whole", whole_of},
    [DECIMAL] = {"decimal", decimal_of}, [FIGURES] = {"figures", figures_of},
    [NUMBER] = {"number", number_of}};

static void expect_kinds(const struct kinds *row, const char *csv, const char *json)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);

    probity_columns_put_line(stream, kinds, KINDS, row);
    fflush(stream);
    assert_string_equal(text, csv);
    fseek(stream, 0, SEEK_SET);
    assert_int_equal(probity_columns_put_json(stream, kinds, KINDS, row), 0);
    fputc('\0', stream);
    fclose(stream);
    assert_string_equal(text, json);
    free(text);
}

static void each_kind_has_its_form(void **state)
{
    const struct kinds all = {"a \"b\"\n, c", 12, 1, 1}, none = {NULL, NAN, 0, 0};
    const struct kinds fraction = {"", 0.000123456, 0, 0}, huge = {"", 1e16, 0, 0};

    (void)state;
    expect_kinds(&all, "\"a \"\"b\"\"\\n, c\",1,1,12,12,12.000,12,7\n",
                 "\"a text\": \"a \\\"b\\\"\\n, c\", \"flag\": true, \"ns\": 1, "
                 "\"real\": 12.0, \"whole\": 12, \"decimal\": 12.000, \"figures\": 12, "
                 "\"number\": 7");
    expect_kinds(&none, ",0,0,,,,,\n",
                 "\"a text\": null, \"flag\": false, \"ns\": 0, \"real\": null, "
                 "\"whole\": null, \"decimal\": null, \"figures\": null");
    expect_kinds(&fraction, ",0,0,0.000123,0.000123,0.000,0.000123,\n",
                 "\"a text\": \"\", \"flag\": false, \"ns\": 0, \"real\": 0.000123, "
                 "\"whole\": 0.000123, \"decimal\": 0.000, \"figures\": 0.000123");
    expect_kinds(&huge, ",0,0,1e+16,1e+16,10000000000000000.000,1e+16,\n",
                 "\"a text\": \"\", \"flag\": false, \"ns\": 0, \"real\": 1e16, "
                 "\"whole\": 1e16, \"decimal\": 10000000000000000.000, "
                 "\"figures\": 1e+16");
}

/* The first column may be missing from the row. */
static void members_are_in_the_order_given(void **state)
{
    static const unsigned char order[] = {NUMBER, NS, FLAG};
    const struct kinds with = {"", 0, 1, 1}, without = {"", 0, 1, 0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);

    (void)state;
    probity_columns_put_head(stream, kinds, 2);
    assert_int_equal(probity_columns_put_members(stream, kinds, order, 3, &with), 0);
    fputc('\n', stream);
    assert_int_equal(probity_columns_put_members(stream, kinds, order, 3, &without), 0);
    fclose(stream);
    assert_string_equal(text, "a text,flag\n"
                              "\"number\": 7, \"ns\": 1, \"flag\": true\n"
                              "\"ns\": 1, \"flag\": true");
    free(text);
}

/* An object built in memory has the same members as a written one. */
static void objects_have_the_same_members(void **state)
{
    const struct kinds all = {"text", 0.25, 1, 1}, none = {NULL, INFINITY, 0, 0};
    json_t *object = json_object();

    (void)state;
    probity_columns_set_json(object, kinds, KINDS, &all);
    assert_int_equal(json_object_size(object), KINDS);
    assert_string_equal(json_string_value(json_object_get(object, "a text")), "text");
    assert_true(json_is_true(json_object_get(object, "flag")));
    assert_int_equal(json_integer_value(json_object_get(object, "ns")), 1);
    assert_true(json_real_value(json_object_get(object, "figures")) == 0.25);
    json_object_clear(object);
    probity_columns_set_json(object, kinds, KINDS, &none);
    assert_int_equal(json_object_size(object), KINDS - 1);
    assert_true(json_is_null(json_object_get(object, "a text")));
    assert_true(json_is_null(json_object_get(object, "decimal")));
    assert_null(json_object_get(object, "number"));
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_the_same_in_csv_and_json),
        cmocka_unit_test(each_kind_has_its_form),
        cmocka_unit_test(members_are_in_the_order_given),
        cmocka_unit_test(objects_have_the_same_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
