/* SPDX-License-Identifier: MIT
 *
 * runs.c: the runs in a history as text, CSV and JSON.
 */
#include "answers/runs/runs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "answers/info/info.h"
#include "answers/report/report_text.h"
#include "answers/report/table.h"
#include "print/columns.h"
#include "print/csv_cell.h"
#include "print/json.h"
#include "print/time_text.h"
#include "probity.h"

enum { NAME_COLUMNS = 20, LABEL_COLUMNS_MAX = 60 };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* ---- Columns -----------------------------------------------------------------------------------
 */

#define RUN_COLUMN(NAME, KIND, FROM)                                                               \
    PROBITY_COLUMN(NAME, KIND, struct probity_store_entry, FROM)

/* In another user's history, this may be any 64-bit value; JSON readers accept signed integers. */
static struct probity_cell probity_cell_stored(uint64_t value)
{
    return value <= INT64_MAX ? probity_cell_count(value) : probity_cell_unknown();
}

static struct probity_cell number(const void *row)
{
    const struct probity_store_entry *entry = row;

    return entry->id[0] != '\0' ? probity_cell_text(entry->id) : probity_cell_stored(entry->number);
}

RUN_COLUMN(label, text, *row->run.label != '\0' ? row->run.label : NULL)
RUN_COLUMN(started, stored, row->run.started_ns)
RUN_COLUMN(added, stored, row->added_ns)
RUN_COLUMN(records, stored, row->run.records)
RUN_COLUMN(complete, flag, row->run.is_complete)
RUN_COLUMN(why, text, row->run.why)
RUN_COLUMN(functions, stored, row->counts[PROBITY_COMPARE_FUNCTION])
RUN_COLUMN(blocks, stored, row->counts[PROBITY_COMPARE_BLOCK])
RUN_COLUMN(requests, stored, row->counts[PROBITY_COMPARE_REQUEST])
RUN_COLUMN(trace, text, row->run.path)
RUN_COLUMN(label_or_none, text, row->run.label)
RUN_COLUMN(program, text, base_name(row->run.environment[PROBITY_COMPARE_PROGRAM]))

/* The CSV has the columns up to RUN_COLUMNS, in this order. */
enum { RUN, LABEL, STARTED, ADDED, RECORDS, COMPLETE, WHY, FUNCTIONS, BLOCKS, REQUESTS, TRACE,
       RUN_COLUMNS, PROGRAM = RUN_COLUMNS, TEXT_LABEL };

static const struct probity_column run_columns[] = {
    [RUN] = {"run", number},            [LABEL] = {"label", label},
    [STARTED] = {"started_ns", started}, [ADDED] = {"added_ns", added},
    [RECORDS] = {"records", records},   [COMPLETE] = {"complete", complete},
    [WHY] = {"why", why},               [FUNCTIONS] = {"functions", functions},
    [BLOCKS] = {"blocks", blocks},      [REQUESTS] = {"requests", requests},
    [TRACE] = {"trace", trace},         [PROGRAM] = {"program", program},
    [TEXT_LABEL] = {"label", label_or_none}};

#define ITEM_COLUMN(NAME, KIND, FROM)                                                              \
    PROBITY_COLUMN(NAME, KIND, struct probity_compare_item, FROM)

#define STATISTIC(NAME, WHICH)                                                                     \
    static struct probity_cell NAME(const void *row)                                               \
    {                                                                                              \
        return probity_cell_real(((const struct probity_compare_item *)row)->values[WHICH], 17);   \
    }

ITEM_COLUMN(kind, text, probity_compare_kind_name(row->kind))
ITEM_COLUMN(name, text, row->name)
ITEM_COLUMN(signature, text, row->signature)
ITEM_COLUMN(file, text, row->file)
ITEM_COLUMN(line, count, row->line)
STATISTIC(calls, PROBITY_COMPARE_CALLS)
STATISTIC(self, PROBITY_COMPARE_SELF)
STATISTIC(total, PROBITY_COMPARE_TOTAL)
STATISTIC(cpu, PROBITY_COMPARE_CPU)
STATISTIC(mean, PROBITY_COMPARE_MEAN)
STATISTIC(median, PROBITY_COMPARE_MEDIAN)
STATISTIC(p99, PROBITY_COMPARE_P99)

static const struct probity_column item_columns[] = {
    {"kind", kind},       {"name", name},         {"signature", signature}, {"file", file},
    {"line", line},       {"calls", calls},       {"self_ns", self},        {"total_ns", total},
    {"cpu_ns", cpu},      {"mean_ns", mean},      {"median_ns", median},    {"p99_ns", p99}};

enum { ITEM_COLUMNS = sizeof item_columns / sizeof *item_columns };

static void put_safe(FILE *stream, const char *text)
{
    probity_report_put_safe(stream, text, strlen(text));
}

