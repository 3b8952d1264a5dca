/* SPDX-License-Identifier: MIT
 *
 * hist_text.c: draws bars. The fullest row has the longest bar, and each row with a count has a bar
 * of at least an eighth of a column.
 */
#include "answers/hist/hist_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "answers/report/table.h"
#include "print/text.h"
#include "print/time_text.h"

/* Widths of parts of a line: before the bar, and for all marks after it. */
enum { HEAD_COLUMNS = 39, MARK_COLUMNS = 12, BAR_MIN = 10, EIGHTHS = 8 };

enum { COLUMNS = 4 };

static const struct probity_table_column columns[COLUMNS] = {
    {.width = 9, .title = "from"},
    {.width = 9, .title = "below"},
    {.width = 11, .title = "calls"},
    {.width = 8, .title = "share"}};

static const struct probity_table_cell cells[COLUMNS] = {{.value = PROBITY_HIST_FROM},
                                                         {.value = PROBITY_HIST_BELOW},
                                                         {.value = PROBITY_HIST_CALLS},
                                                         {.value = PROBITY_HIST_SHARE}};

static const struct probity_table table = {.columns = columns,
                                           .cells = cells,
                                           .count = COLUMNS,
                                           .shown = (1 << COLUMNS) - 1,
                                           .values = probity_hist_columns};

static size_t bar_columns(const struct probity_hist_answer *answer)
{
    return answer->columns > HEAD_COLUMNS + MARK_COLUMNS + BAR_MIN
               ? answer->columns - HEAD_COLUMNS - MARK_COLUMNS
               : BAR_MIN;
}

static void put_bar(FILE *stream, const struct probity_hist_answer *answer, uint64_t count,
                    uint64_t most)
{
    static const char *const parts[EIGHTHS] = {"", "\u258f", "\u258e", "\u258d",
                                               "\u258c", "\u258b", "\u258a", "\u2589"};
    size_t unit = answer->is_utf8 ? EIGHTHS : 1;
    double share = most > 0 ? (double)count / (double)most : 0;
    size_t length = (size_t)(share * (double)(bar_columns(answer) * unit) + 0.5);

    if (count == 0)
        return;
    length = length > 0 ? length : 1;
    fputs("  ", stream);
    for (size_t i = 0; i < length / unit; i++)
        fputs(answer->is_utf8 ? "\u2588" : "#", stream);
    if (answer->is_utf8)
        fputs(parts[length % unit], stream);
}

/* Marks the percentiles that are in this row. */
static void put_marks(FILE *stream, const struct probity_hist *hist,
                      const struct probity_hist_row *row)
{
    for (int i = 0; i < PROBITY_HIST_MARKS; i++) {
        if (hist->marks[i] >= row->least && hist->marks[i] < row->end)
            fprintf(stream, " p%u", probity_hist_marks[i] / 10);
    }
}

static void put_row(FILE *stream, const struct probity_hist_line *line)
{
    const struct probity_hist *hist = &line->entry->hist;

    probity_table_put_cells(stream, &table, line);
    put_bar(stream, line->answer, line->row->count, hist->most);
    put_marks(stream, hist, line->row);
    fputc('\n', stream);
}

static void put_summary(FILE *stream, const struct probity_hist *hist)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    fprintf(stream, "min %s", probity_time_text(hist->min, text));
    fprintf(stream, ", mean %s", probity_time_text(hist->mean, text));
    for (int i = 0; i < PROBITY_HIST_MARKS; i++)
        fprintf(stream, ", p%u %s", probity_hist_marks[i] / 10,
                probity_time_text(hist->marks[i], text));
    fprintf(stream, ", max %s\n", probity_time_text(hist->max, text));
}

static void put_entry(FILE *stream, int has_color, const struct probity_hist_answer *answer,
                      const struct probity_hist_entry *entry)
{
    const struct probity_hist *hist = &entry->hist;
    const char *start = has_color ? "\033[1m" : "", *end = has_color ? "\033[0m" : "";

    fputs(start, stream);
    probity_report_put_safe(stream, entry->name, strlen(entry->name));
    fprintf(stream, "%s: %s, %" PRIu64 " call%s\n", end, answer->title, hist->count,
            probity_text_s(hist->count));
    if (entry->calls > hist->count)
        fprintf(stream, "%" PRIu64 " more call%s without this time%s\n",
                entry->calls - hist->count, probity_text_s(entry->calls - hist->count),
                entry->counted > 0 ? ": only counted (budget, or switched off)" : "");
    if (entry->is_least)
        fputs("and more that were not even counted, to keep within the budget\n", stream);
    if (entry->error > 0.01)
        fprintf(stream, "counted in profile mode: times are accurate to %.0f %%, and a call may be "
                "in an adjacent row\n", 100 * entry->error);
    if (hist->count > 0) {
        put_summary(stream, hist);
        fputs(start, stream);
        probity_table_put_titles(stream, &table);
        fprintf(stream, "%s\n", end);
    }
    for (size_t i = 0; i < hist->row_count; i++)
        put_row(stream, &(const struct probity_hist_line){answer, entry, &hist->rows[i]});
    fputc('\n', stream);
}

void probity_hist_text(FILE *stream, int has_color, const struct probity_hist_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++)
        put_entry(stream, has_color, answer, &answer->entries[i]);
    probity_report_foot(stream, has_color, answer->reader, answer->repairs);
}
