/* SPDX-License-Identifier: MIT
 *
 * runs.c: the runs in a history as text, CSV and JSON.
 */
#include "answers/runs/runs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "answers/info/info.h"
#include "answers/report/report_csv.h"
#include "answers/report/report_text.h"
#include "print/json.h"
#include "print/time_text.h"
#include "probity.h"

enum { NAME_COLUMNS = 20, LABEL_COLUMNS_MAX = 60 };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static void put_safe(FILE *stream, const char *text)
{
    probity_report_put_safe(stream, text, strlen(text));
}

/* ---- Text --------------------------------------------------------------------------------------
 */

/* Width is counted in bytes: a label that is too long or not ASCII is misaligned, but not cut. */
static void put_cell(FILE *stream, const char *text, size_t columns)
{
    put_safe(stream, text);
    for (size_t i = strlen(text); i < columns; i++)
        fputc(' ', stream);
    fputs("  ", stream);
}

static size_t widest_label(const struct probity_runs *runs)
{
    size_t widest = strlen("label");

    for (size_t i = 0; i < runs->count; i++) {
        size_t bytes = strlen(runs->entries[i].run.label);
        widest = bytes > widest ? bytes : widest;
    }
    return widest < LABEL_COLUMNS_MAX ? widest : LABEL_COLUMNS_MAX;
}

static void list_text(FILE *stream, const struct probity_runs *runs)
{
    size_t columns = widest_label(runs);
    char started[PROBITY_INFO_TIME_BYTES];

    fprintf(stream, "%6s  %-*s  %-19s  %10s  %-8s  %-16s  %s\n", "run", (int)columns, "label",
            "started (UTC)", "records", "complete", "program", "host");
    for (size_t i = 0; i < runs->count; i++) {
        const struct probity_compare_run *run = &runs->entries[i].run;
        fprintf(stream, "%6" PRIu64 "  ", runs->entries[i].number);
        put_cell(stream, run->label, columns);
        fprintf(stream, "%-19s  %10" PRIu64 "  %-8s  ",
                probity_info_time_text(run->started_ns, started), run->records,
                run->is_complete ? "yes" : "NO");
        put_cell(stream, base_name(run->environment[PROBITY_COMPARE_PROGRAM]), 16);
        put_safe(stream, run->environment[PROBITY_COMPARE_HOST]);
        fputc('\n', stream);
    }
    if (runs->count == 0)
        fputs("no runs\n", stream);
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
    put_safe(stream, item->kind == PROBITY_COMPARE_BLOCK ? item->signature : item->name);
    fputc('\n', stream);
}

static void show_text(FILE *stream, const struct probity_store_entry *entry)
{
    const struct probity_compare_run *run = &entry->run;
    char time[PROBITY_INFO_TIME_BYTES];

    fprintf(stream, "%-*s%" PRIu64 "\n", NAME_COLUMNS, "run", entry->number);
    put_line(stream, "label", run->label);
    put_line(stream, "trace", run->path);
    put_line(stream, "complete", run->is_complete ? "yes" : "NO");
    put_line(stream, "why", run->why);
    put_line(stream, "started (UTC)", probity_info_time_text(run->started_ns, time));
    put_line(stream, "added (UTC)", probity_info_time_text(entry->added_ns, time));
    fprintf(stream, "%-*s%" PRIu64 "\n", NAME_COLUMNS, "records", run->records);
    for (int i = 0; i < PROBITY_COMPARE_ENVIRONMENTS; i++)
        put_line(stream, probity_compare_environment_name(i), run->environment[i]);
    fprintf(stream, "\n%10s", "calls");
    for (int i = PROBITY_COMPARE_SELF; i < PROBITY_COMPARE_STATISTICS; i++)
        fprintf(stream, "%9s", probity_compare_statistic_name((enum probity_compare_statistic)i));
    fputs("  function or block\n", stream);
    for (size_t i = 0; i < run->item_count; i++)
        put_item(stream, &run->items[i]);
}

/* ---- CSV ---------------------------------------------------------------------------------------
 */

static void put_field(FILE *stream, const char *text)
{
    fputc(',', stream);
    probity_report_csv_field(stream, text);
}