/* ---- Text --------------------------------------------------------------------------------------
 */

_Static_assert((int)PROBITY_TABLE_TEXT_BYTES >= (int)PROBITY_INFO_TIME_BYTES, "started_text()");

static const char *started_text(const void *row, char *text)
{
    return probity_info_time_text(((const struct probity_store_entry *)row)->run.started_ns, text);
}

enum { TEXT_COLUMNS = 6 };

static const struct probity_table_column usual_columns[TEXT_COLUMNS] = {
    {.width = 6, .title = "run"},       {.width = 0, .title = "label"},
    {.width = 21, .title = "started (UTC)"}, {.width = 12, .title = "records"},
    {.width = 10, .title = "complete"}, {.width = 18, .title = "program"}};

static const struct probity_table_cell cells[TEXT_COLUMNS] = {
    {.value = RUN},
    {.value = TEXT_LABEL, .is_left = 1, .indent = 2},
    {.text = started_text, .is_left = 1, .indent = 2},
    {.value = RECORDS},
    {.value = COMPLETE, .is_left = 1, .indent = 2},
    {.value = PROGRAM, .is_left = 1, .indent = 2}};

static size_t widest_label(const struct probity_runs *runs)
{
    size_t widest = strlen("label");

    for (size_t i = 0; i < runs->count; i++) {
        const char *text = runs->entries[i].run.label;
        size_t columns = probity_report_safe_columns(text, strlen(text));
        widest = columns > widest ? columns : widest;
    }
    return widest < LABEL_COLUMNS_MAX ? widest : LABEL_COLUMNS_MAX;
}

static void list_text(FILE *stream, const struct probity_runs *runs)
{
    struct probity_table_column columns[TEXT_COLUMNS];
    const struct probity_table table = {.columns = columns,
                                        .cells = cells,
                                        .count = TEXT_COLUMNS,
                                        .shown = (1 << TEXT_COLUMNS) - 1,
                                        .values = run_columns};

    memcpy(columns, usual_columns, sizeof columns);
    columns[LABEL].width = 2 + (int)widest_label(runs);
    if (runs->count > 0 && runs->entries[0].id[0] != '\0')
        columns[RUN].width = (int)strlen(runs->entries[0].id);
    probity_table_put_titles(stream, &table);
    fputs("  host\n", stream);
    for (size_t i = 0; i < runs->count; i++) {
        probity_table_put_cells(stream, &table, &runs->entries[i]);
        fputs("  ", stream);
        put_safe(stream, runs->entries[i].run.environment[PROBITY_COMPARE_HOST]);
        fputc('\n', stream);
    }
    if (runs->count == 0)
        fputs("no runs\n", stream);
}

static void put_number(FILE *stream, const struct probity_store_entry *entry)
{
    if (entry->id[0] != '\0')
        fputs(entry->id, stream);
    else
        fprintf(stream, "%" PRIu64, entry->number);
}

static void put_line(FILE *stream, const char *name, const char *text)
{
    if (*text == '\0')
        return;
    fprintf(stream, "%-*s", NAME_COLUMNS, name);
    put_safe(stream, text);
    fputc('\n', stream);
}

static void put_item(FILE *stream, const struct probity_compare_item *item)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    fprintf(stream, "%10.0f", item->values[PROBITY_COMPARE_CALLS]);
    for (int i = PROBITY_COMPARE_SELF; i < PROBITY_COMPARE_STATISTICS; i++)
        fprintf(stream, "%9s",
                isnan(item->values[i])
                    ? "-"
                    : probity_real_time_text(item->values[i], text));
    fputs("  ", stream);
    put_safe(stream, item->kind == PROBITY_COMPARE_FUNCTION ? item->name : item->signature);
    fputc('\n', stream);
}

static void show_text(FILE *stream, const struct probity_store_entry *entry)
{
    const struct probity_compare_run *run = &entry->run;
    char time[PROBITY_INFO_TIME_BYTES];

    fprintf(stream, "%-*s", NAME_COLUMNS, "run");
    put_number(stream, entry);
    fputc('\n', stream);
    put_line(stream, "label", run->label);
    put_line(stream, "trace", run->path);
    put_line(stream, "complete", run->is_complete ? "yes" : "NO");
    put_line(stream, "why", run->why);
    put_line(stream, "started (UTC)", probity_info_time_text(run->started_ns, time));
    put_line(stream, "added (UTC)", probity_info_time_text(entry->added_ns, time));
    fprintf(stream, "%-*s%" PRIu64 "\n", NAME_COLUMNS, "records", run->records);
    for (int i = 0; i < PROBITY_COMPARE_ENVIRONMENTS; i++)
        put_line(stream, probity_compare_environment_name(i), run->environment[i]);
    put_line(stream, "requests",
             run->has_requests ? "" : "unknown: the run was stored without them");
    fprintf(stream, "\n%10s", "calls");
    for (int i = PROBITY_COMPARE_SELF; i < PROBITY_COMPARE_STATISTICS; i++)
        fprintf(stream, "%9s", probity_compare_statistic_name((enum probity_compare_statistic)i));
    fputs("  function, block or request\n", stream);
    for (size_t i = 0; i < run->item_count; i++)
        put_item(stream, &run->items[i]);
}

