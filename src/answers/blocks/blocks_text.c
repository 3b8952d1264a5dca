/* SPDX-License-Identifier: MIT
 *
 * blocks_text.c: the table of blocks.
 */
#include "answers/blocks/blocks_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/blocks/blocks.h"
#include "answers/report/report_text.h"
#include "answers/report/table.h"
#include "print/text.h"
#include "print/time_text.h"

enum what {
    CALLS, SHARE, WALL, CORRECTED, ERROR, CPU, OFF, MIN, MEAN, P50, P90, P99, MAX, COLUMNS
};

/* what: the title of the time column, from the sort key. */
static const struct probity_table_column usual_columns[COLUMNS] = {
    [CALLS] = {.width = 10, .title = "calls"},
    [SHARE] = {.width = 8, .title = "share"},
    [WALL] = {.width = 9, .title = "wall", .what = PROBITY_BLOCKS_TOTAL},
    [CPU] = {.width = 9, .rank = 1, .title = "CPU", .what = PROBITY_BLOCKS_CPU},
    [OFF] = {.width = 9, .rank = 4, .title = "off CPU", .what = PROBITY_BLOCKS_OFF},
    [MIN] = {.width = 9, .rank = 8, .title = "min", .what = PROBITY_BLOCKS_MIN},
    [MEAN] = {.width = 9, .rank = 2, .title = "mean", .what = PROBITY_BLOCKS_MEAN},
    [P50] = {.width = 9, .rank = 6, .title = "p50", .what = PROBITY_BLOCKS_P50},
    [P90] = {.width = 9, .rank = 7, .title = "p90", .what = PROBITY_BLOCKS_P90},
    [P99] = {.width = 9, .rank = 3, .title = "p99", .what = PROBITY_BLOCKS_P99},
    [MAX] = {.width = 9, .rank = 5, .title = "max", .what = PROBITY_BLOCKS_MAX}};

/* A table that is being written. */
struct table {
    FILE *stream;
    const struct probity_blocks_layout *layout;
    const struct probity_blocks_answer *answer;
    struct probity_table_column columns[COLUMNS];
    uint64_t shown; /* one bit per column */
    int has_pids;
};

static int is_shown(const struct table *table, enum what column)
{
    return table->shown >> column & 1;
}

size_t probity_blocks_shown(const struct probity_blocks_answer *answer)
{
    return answer->limit > 0 && answer->limit < answer->count ? answer->limit : answer->count;
}

void probity_blocks_put_probe(FILE *stream, const struct probity_probe *probe)
{
    int is_like_number = probe->is_site && strspn(probe->text, "0123456789") == strlen(probe->text);

    fputs(is_like_number ? "'" : "", stream);
    probity_report_put_safe(stream, probe->text, strlen(probe->text));
    fputs(is_like_number ? "'" : "", stream);
    if (probe->name == NULL)
        return;
    fputs(" (", stream);
    probity_report_put_safe(stream, probe->name, strlen(probe->name));
    fputc(')', stream);
}

static void put_time(const struct table *table, enum what column, uint64_t ns, int is_known)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    if (is_shown(table, column))
        fprintf(table->stream, "%*s", table->columns[column].width,
                is_known ? probity_time_text(ns, text) : "-");
}

static void put_corrected(const struct table *table, const struct probity_blocks_pair *pair)
{
    struct probity_corrected corrected = {.ns = 0};
    int is_known = is_shown(table, CORRECTED) &&
                   probity_blocks_corrected(pair, table->answer->reader, &corrected);

    if (is_known) {
        fputc(' ', table->stream);
        probity_report_put_corrected(table->stream, corrected);
    } else if (is_shown(table, CORRECTED)) {
        fprintf(table->stream, "%*s", table->columns[CORRECTED].width, "-");
    }
    put_time(table, ERROR, corrected.error_ns, is_known);
}

static uint64_t value_of(const struct table *table, const struct probity_blocks_pair *pair,
                         enum what column)
{
    return probity_blocks_value(pair, (enum probity_blocks_key)table->columns[column].what);
}

static void put_times(const struct table *table, const struct probity_blocks_pair *pair)
{
    uint64_t millionths = probity_blocks_value(pair, PROBITY_BLOCKS_PROBABILITY);

    fprintf(table->stream, "%*" PRIu64 "%*.1f%%", table->columns[CALLS].width, pair->calls,
            table->columns[SHARE].width - 1, (double)millionths / 10000);
    put_time(table, WALL, value_of(table, pair, WALL), 1);
    put_corrected(table, pair);
    for (enum what column = CPU; column < COLUMNS; column++)
        put_time(table, column, value_of(table, pair, column),
                 column >= MIN || pair->cpu_calls > 0);
}

