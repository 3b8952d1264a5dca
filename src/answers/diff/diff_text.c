/* SPDX-License-Identifier: MIT
 *
 * diff_text.c: a comparison as a table, one line per statistic of each function, block
 * and kind of request.
 */
#include "answers/diff/diff_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "answers/report/table.h"
#include "print/text.h"
#include "print/time_text.h"

/* For terminals. With a thousand runs or more, longer verdicts shift their lines. */
enum { CHANGE_BYTES = 32, VERDICT_COLUMNS = 26, VERDICT_COLUMNS_NARROW = 22 };

enum what { BASE, NEW, CHANGE, INTERVAL, TEST, VERDICT, OF, COLUMNS };

static const struct probity_table_column usual_columns[COLUMNS] = {
    [BASE] = {.width = 9, .title = "base"},
    [NEW] = {.width = 9, .title = "new"},
    [CHANGE] = {.width = 9, .title = "change"},
    [INTERVAL] = {.width = 18, .rank = 1, .title = "from       to", .name = "from, to"},
    [TEST] = {.width = 9, .rank = 2, .title = "p"},
    [VERDICT] = {.width = 2 + VERDICT_COLUMNS, .title = "verdict"},
    [OF] = {.width = 6, .title = "of"}};

/* A table that is being written. */
struct table {
    FILE *stream;
    const struct probity_diff_layout *layout;
    const struct probity_compare *compare;
    struct probity_table_column columns[COLUMNS];
    struct probity_table cells;
};

static void put_safe(FILE *stream, const char *text)
{
    probity_report_put_safe(stream, text, strlen(text));
}

/* Formats a ratio as a change in percent; large changes have no decimals. */
static const char *change_text(double ratio, char *ret_text)
{
    double percent = 100 * (ratio - 1);

    if (isnan(ratio))
        snprintf(ret_text, CHANGE_BYTES, "-");
    else
        snprintf(ret_text, CHANGE_BYTES, "%+.*f%%", fabs(percent) < 1000 ? 1 : 0, percent);
    return ret_text;
}

/* ---- Cells -------------------------------------------------------------------------------------
 */

static const struct probity_compare_result *result_of(const void *row)
{
    const struct probity_diff_line *line = row;

    return &line->row->results[line->statistic];
}

static const char *value_text(const void *row, int side, char *text)
{
    double value = result_of(row)->median[side];

    if (isnan(value))
        return "-";
    if (((const struct probity_diff_line *)row)->statistic != PROBITY_COMPARE_CALLS)
        return probity_real_time_text(value, text);
    snprintf(text, PROBITY_TABLE_TEXT_BYTES, "%.*f", value > floor(value) ? 1 : 0, value);
    return text;
}

static const char *base_text(const void *row, char *text)
{
    return value_text(row, PROBITY_COMPARE_BASE, text);
}

static const char *new_text(const void *row, char *text)
{
    return value_text(row, PROBITY_COMPARE_NEW, text);
}

static const char *ratio_text(const void *row, char *text)
{
    return change_text(result_of(row)->ratio, text);
}

static const char *interval_text(const void *row, char *text)
{
    const struct probity_compare_result *result = result_of(row);
    char low[CHANGE_BYTES], high[CHANGE_BYTES];

    snprintf(text, PROBITY_TABLE_TEXT_BYTES, "%9s%9s",
             change_text(result->has_interval ? result->low : NAN, low),
             change_text(result->has_interval ? result->high : NAN, high));
    return text;
}

static const char *test_text(const void *row, char *text)
{
    if (!result_of(row)->is_tested)
        return "-";
    snprintf(text, PROBITY_TABLE_TEXT_BYTES, "%.2g", result_of(row)->p_adjusted);
    return text;
}

static const char *verdict_text(const void *row, char *text)
{
    const struct probity_compare_result *result = result_of(row);
    const char *name = probity_compare_verdict_name(
        result->verdict, ((const struct probity_diff_line *)row)->statistic);

    if (result->verdict != PROBITY_COMPARE_UNKNOWN || result->runs_needed == 0)
        return name;
    snprintf(text, PROBITY_TABLE_TEXT_BYTES, "%s: ~%zu runs", name, result->runs_needed);
    return text;
}

static const char *verdict_color(const void *row)
{
    enum probity_compare_verdict verdict = result_of(row)->verdict;

    return verdict == PROBITY_COMPARE_MORE   ? "\033[1;31m"
           : verdict == PROBITY_COMPARE_LESS ? "\033[32m"
                                             : "";
}

static const struct probity_table_cell cells[COLUMNS] = {
    [BASE] = {.text = base_text},
    [NEW] = {.text = new_text},
    [CHANGE] = {.text = ratio_text},
    [INTERVAL] = {.text = interval_text},
    [TEST] = {.text = test_text},
    [VERDICT] = {.text = verdict_text, .color = verdict_color, .is_left = 1, .indent = 2},
    [OF] = {.value = PROBITY_DIFF_STATISTIC, .is_left = 1}};

