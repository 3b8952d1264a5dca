/* SPDX-License-Identifier: MIT
 *
 * blocks_text.c: the table of blocks.
 */
#include "output/blocks_text.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/blocks_cost.h"
#include "output/report_text.h"
#include "output/table.h"

enum what {
    CALLS, SHARE, WALL, CORRECTED, ERROR, CPU, OFF, MIN, MEAN, P50, P90, P99, MAX, COLUMNS
};

/* rank: as struct probity_table_column has it. key: of times. */
static const struct {
    const char *title;
    enum probity_blocks_key key;
    int width, rank;
} columns[COLUMNS] = {
    [CALLS] = {"calls", 0, 10, 0},
    [SHARE] = {"share", 0, 8, 0},
    [WALL] = {"wall", PROBITY_BLOCKS_TOTAL, 9, 0},
    [CORRECTED] = {"corrected", 0, 11, 0},
    [ERROR] = {"+-", 0, 9, 0},
    [CPU] = {"CPU", PROBITY_BLOCKS_CPU, 9, 1},
    [OFF] = {"off CPU", PROBITY_BLOCKS_OFF, 9, 4},
    [MIN] = {"min", PROBITY_BLOCKS_MIN, 9, 8},
    [MEAN] = {"mean", PROBITY_BLOCKS_MEAN, 9, 2},
    [P50] = {"p50", PROBITY_BLOCKS_P50, 9, 6},
    [P90] = {"p90", PROBITY_BLOCKS_P90, 9, 7},
    [P99] = {"p99", PROBITY_BLOCKS_P99, 9, 3},
    [MAX] = {"max", PROBITY_BLOCKS_MAX, 9, 5}};

/* A table while it is written. */
struct table {
    FILE *stream;
    const struct probity_blocks_layout *layout;
    const struct probity_blocks_answer *answer;
    unsigned shown; /* bits of columns */
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
    char text[PROBITY_REPORT_TIME_BYTES];

    if (is_shown(table, column))
        fprintf(table->stream, "%*s", columns[column].width,
                is_known ? probity_report_time_text(ns, text) : "-");
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
        fprintf(table->stream, "%*s", columns[CORRECTED].width, "-");
    }
    put_time(table, ERROR, corrected.error_ns, is_known);
}

static void put_times(const struct table *table, const struct probity_blocks_pair *pair)
{
    uint64_t millionths = probity_blocks_value(pair, PROBITY_BLOCKS_PROBABILITY);

    fprintf(table->stream, "%*" PRIu64 "%*.1f%%", columns[CALLS].width, pair->calls,
            columns[SHARE].width - 1, (double)millionths / 10000);
    put_time(table, WALL, probity_blocks_value(pair, columns[WALL].key), 1);
    put_corrected(table, pair);
    for (enum what column = CPU; column < COLUMNS; column++)
        put_time(table, column, probity_blocks_value(pair, columns[column].key),
                 column >= MIN || pair->cpu_calls > 0);
}

/* When an instance began, as seconds since recording did: --since and the log have these. */
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

static unsigned choose_columns(const struct probity_blocks_layout *layout)
{
    struct probity_table_column fitted[COLUMNS];

    for (int i = 0; i < COLUMNS; i++) {
        int is_left = (i == CORRECTED || i == ERROR) && !layout->is_corrected;
        fitted[i] = (struct probity_table_column){is_left ? 0 : columns[i].width, columns[i].rank};
    }
    unsigned shown = (unsigned)probity_table_fit(fitted, COLUMNS, layout->line_columns);
    return layout->is_corrected ? shown : shown & ~(1u << CORRECTED | 1u << ERROR);
}

static void put_head(const struct table *table)
{
    fputs(table->layout->has_colour ? "\033[1m" : "", table->stream);
    for (enum what column = CALLS; column < COLUMNS; column++) {
        if (is_shown(table, column))
            fprintf(table->stream, "%*s", columns[column].width, columns[column].title);
    }
    fprintf(table->stream, "  block%s\n", table->layout->has_colour ? "\033[0m" : "");
}

static void put_notes(const struct table *table)
{
    const struct probity_blocks_answer *answer = table->answer;
    const char *before = "no room for the columns ";
    size_t shown = probity_blocks_shown(answer);

    if (answer->count == 0 && answer->are_chosen)
        fputs("no such blocks\n", table->stream);
    else if (answer->count == 0)
        fprintf(table->stream, "no hits of one %s that follow each other\n",
                answer->by_correlation ? "correlation id" : "thread");
    if (answer->forgotten > 0)
        fprintf(table->stream, "%" PRIu64 " ids were forgotten: more were open at a time than are "
                "kept\n", answer->forgotten);
    if (shown < answer->count)
        fprintf(table->stream, "%zu more blocks are not shown\n", answer->count - shown);
    for (enum what column = CPU; column < COLUMNS; column++) {
        if (is_shown(table, column))
            continue;
        fprintf(table->stream, "%s%s", before, columns[column].title);
        before = ", ";
    }
    fputs(*before == ',' ? "\n" : "", table->stream);
}

void probity_blocks_text(FILE *stream, const struct probity_blocks_layout *layout,
                         const struct probity_blocks_answer *answer)
{
    const struct probity_scopes_repairs none = {0};
    const struct table table = {stream, layout, answer, choose_columns(layout),
                                probity_reader_traces(answer->reader) > 1};
    size_t shown = probity_blocks_shown(answer);

    put_head(&table);
    for (size_t i = 0; i < shown; i++)
        put_pair(&table, answer->pairs[i]);
    fputc('\n', stream);
    put_notes(&table);
    if (layout->is_corrected)
        probity_report_put_overhead(stream, answer->reader);
    probity_report_foot(stream, layout->has_colour, answer->reader, &none);
}
