/* SPDX-License-Identifier: MIT
 *
 * test_columns.c: columns are the same in CSV and JSON, and unknown values are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "print/columns.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_the_same_in_csv_and_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