/* ---- Rows --------------------------------------------------------------------------------------
 */

/* File and line distinguish functions with equal names. Names of blocks and requests are unique,
 * and the table may have very many. */
static void put_name(FILE *stream, const struct probity_compare *compare,
                     const struct probity_compare_item *item)
{
    size_t count, namesakes = 0;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);

    fputs("  ", stream);
    put_safe(stream, item->kind == PROBITY_COMPARE_FUNCTION ? item->name : item->signature);
    if (item->kind != PROBITY_COMPARE_FUNCTION)
        return;
    for (size_t i = 0; namesakes < 2 && i < count; i++)
        namesakes += rows[i].item.kind == PROBITY_COMPARE_FUNCTION &&
                     strcmp(rows[i].item.name, item->name) == 0;
    if (namesakes < 2)
        return;
    fputs("  ", stream);
    put_safe(stream, item->file);
    fprintf(stream, ":%u", (unsigned)item->line);
}

static const char *title_of(const struct probity_compare *compare)
{
    static const char *const titles[] = {"function",
                                         "function",
                                         "block",
                                         "function or block",
                                         "request",
                                         "function or request",
                                         "block or request",
                                         "function, block or request"};
    size_t count;
    unsigned kinds = 0; /* bit i: there are rows of kind i */
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);

    for (size_t i = 0; i < count; i++)
        kinds |= 1u << rows[i].item.kind;
    return titles[kinds];
}

static void choose_columns(struct table *table)
{
    size_t line_columns = table->layout->line_columns;

    memcpy(table->columns, usual_columns, sizeof usual_columns);
    table->columns[VERDICT].width =
        2 + (line_columns > 0 ? VERDICT_COLUMNS_NARROW : VERDICT_COLUMNS);
    table->cells = (struct probity_table){
        .columns = table->columns,
        .cells = cells,
        .count = COLUMNS,
        .shown = probity_table_fit(table->columns, COLUMNS, line_columns),
        .values = probity_diff_columns,
        .has_color = table->layout->has_color};
}

static void put_head(const struct table *table)
{
    const struct probity_diff_layout *layout = table->layout;
    const struct probity_compare *compare = table->compare;
    FILE *stream = table->stream;
    const struct probity_compare_options *options = probity_compare_settings(compare);
    const char *start = layout->has_color ? "\033[1m" : "";
    const char *end = layout->has_color ? "\033[0m" : "";
    size_t base, other;

    probity_compare_runs(compare, PROBITY_COMPARE_BASE, &base);
    probity_compare_runs(compare, PROBITY_COMPARE_NEW, &other);
    fprintf(stream, "base: %zu run%s, new: %zu run%s; medians over runs; %g%% confidence "
            "intervals; same: within %g%%\n", base, probity_text_s(base), other,
            probity_text_s(other), 100 * options->confidence, options->tolerance_percent);
    size_t tests = probity_compare_tests(compare);
    fprintf(stream, "p: rank-sum test, Benjamini-Hochberg adjusted for %zu test%s, significant up "
            "to %.2g; ~N runs: runs needed per side\n\n", tests, probity_text_s(tests),
            1 - options->confidence);
    fputs(start, stream);
    probity_table_put_titles(stream, &table->cells);
    fprintf(stream, "  %s%s\n", title_of(compare), end);
}

/* Returns the number of omitted rows that have a line to show. */
static size_t put_rows(const struct table *table)
{
    const struct probity_diff_layout *layout = table->layout;
    const struct probity_compare *compare = table->compare;
    FILE *stream = table->stream;
    size_t count, shown = 0, left = 0;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);

    for (size_t i = 0; i < count; i++) {
        int lines = 0, is_left = layout->limit > 0 && shown >= layout->limit;
        for (int j = 0; j < PROBITY_COMPARE_STATISTICS; j++) {
            if (!probity_diff_is_shown(layout, compare, &rows[i], j))
                continue;
            lines++;
            if (is_left)
                continue;
            probity_table_put_cells(stream, &table->cells,
                                    &(const struct probity_diff_line){
                                        &rows[i], (enum probity_compare_statistic)j});
            put_name(stream, compare, &rows[i].item);
            fputc('\n', stream);
        }
        shown += lines > 0 && !is_left;
        left += lines > 0 && is_left;
    }
    fputc('\n', stream);
    if (count == 0)
        fputs("no calls, blocks or requests\n", stream);
    else if (shown == 0)
        fputs("no statistically significant change\n", stream);
    return left;
}

char *probity_diff_why_no_requests(const struct probity_compare *compare)
{
    size_t count, base, other;
    const struct probity_compare_run *run = probity_compare_without_requests(compare, &count);
    char *text = NULL;

    if (run == NULL)
        return NULL;
    probity_compare_runs(compare, PROBITY_COMPARE_BASE, &base);
    probity_compare_runs(compare, PROBITY_COMPARE_NEW, &other);
    int length = asprintf(&text, "requests are not compared: %zu of %zu runs %s stored without "
                          "them (%s%s)", count, base + other, count > 1 ? "were" : "was",
                          count > 1 ? "the first: " : "", run->path);
    return length >= 0 ? text : NULL;
}

