/* SPDX-License-Identifier: MIT
 *
 * hist_json.c: histograms as one JSON object.
 */
#include "answers/hist/hist_json.h"

#include <inttypes.h>

#include "answers/report/report_json.h"
#include "probity.h"

static void put_rows(FILE *stream, const struct probity_hist *hist)
{
    for (size_t i = 0; i < hist->row_count; i++) {
        const struct probity_hist_row *row = &hist->rows[i];
        fprintf(stream, "%s{\"from_ns\": %" PRIu64 ", \"below_ns\": %" PRIu64
                ", \"calls\": %" PRIu64 ", \"share\": %.6f}", i > 0 ? ", " : "", row->least,
                row->end, row->count, (double)row->count / (double)hist->count);
    }
}

static int put_entry(FILE *stream, const struct probity_hist_entry *entry)
{
    const struct probity_hist *hist = &entry->hist;

    fputs("{\"name\": ", stream);
    int error = probity_report_json_string(stream, entry->name);
    fputs(", \"file\": ", stream);
    if (error == 0)
        error = probity_report_json_string(stream, entry->file);
    if (entry->file != NULL)
        fprintf(stream, ", \"line\": %" PRIu32, entry->line);
    else
        fputs(", \"line\": null", stream);
    fprintf(stream, ", \"calls\": %" PRIu64 ", \"calls_counted\": %" PRIu64
            ", \"calls_are_least\": %s"
            ", \"measured\": %" PRIu64 ", \"min_ns\": %" PRIu64 ", \"mean_ns\": %" PRIu64,
            entry->calls, entry->counted, entry->is_least ? "true" : "false", hist->count,
            hist->min, hist->mean);
    for (int i = 0; i < PROBITY_HIST_MARKS; i++)
        fprintf(stream, ", \"p%u_ns\": %" PRIu64, probity_hist_marks[i] / 10, hist->marks[i]);
    fprintf(stream, ", \"max_ns\": %" PRIu64 ", \"percentile_error\": %.8g, \"buckets\": [",
            hist->max, entry->error);
    put_rows(stream, hist);
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