/* ---- CSV ---------------------------------------------------------------------------------------
 */

static void list_csv(FILE *stream, const struct probity_runs *runs)
{
    fputs(run_columns[RUN].name, stream);
    probity_columns_put_names(stream, run_columns + LABEL, RUN_COLUMNS - LABEL);
    for (int i = 0; i < PROBITY_COMPARE_ENVIRONMENTS; i++)
        fprintf(stream, ",%s", probity_compare_environment_name(i));
    fputc('\n', stream);
    for (size_t i = 0; i < runs->count; i++) {
        const struct probity_store_entry *entry = &runs->entries[i];
        put_number(stream, entry);
        probity_columns_put_csv(stream, run_columns + LABEL, RUN_COLUMNS - LABEL, entry);
        for (int j = 0; j < PROBITY_COMPARE_ENVIRONMENTS; j++) {
            fputc(',', stream);
            probity_csv_cell_put(stream, entry->run.environment[j]);
        }
        fputc('\n', stream);
    }
}

static void show_csv(FILE *stream, const struct probity_runs *runs)
{
    fputs(run_columns[RUN].name, stream);
    probity_columns_put_names(stream, item_columns, ITEM_COLUMNS);
    fputc('\n', stream);
    for (size_t i = 0; i < runs->count; i++) {
        const struct probity_store_entry *entry = &runs->entries[i];
        for (size_t j = 0; j < entry->run.item_count; j++) {
            put_number(stream, entry);
            probity_columns_put_csv(stream, item_columns, ITEM_COLUMNS, &entry->run.items[j]);
            fputc('\n', stream);
        }
    }
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static int put_environment(FILE *stream, const struct probity_compare_run *run)
{
    int error = 0;

    fputs(", \"environment\": {", stream);
    for (int i = 0; error == 0 && i < PROBITY_COMPARE_ENVIRONMENTS; i++) {
        const char *text = run->environment[i];
        fprintf(stream, "%s\"%s\": ", i > 0 ? ", " : "", probity_compare_environment_name(i));
        error = probity_json_put_text(stream, *text != '\0' ? text : NULL);
    }
    fputc('}', stream);
    return error;
}

static int put_items(FILE *stream, const struct probity_compare_run *run)
{
    int error = 0;

    fputs(", \"items\": [", stream);
    for (size_t i = 0; error == 0 && i < run->item_count; i++) {
        fputs(i > 0 ? ", {" : "{", stream);
        error = probity_columns_put_json(stream, item_columns, ITEM_COLUMNS, &run->items[i]);
        fputc('}', stream);
    }
    fputc(']', stream);
    return error;
}

static int put_run(FILE *stream, const struct probity_store_entry *entry, int with_items)
{
    static const unsigned char members[] = {RUN,      LABEL, TRACE,     STARTED, ADDED,
                                            RECORDS, COMPLETE, WHY, FUNCTIONS, BLOCKS,
                                            REQUESTS};

    fputc('{', stream);
    int error = probity_columns_put_members(stream, run_columns, members, sizeof members, entry);
    if (error == 0)
        error = put_environment(stream, &entry->run);
    if (error == 0 && with_items)
        error = put_items(stream, &entry->run);
    fputc('}', stream);
    return error;
}

static int put_json(FILE *stream, const struct probity_runs *runs, int with_items)
{
    int error = 0;

    fputs("{\"runs\": [", stream);
    for (size_t i = 0; error == 0 && i < runs->count; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        error = put_run(stream, &runs->entries[i], with_items);
    }
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}

int probity_runs_list(FILE *stream, enum probity_runs_form form, const struct probity_runs *runs)
{
    if (form == PROBITY_RUNS_JSON)
        return put_json(stream, runs, 0);
    if (form == PROBITY_RUNS_CSV)
        list_csv(stream, runs);
    else
        list_text(stream, runs);
    return 0;
}

int probity_runs_show(FILE *stream, enum probity_runs_form form, const struct probity_runs *runs)
{
    if (form == PROBITY_RUNS_JSON)
        return put_json(stream, runs, 1);
    if (form == PROBITY_RUNS_CSV)
        show_csv(stream, runs);
    for (size_t i = 0; form == PROBITY_RUNS_TEXT && i < runs->count; i++) {
        if (i > 0)
            fputc('\n', stream);
        show_text(stream, &runs->entries[i]);
    }
    return 0;
}
