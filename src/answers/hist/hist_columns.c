/* SPDX-License-Identifier: MIT
 *
 * hist_columns.c: columns of a histogram and of its rows; writes histograms as CSV and JSON.
 */
#include "answers/hist/hist_print.h"
#include "answers/report/report_json.h"
#include "probity.h"

#define LINE_COLUMN(NAME, KIND, FROM) PROBITY_COLUMN(NAME, KIND, struct probity_hist_line, FROM)

LINE_COLUMN(name, text, row->entry->name)
LINE_COLUMN(file, text, row->entry->file)
LINE_COLUMN(from, ns, row->row->least)
LINE_COLUMN(below, ns, row->row->end)
LINE_COLUMN(row_calls, count, row->row->count)
LINE_COLUMN(share, fraction, (double)row->row->count / (double)row->entry->hist.count)

static struct probity_cell line(const void *row)
{
    const struct probity_hist_entry *entry = ((const struct probity_hist_line *)row)->entry;

    return entry->file != NULL ? probity_cell_count(entry->line) : probity_cell_unknown();
}

const struct probity_column probity_hist_columns[PROBITY_HIST_COLUMNS] = {
    [PROBITY_HIST_NAME] = {"name", name},        [PROBITY_HIST_FILE] = {"file", file},
    [PROBITY_HIST_LINE] = {"line", line},        [PROBITY_HIST_FROM] = {"from_ns", from},
    [PROBITY_HIST_BELOW] = {"below_ns", below},  [PROBITY_HIST_CALLS] = {"calls", row_calls},
    [PROBITY_HIST_SHARE] = {"share", share}};

#define FIGURE(NAME, KIND, FROM) PROBITY_COLUMN(NAME, KIND, struct probity_hist_entry, FROM)

FIGURE(calls, count, row->calls)
FIGURE(counted, count, row->counted)
FIGURE(are_least, flag, row->is_least)
FIGURE(measured, count, row->hist.count)
FIGURE(min, ns, row->hist.min)
FIGURE(mean, ns, row->hist.mean)
FIGURE(p50, ns, row->hist.marks[0])
FIGURE(p90, ns, row->hist.marks[1])
FIGURE(p99, ns, row->hist.marks[2])
FIGURE(max, ns, row->hist.max)

static struct probity_cell error(const void *row)
{
    return probity_cell_real(((const struct probity_hist_entry *)row)->error, 8);
}

/* Values that are only in the JSON. */
static const struct probity_column figures[] = {
    {"calls", calls},         {"calls_counted", counted}, {"calls_are_least", are_least},
    {"measured", measured},   {"min_ns", min},            {"mean_ns", mean},
    {"p50_ns", p50},          {"p90_ns", p90},            {"p99_ns", p99},
    {"max_ns", max},          {"percentile_error", error}};

enum { FIGURES = sizeof figures / sizeof *figures };

void probity_hist_csv(FILE *stream, const struct probity_hist_answer *answer)
{
    probity_columns_put_head(stream, probity_hist_columns, PROBITY_HIST_COLUMNS);
    for (size_t i = 0; i < answer->count; i++) {
        const struct probity_hist_entry *entry = &answer->entries[i];
        for (size_t j = 0; j < entry->hist.row_count; j++) {
            const struct probity_hist_line line = {answer, entry, &entry->hist.rows[j]};
            probity_columns_put_line(stream, probity_hist_columns, PROBITY_HIST_COLUMNS, &line);
        }
    }
}

static int put_rows(FILE *stream, const struct probity_hist_entry *entry)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < entry->hist.row_count; i++) {
        const struct probity_hist_line line = {.entry = entry, .row = &entry->hist.rows[i]};
        fputs(i > 0 ? ", {" : "{", stream);
        error = probity_columns_put_json(stream, probity_hist_columns + PROBITY_HIST_FROM,
                                         PROBITY_HIST_COLUMNS - PROBITY_HIST_FROM, &line);
        fputc('}', stream);
    }
    return error;
}

static int put_entry(FILE *stream, const struct probity_hist_entry *entry)
{
    const struct probity_hist_line line = {.entry = entry};

    fputc('{', stream);
    int error = probity_columns_put_json(stream, probity_hist_columns, PROBITY_HIST_FROM, &line);
    fputs(", ", stream);
    if (error == 0)
        error = probity_columns_put_json(stream, figures, FIGURES, entry);
    fputs(", \"buckets\": [", stream);
    if (error == 0)
        error = put_rows(stream, entry);
    fputs("]}", stream);
    return error;
}

int probity_hist_json(FILE *stream, const struct probity_hist_answer *answer)
{
    int error = probity_report_json_head(stream, answer->reader, answer->repairs);

    fprintf(stream, ",\n\"measure\": \"%s\", \"scale\": \"%s\",\n\"histograms\": [",
            answer->measure, answer->is_linear ? "linear" : "log");
    for (size_t i = 0; error == 0 && i < answer->count; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        error = put_entry(stream, &answer->entries[i]);
    }
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