static void list_csv(FILE *stream, const struct probity_runs *runs)
{
    fputs("run,label,started_ns,added_ns,records,complete,why,functions,blocks,trace", stream);
    for (int i = 0; i < PROBITY_COMPARE_ENVIRONMENTS; i++)
        put_field(stream, probity_compare_environment_name(i));
    fputc('\n', stream);
    for (size_t i = 0; i < runs->count; i++) {
        const struct probity_store_entry *entry = &runs->entries[i];
        fprintf(stream, "%" PRIu64, entry->number);
        put_field(stream, entry->run.label);
        fprintf(stream, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d", entry->run.started_ns,
                entry->added_ns, entry->run.records, entry->run.is_complete != 0);
        put_field(stream, entry->run.why);
        fprintf(stream, ",%" PRIu64 ",%" PRIu64, entry->counts[PROBITY_COMPARE_FUNCTION],
                entry->counts[PROBITY_COMPARE_BLOCK]);
        put_field(stream, entry->run.path);
        for (int j = 0; j < PROBITY_COMPARE_ENVIRONMENTS; j++)
            put_field(stream, entry->run.environment[j]);
        fputc('\n', stream);
    }
}

static const char *const value_names[PROBITY_COMPARE_STATISTICS] = {
    "calls", "self_ns", "total_ns", "cpu_ns", "mean_ns", "median_ns", "p99_ns"};

static void show_csv(FILE *stream, const struct probity_runs *runs)
{
    fputs("run,kind,name,signature,file,line", stream);
    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++)
        put_field(stream, value_names[i]);
    fputc('\n', stream);
    for (size_t i = 0; i < runs->count; i++) {
        const struct probity_store_entry *entry = &runs->entries[i];
        for (size_t j = 0; j < entry->run.item_count; j++) {
            const struct probity_compare_item *item = &entry->run.items[j];
            fprintf(stream, "%" PRIu64 ",%s", entry->number,
                    probity_compare_kind_name(item->kind));
            put_field(stream, item->name);
            put_field(stream, item->signature);
            put_field(stream, item->file);
            fprintf(stream, ",%" PRIu32, item->line);
            for (int k = 0; k < PROBITY_COMPARE_STATISTICS; k++)
                fprintf(stream, isnan(item->values[k]) ? "," : ",%.17g", item->values[k]);
            fputc('\n', stream);
        }
    }
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static json_t *run_of(const struct probity_store_entry *entry)
{
    const struct probity_compare_run *run = &entry->run;
    json_t *object = json_object(), *environment = json_object();

    probity_json_put_integer(object, "run", entry->number);
    json_object_set_new(object, "label", *run->label != '\0' ? probity_json_string(run->label)
                                                             : json_null());
    json_object_set_new(object, "trace", probity_json_string(run->path));
    probity_json_put_integer(object, "started_ns", run->started_ns);
    probity_json_put_integer(object, "added_ns", entry->added_ns);
    probity_json_put_integer(object, "records", run->records);
    json_object_set_new(object, "complete", json_boolean(run->is_complete));
    json_object_set_new(object, "why", probity_json_string(run->why));
    probity_json_put_integer(object, "functions", entry->counts[PROBITY_COMPARE_FUNCTION]);
    probity_json_put_integer(object, "blocks", entry->counts[PROBITY_COMPARE_BLOCK]);
    for (int i = 0; i < PROBITY_COMPARE_ENVIRONMENTS; i++)
        json_object_set_new(environment, probity_compare_environment_name(i),
                            *run->environment[i] != '\0'
                                ? probity_json_string(run->environment[i])
                                : json_null());
    json_object_set_new(object, "environment", environment);
    return object;
}

static json_t *item_of(const struct probity_compare_item *item)
{
    json_t *object = json_object();

    json_object_set_new(object, "kind", json_string(probity_compare_kind_name(item->kind)));
    json_object_set_new(object, "name", probity_json_string(item->name));
    json_object_set_new(object, "signature", probity_json_string(item->signature));
    json_object_set_new(object, "file", probity_json_string(item->file));
    probity_json_put_integer(object, "line", item->line);
    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++)
        json_object_set_new(object, value_names[i],
                            isnan(item->values[i]) ? json_null() : json_real(item->values[i]));
    return object;
}

static int put_json(FILE *stream, const struct probity_runs *runs, int with_items)
{
    int error = 0;

    fputs("{\"runs\": [", stream);
    for (size_t i = 0; error == 0 && i < runs->count; i++) {
        const struct probity_store_entry *entry = &runs->entries[i];
        json_t *object = run_of(entry), *items = with_items ? json_array() : NULL;
        for (size_t j = 0; with_items && j < entry->run.item_count; j++)
            json_array_append_new(items, item_of(&entry->run.items[j]));
        if (with_items)
            json_object_set_new(object, "items", items);
        error = probity_json_write(stream, i > 0 ? ",\n" : "\n", object, 17);
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