static void put_why_no_requests(FILE *stream, const struct probity_compare *compare)
{
    char *text = probity_compare_requests_left_out(compare) > 0
                     ? probity_diff_why_no_requests(compare)
                     : NULL;

    if (text == NULL)
        return;
    put_safe(stream, text);
    fputc('\n', stream);
    free(text);
}

static void put_error(FILE *stream, const struct probity_compare *compare)
{
    double tolerance = probity_compare_settings(compare)->tolerance_percent / 100, most = 0;
    size_t count, rough = 0;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);

    for (size_t i = 0; i < count; i++) {
        rough += rows[i].quantile_error > tolerance;
        most = fmax(most, rows[i].quantile_error);
    }
    if (rough > 0)
        fprintf(stream, "median and p99 of %zu of %zu are accurate to %.2g%% from run to run; "
                "smaller changes may be missed\n", rough, count, 100 * most);
}

/* Differences within a side are worse, because its runs should be repetitions of each other. */
static void put_differences(FILE *stream, const struct probity_compare *compare)
{
    size_t count;
    const struct probity_compare_difference *differences =
        probity_compare_differences(compare, &count);

    for (size_t i = 0; i < count; i++) {
        const char *where = probity_diff_where(&differences[i]);
        if (differences[i].sides[0] == differences[i].sides[1])
            fprintf(stream, "runs of the %s side differ in %s: ", where, differences[i].what);
        else
            fprintf(stream, "runs differ in %s: ", differences[i].what);
        for (int j = 0; j < 2; j++) {
            fputs(j > 0 ? ", '" : "'", stream);
            put_safe(stream, differences[i].texts[j]);
            fputs("' in ", stream);
            put_safe(stream, differences[i].paths[j]);
        }
        fputc('\n', stream);
    }
}

static void put_runs(FILE *stream, const struct probity_compare *compare)
{
    size_t count, complete = 0, all = 0;

    for (int side = 0; side < PROBITY_COMPARE_SIDES; side++) {
        const struct probity_compare_run *runs = probity_compare_runs(compare, side, &count);
        all += count;
        for (size_t i = 0; i < count; i++) {
            complete += runs[i].is_complete != 0;
            if (runs[i].is_complete)
                continue;
            fputs("trace: ", stream);
            put_safe(stream, runs[i].path);
            fprintf(stream, ": INCOMPLETE: %s\n", runs[i].why);
        }
    }
    fprintf(stream, "traces: %zu of %zu complete\n", complete, all);
}

static void put_limits(FILE *stream, const struct probity_compare *compare)
{
    const struct probity_compare_options *options = probity_compare_settings(compare);
    size_t count;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);
    char change[CHANGE_BYTES];

    for (size_t i = 0; i < options->limit_count; i++) {
        const struct probity_compare_limit *limit = &options->limits[i];
        size_t beyond = 0;
        fprintf(stream, "limit %s: ", limit->text);
        for (size_t j = 0; j < count; j++) {
            if ((rows[j].exceeds >> i & 1) == 0)
                continue;
            fputs(beyond++ > 0 ? ", " : "exceeded by ", stream);
            put_safe(stream, rows[j].item.name);
            fprintf(stream, " (%s)",
                    change_text(rows[j].results[limit->statistic].ratio, change));
        }
        fputs(beyond > 0                               ? "\n"
              : probity_compare_limited(compare, i) == 0 ? "nothing compared matches\n"
                                                        : "not exceeded\n",
              stream);
    }
}

void probity_diff_text(FILE *stream, const struct probity_diff_layout *layout,
                       const struct probity_compare *compare)
{
    struct table table = {.stream = stream, .layout = layout, .compare = compare};
    size_t base, other, least = probity_compare_least_runs(compare);

    choose_columns(&table);
    probity_compare_runs(compare, PROBITY_COMPARE_BASE, &base);
    probity_compare_runs(compare, PROBITY_COMPARE_NEW, &other);
    put_head(&table);
    size_t left = put_rows(&table);
    probity_table_put_left(stream, usual_columns, COLUMNS, table.cells.shown, "");
    if (left > 0)
        fprintf(stream, "%zu more not shown\n", left);
    if (probity_compare_left_out(compare) > 0)
        fprintf(stream, "too many blocks: the %zu with the least time are not compared\n",
                probity_compare_left_out(compare));
    put_why_no_requests(stream, compare);
    if ((base < other ? base : other) < least)
        fprintf(stream, "too few runs for a significant result; need at least %zu per side\n",
                least);
    put_error(stream, compare);
    put_differences(stream, compare);
    put_runs(stream, compare);
    put_limits(stream, compare);
}