/* Prints when an instance started, in seconds since recording started, like --since and the log. */
static void put_instance(const struct table *table, const struct probity_blocks_instance *instance)
{
    FILE *stream = table->stream;
    int64_t at_ns = (int64_t)(instance->at_ns - table->answer->start_ns);
    uint64_t cpu_ns = instance->cpu_ns;
    uint64_t off_ns = instance->wall_ns > cpu_ns ? instance->wall_ns - cpu_ns : 0;

    fprintf(stream, "%8s at%13.9fs", "slow", (double)at_ns / 1e9);
    put_time(table, WALL, instance->wall_ns, 1);
    put_time(table, CPU, cpu_ns, instance->is_cpu_known);
    put_time(table, OFF, off_ns, instance->is_cpu_known);
    fputs("  ", stream);
    probity_report_put_thread(stream, instance->thread, table->has_pids);
    fputc('\n', stream);
}

static void put_pair(const struct table *table, const struct probity_blocks_pair *pair)
{
    FILE *stream = table->stream;

    put_times(table, pair);
    fputs("  ", stream);
    probity_blocks_put_probe(stream, pair->from);
    fputs(" -> ", stream);
    probity_blocks_put_probe(stream, pair->to);
    fputc('\n', stream);
    for (size_t i = 0; i < pair->row_count; i++) {
        put_times(table, pair->rows[i]);
        fputs("    ", stream);
        probity_report_put_thread(stream, pair->rows[i]->thread, table->has_pids);
        fputc('\n', stream);
    }
    for (size_t i = 0; table->answer->has_slowest && i < pair->slowest_count; i++)
        put_instance(table, &pair->slowest[i]);
}

static void put_head(const struct table *table)
{
    fputs(table->layout->has_color ? "\033[1m" : "", table->stream);
    probity_table_put_head(table->stream, table->columns, COLUMNS, table->shown);
    fprintf(table->stream, "  block%s\n", table->layout->has_color ? "\033[0m" : "");
}

static void put_notes(const struct table *table)
{
    const struct probity_blocks_answer *answer = table->answer;
    size_t shown = probity_blocks_shown(answer);

    if (answer->count == 0 && answer->are_chosen)
        fputs("no matching blocks\n", table->stream);
    else if (answer->count == 0)
        fprintf(table->stream, "no consecutive hits with the same %s\n",
                answer->by_correlation ? "correlation id" : "thread");
    if (answer->forgotten > 0)
        fprintf(table->stream, "%" PRIu64 " ids evicted: too many in flight\n", answer->forgotten);
    if (shown < answer->count)
        fprintf(table->stream, "%zu more block%s %s not shown\n", answer->count - shown,
                probity_text_s(answer->count - shown), probity_text_are(answer->count - shown));
    probity_table_put_left(table->stream, table->columns, COLUMNS, table->shown, "");
}

static void choose_columns(struct table *table)
{
    memcpy(table->columns, usual_columns, sizeof usual_columns);
    if (table->layout->is_corrected) {
        table->columns[CORRECTED] =
            (struct probity_table_column){.width = 11, .title = "corrected"};
        table->columns[ERROR] = (struct probity_table_column){.width = 9, .title = "+-"};
    }
    table->shown = probity_table_fit(table->columns, COLUMNS, table->layout->line_columns);
}

void probity_blocks_text(FILE *stream, const struct probity_blocks_layout *layout,
                         const struct probity_blocks_answer *answer)
{
    const struct probity_scopes_repairs none = {0};
    struct table table = {.stream = stream, .layout = layout, .answer = answer,
                          .has_pids = probity_reader_traces(answer->reader) > 1};
    size_t shown = probity_blocks_shown(answer);

    choose_columns(&table);
    put_head(&table);
    for (size_t i = 0; i < shown; i++)
        put_pair(&table, answer->pairs[i]);
    fputc('\n', stream);
    put_notes(&table);
    if (layout->is_corrected)
        probity_report_put_overhead(stream, answer->reader);
    probity_report_foot(stream, layout->has_color, answer->reader, &none);
}
