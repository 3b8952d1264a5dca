/* SPDX-License-Identifier: MIT
 *
 * model_text.c: a workload model as text tables.
 */
#include "answers/model/model_print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "answers/blocks/blocks_print.h"
#include "answers/model/model_columns.h"
#include "answers/report/report_text.h"
#include "print/time_text.h"

struct page {
    FILE *stream;
    const char *bold, *plain;
};

/* Prints mean, p50 and p99, or dashes if nothing was counted. */
static void put_times(FILE *stream, const struct probity_duration_stats *times)
{
    static const unsigned char shown[] = {MODEL_TIMES_MEAN, MODEL_TIMES_P50, MODEL_TIMES_P99};
    char text[PROBITY_TIME_TEXT_BYTES];

    for (size_t i = 0; i < sizeof shown; i++) {
        struct probity_cell cell = probity_model_times_columns[shown[i]].cell(times);
        fprintf(stream, "%9s",
                cell.kind == PROBITY_CELL_COUNT ? probity_time_text(cell.count, text) : "-");
    }
}

static void put_share(FILE *stream, const char *before, const struct probity_column *column,
                      const void *row, const char *after)
{
    struct probity_cell cell = column->cell(row);

    fputs(before, stream);
    if (cell.kind == PROBITY_CELL_DECIMAL)
        fprintf(stream, "%.2f %%", 100 * cell.fraction);
    else
        fputs("an unknown share", stream);
    fputs(after, stream);
}

/* Lines that are printed for counts other than 0. */
struct note {
    int column;
    const char *text;
};

static void put_notes(FILE *stream, const char *before, const struct probity_column *columns,
                      const struct note *notes, size_t count, const void *row)
{
    for (size_t i = 0; i < count; i++) {
        struct probity_cell cell = columns[notes[i].column].cell(row);
        if (cell.kind == PROBITY_CELL_COUNT && cell.count > 0)
            fprintf(stream, "%s%" PRIu64 " %s\n", before, cell.count, notes[i].text);
    }
}

/* ---- Groups ------------------------------------------------------------------------------------
 */

static void put_block(FILE *stream, const struct probity_model_block *block)
{
    const struct probity_column *columns = probity_model_block_columns;

    fprintf(stream, "%10" PRIu64 "%8.2f%%", columns[MODEL_BLOCK_COUNT].cell(block).count,
            100 * columns[MODEL_BLOCK_PROBABILITY].cell(block).fraction);
    put_times(stream, &block->cpu);
    put_times(stream, &block->off);
    fputs("  ", stream);
    probity_blocks_put_probe(stream, block->from->probe);
    fputs(" -> ", stream);
    probity_blocks_put_probe(stream, block->to->probe);
    fputc('\n', stream);
}

static void put_demand(FILE *stream, const char *what, const struct probity_duration_stats *times)
{
    fprintf(stream, "%10" PRIu64 "%9s", times->count, "");
    put_times(stream, times);
    fprintf(stream, "%27s  %s\n", "", what);
}

/* Prints demands in the columns of blocks, with wall times in place of CPU times. */
static void put_demands(FILE *stream, const struct probity_model_group *group)
{
    if (group->run_queue.count > 0 || group->calls != NULL)
        fprintf(stream, "%10s%9s%9s%9s%9s%27s  %s\n", "count", "", "wall", "p50", "p99", "",
                "demand");
    if (group->run_queue.count > 0)
        put_demand(stream, "waits for a CPU", &group->run_queue);
    for (const struct probity_model_call *call = group->calls; call != NULL; call = call->next)
        put_demand(stream, call->name, &call->wall);
}

static void put_group(const struct page *page, const struct probity_model_group *group)
{
    FILE *stream = page->stream;

    fprintf(stream, "%sgroup %" PRIu32 ": ", page->bold, group->number);
    if (group->name != NULL)
        probity_report_put_safe(stream, group->name, strlen(group->name));
    else
        fputs("(no name)", stream);
    fprintf(stream, "%s, %" PRIu64 " thread%s, %" PRIu64 " hits", page->plain, group->threads,
            group->threads == 1 ? "" : "s", group->hits);
    put_share(stream, ", ", &probity_model_group_columns[MODEL_GROUP_CPU_SHARE], group,
              " of its time on the CPU\n");
    fprintf(stream, "%10s%9s%9s%9s%9s%9s%9s%9s  %s\n", "count", "share", "CPU", "p50", "p99",
            "off CPU", "p50", "p99", "block");
    for (size_t i = 0; i < group->block_count; i++)
        put_block(stream, group->blocks[i]);
    put_demands(stream, group);
    fputc('\n', stream);
}

/* ---- Stations ----------------------------------------------------------------------------------
 */

