/* SPDX-License-Identifier: MIT
 *
 * test_table.c: scales of text charts, and the cell in which a value is counted; the charts; the
 * columns that fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/sparkline.h"
#include "answers/hist/hist.h"
#include "answers/report/table.h"
#include "print/bytes_text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void scales_are_as_fine_as_fits(void **state)
{
    static const struct {
        uint64_t least, most;
        unsigned bits, each;
        uint64_t from, second, end;
    } cases[] = {
        /* Four powers of two with four steps each; eight each would be 32 cells. */
        {64, 1023, 2, 1, 64, 80, 1024},
        {100, 100, 3, 1, 96, 104, 384},
        {1024, 65535, 1, 1, 1024, 1536, 262144},
        /* One power of two more than there are cells, so two per cell. */
        {1, 65536, 0, 2, 1, 4, UINT64_C(1) << 32},
        {1, 65535, 0, 1, 1, 2, 65536},
        {0, 0, 3, 1, 0, 1, 16},
        /* 65 steps: 0, and 64 powers. */
        {0, UINT64_MAX, 0, 5, 0, 16, UINT64_MAX},
        {UINT64_MAX, UINT64_MAX, 3, 1, UINT64_C(15) << 60, UINT64_MAX, UINT64_MAX},
        {5, 4, 3, 1, 5, 6, 26}}; /* no values */

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct probity_sparkline spread = probity_sparkline_of(cases[i].least, cases[i].most);
        assert_int_equal(spread.bits, cases[i].bits);
        assert_int_equal(spread.each, cases[i].each);
        assert_int_equal(probity_sparkline_least(&spread, 0), cases[i].from);
        assert_int_equal(probity_sparkline_least(&spread, 1), cases[i].second);
        assert_int_equal(probity_sparkline_least(&spread, PROBITY_SPARKLINE_CELLS), cases[i].end);
    }
}

/* Compares the cells with a count that uses only their bounds: each value is in the cell whose
 * bounds contain it, and all values are counted. */
static void each_value_is_in_its_cell(void **state)
{
    uint64_t random = 88172645463325252u;

    (void)state;
    for (int round = 0; round < 200; round++) {
        uint64_t least = UINT64_MAX, most = 0, values[300], expected[PROBITY_SPARKLINE_CELLS] = {0};
        uint64_t counts[PROBITY_SPARKLINE_CELLS];
        struct probity_histogram fine = {0};
        for (size_t i = 0; i < COUNT(values); i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            values[i] = random >> (random & 63) >> round % 50;
            least = values[i] < least ? values[i] : least;
            most = values[i] > most ? values[i] : most;
            assert_int_equal(probity_histogram_add(&fine, values[i]), 0);
        }
        struct probity_sparkline spread = probity_sparkline_of(least, most);
        for (size_t i = 0; i < COUNT(values); i++) {
            unsigned cell = 0;
            while (cell + 1 < PROBITY_SPARKLINE_CELLS &&
                   values[i] >= probity_sparkline_least(&spread, cell + 1))
                cell++;
            expected[cell]++;
        }
        probity_sparkline_count(&spread, &fine, counts);
        assert_memory_equal(counts, expected, sizeof counts);
        probity_histogram_release(&fine);
    }
}

static void expect_picture(int is_utf8, const uint64_t counts[PROBITY_SPARKLINE_CELLS],
                           const char *expected)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    probity_table_put_spread(stream, is_utf8, counts);
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void what_is_there_is_seen(void **state)
{
    static const uint64_t steps[PROBITY_SPARKLINE_CELLS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 8};
    static const uint64_t rare[PROBITY_SPARKLINE_CELLS] = {1, 1000000, UINT64_C(1) << 60};
    static const uint64_t none[PROBITY_SPARKLINE_CELLS];

    (void)state;
    expect_picture(1, steps,
                   " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588   \u2588   ");
    expect_picture(0, steps, " .:-=+*#@   @   ");
    expect_picture(0, rare, "..@             ");
    expect_picture(0, none, "                ");
}

static void columns_go_by_their_rank(void **state)
{
    static const struct probity_table_column columns[] = {
        {.width = 9}, {.width = 8, .rank = 3}, {.width = 8, .rank = 1}, {.width = 10, .rank = 2}};
    static const struct {
        size_t line;
        uint64_t shown;
    } cases[] = {{0, 15}, {1000, 15}, {55, 15}, {54, 13}, {47, 13}, {46, 5}, {37, 5}, {36, 1},
                 {29, 1}, {1, 1}};

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(probity_table_fit(columns, COUNT(columns), cases[i].line),
                         cases[i].shown);
}

struct cells {
    const char *name;
    uint64_t ns;
    double share;
};

PROBITY_COLUMN(name_of, text, struct cells, row->name)
PROBITY_COLUMN(time_of, ns, struct cells, row->ns)
PROBITY_COLUMN(share_of, fraction, struct cells, row->share)

static const char *verdict_of(const void *row, char *text)
{
    (void)text;
    return ((const struct cells *)row)->ns > 0 ? "some" : "none";
}

static const char *color_of(const void *row)
{
    return ((const struct cells *)row)->ns > 0 ? "" : "\033[1m";
}

/* The kind of value determines the form; text from a trace cannot control the terminal, and a value
 * that is too long shifts the following ones. */
static void cells_are_aligned(void **state)
{
    static const struct probity_column values[] = {
        {"name", name_of}, {"ns", time_of}, {"share", share_of}};
    static const struct probity_table_column columns[] = {{.width = 8, .title = "time"},
                                                          {.width = 8, .title = "share"},
                                                          {.width = 7, .title = "name"},
                                                          {.width = 6, .title = "hidden"},
                                                          {.width = 6, .title = "is"}};
    static const struct probity_table_cell cells[] = {
        {.value = 1}, {.value = 2}, {.value = 0, .is_left = 1, .indent = 2}, {.value = 1},
        {.text = verdict_of, .color = color_of}};
    static const struct probity_table table = {columns, cells, COUNT(columns), 0x17, values, 1};
    const struct cells rows[] = {{"a", 1500, 0.5}, {"\033[2Jlong", 0, 0.0001}, {NULL, 3, 0}};
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);

    (void)state;
    probity_table_put_titles(stream, &table);
    for (size_t i = 0; i < COUNT(rows); i++) {
        fputc('\n', stream);
        probity_table_put_cells(stream, &table, &rows[i]);
    }
    fclose(stream);
    assert_string_equal(text, "    time   share  name     is\n"
                              " 1.500us   50.0%  a      some\n"
                              "     0ns   <0.1%  \\033[2Jlong\033[1m  none\033[0m\n"
                              "     3ns    0.0%  -      some");
    free(text);
}

static void sizes_fit_into_their_columns(void **state)
{
    char text[PROBITY_BYTES_TEXT_BYTES];

    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        for (uint64_t less = 0; less < 2; less++)
            assert_in_range(strlen(probity_bytes_text((UINT64_C(1) << bit) - less, text)), 3, 8);
    }
    assert_string_equal(probity_bytes_text(UINT64_MAX, text), "16 EiB");
    assert_string_equal(probity_bytes_text(UINT64_C(1000) << 40, text), "1.0 PiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_fit_into_their_columns),
        cmocka_unit_test(scales_are_as_fine_as_fits),
        cmocka_unit_test(each_value_is_in_its_cell),
        cmocka_unit_test(what_is_there_is_seen),
        cmocka_unit_test(columns_go_by_their_rank),
        cmocka_unit_test(cells_are_aligned),
    };

    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