static const struct {
    const char *noun, *arrivals, *stay, *level, *departures;
} words[PROBITY_MODEL_KINDS] = {
    [PROBITY_MODEL_QUEUE] = {"queue", "put", "waiting", "items", "got"},
    [PROBITY_MODEL_LOCK] = {"lock", "taken", "held", "holders", "released"},
    [PROBITY_MODEL_REQUEST] = {"requests", "begun", "response", "in flight", "ended"},
    [PROBITY_MODEL_CONDITION] = {"condition", "waits", "waiting", "waiters", "woken"}};

static void put_row(FILE *stream, const char *what, const struct probity_duration_stats *times)
{
    fprintf(stream, "  %-13s", what);
    put_times(stream, times);
    fputc('\n', stream);
}

static void put_oddities(FILE *stream, const struct probity_model_station *station)
{
    static const struct note notes[] = {
        {MODEL_STATION_LEFT, "remaining at the end"},
        {MODEL_STATION_STRAYS, "departures without an arrival in the trace"},
        {MODEL_STATION_AGAIN, "arrivals while already present"},
        {MODEL_STATION_FORGOTTEN, "evicted: too many in flight"}};

    put_notes(stream, "  ", probity_model_station_columns[station->kind], notes,
              sizeof notes / sizeof *notes, station);
}

static void put_station(const struct page *page, const struct probity_model_station *station)
{
    const struct probity_model_little *little = &station->little;
    FILE *stream = page->stream;

    fprintf(stream, "%s%s ", page->bold, words[station->kind].noun);
    probity_report_put_safe(stream, station->name, strlen(station->name));
    fprintf(stream, "%s: %" PRIu64 " %s, %" PRIu64 " %s, %.6g per second\n", page->plain,
            station->arrivals, words[station->kind].arrivals, station->departures,
            words[station->kind].departures, little->rate_s);
    fprintf(stream, "  %-13s%9s%9s%9s\n", "", "mean", "p50", "p99");
    put_row(stream, "interarrival", &station->gaps);
    put_row(stream, words[station->kind].stay, &station->stays);
    if (station->kind == PROBITY_MODEL_LOCK) {
        put_row(stream, "wait", &station->waits);
        put_share(stream, "  ", &probity_model_contention_column, station,
                  " of holders had to wait\n");
    }
    fprintf(stream, "  %s: mean %.6g, at most %" PRIu64 "; %.2f %% off Little's law\n",
            words[station->kind].level, little->length, station->level.max,
            100 * fabs(little->difference));
    put_oddities(stream, station);
    fputc('\n', stream);
}

/* ---- The tables --------------------------------------------------------------------------------
 */

static void put_checks(FILE *stream, const struct probity_model_result *result)
{
    const struct probity_column *columns = probity_model_check_columns;
    static const struct note notes[] = {
        {MODEL_CHECK_ENDS, "requests whose beginning is not in the trace"},
        {MODEL_CHECK_IDS, "ids evicted: too many in flight"},
        {MODEL_CHECK_HITS, "hits of queues, locks, requests or conditions beyond the limit"},
        {MODEL_CHECK_THREADS, "threads share one group: too many different ones"}};

    put_share(stream, "blocks explain ", &columns[MODEL_CHECK_WALL], result,
              " of the threads' time, ");
    put_share(stream, "", &columns[MODEL_CHECK_CPU], result, " of their CPU time\n");
    put_notes(stream, "", columns, notes, sizeof notes / sizeof *notes, result);
}

void probity_model_text(FILE *stream, int has_color, const struct probity_reader *reader,
                        const struct probity_model_result *result, size_t rows_max)
{
    const struct probity_scopes_repairs none = {0};
    const struct page page = {stream, has_color ? "\033[1m" : "", has_color ? "\033[0m" : ""};
    char text[PROBITY_TIME_TEXT_BYTES];

    fprintf(stream, "%" PRIu64 " hits of %" PRIu64 " threads in %s", result->hits,
            result->threads, probity_time_text(result->to_ns - result->from_ns, text));
    if (result->cores > 0)
        fprintf(stream, " on %" PRIu64 " cores\n\n", result->cores);
    else
        fputs(", number of cores unknown\n\n", stream);
    for (size_t i = 0; i < probity_model_shown(result->group_count, rows_max); i++)
        put_group(&page, result->groups[i]);
    for (int kind = 0; kind < PROBITY_MODEL_KINDS; kind++) {
        size_t count = probity_model_shown(result->station_counts[kind], rows_max);
        for (size_t i = 0; i < count; i++)
            put_station(&page, result->stations[kind][i]);
    }
    put_checks(stream, result);
    probity_report_foot(stream, has_color, reader, &none);
}
