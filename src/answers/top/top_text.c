/* SPDX-License-Identifier: MIT
 *
 * top_text.c: the table: the last interval on the left, everything since the start on the right.
 * Columns that do not fit are omitted, and names are truncated.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "answers/report/report_text.h"
#include "answers/report/table.h"
#include "answers/top/top_print.h"
#include "print/text.h"
#include "print/time_text.h"
#include "probity.h"

#define INTERVAL "last interval"
#define ALL "since the start"

enum { COLUMNS = 12, FIRST_OF_ALL = 7 };

/* what: an enum probity_top_key. */
static const struct probity_table_column columns[COLUMNS] = {
    {.width = 10, .what = PROBITY_TOP_CALLS, .title = "calls/s", .group = INTERVAL},
    {.width = 8, .what = PROBITY_TOP_WALL, .title = "wall", .group = INTERVAL},
    {.width = 8, .rank = 2, .what = PROBITY_TOP_CPU, .title = "CPU", .group = INTERVAL},
    {.width = 8, .rank = 3, .what = PROBITY_TOP_OFF, .title = "off CPU", .group = INTERVAL},
    {.width = 8, .rank = 4, .what = PROBITY_TOP_P50, .title = "p50", .group = INTERVAL},
    {.width = 8, .rank = 1, .what = PROBITY_TOP_P99, .title = "p99", .group = INTERVAL},
    {.width = 8, .rank = 5, .what = PROBITY_TOP_MAX, .title = "max", .group = INTERVAL},
    {.width = 12, .rank = 7, .what = PROBITY_TOP_CALLS, .title = "calls", .group = ALL},
    {.width = 8, .rank = 9, .what = PROBITY_TOP_WALL, .title = "wall", .group = ALL},
    {.width = 8, .rank = 10, .what = PROBITY_TOP_CPU, .title = "CPU", .group = ALL},
    {.width = 8, .rank = 8, .what = PROBITY_TOP_P99, .title = "p99", .group = ALL},
    {.width = 8, .rank = 6, .what = PROBITY_TOP_MAX, .title = "max", .group = ALL}};

static void put_cell(FILE *stream, const struct probity_top_answer *answer,
                     const struct probity_top_row *row, int column)
{
    const struct probity_table_column *what = &columns[column];
    int is_all = column >= FIRST_OF_ALL;
    const struct probity_top_sums *sums = is_all ? &row->all : &row->interval;
    enum probity_top_key key = (enum probity_top_key)what->what;
    uint64_t value = probity_top_value(sums, key);
    char text[PROBITY_TIME_TEXT_BYTES];

    if (key == PROBITY_TOP_CALLS && is_all)
        fprintf(stream, "%*" PRIu64, what->width, value);
    else if (key == PROBITY_TOP_CALLS)
        fprintf(stream, "%*.0f", what->width,
                answer->interval_ns > 0 ? (double)value * 1e9 / (double)answer->interval_ns : 0);
    else if (sums->calls == 0 || !probity_top_is_known(row, key))
        fprintf(stream, "%*s", what->width, "-");
    else
        fprintf(stream, "%*s", what->width, probity_time_text(value, text));
}

/* Truncated to the space left by the columns. */
static void put_name(FILE *stream, const struct probity_top_row *row, size_t room)
{
    char text[1024];
    size_t bytes = strlen(row->name);

    if (row->pid != 0) {
        snprintf(text, sizeof text, "%" PRIu32 " %s", row->pid, row->name);
        bytes = strlen(text);
    }
    const char *name = row->pid != 0 ? text : row->name;
    while (room > 0 && bytes > 0 && probity_report_safe_columns(name, bytes) > room)
        bytes = probity_text_whole(name, bytes - 1);
    probity_report_put_safe(stream, name, bytes);
}

static void put_row(FILE *stream, const struct probity_top_answer *answer, uint64_t shown,
                    const struct probity_top_row *row)
{
    size_t used = 2;

    for (int i = 0; i < COLUMNS; i++) {
        if (!(shown >> i & 1))
            continue;
        put_cell(stream, answer, row, i);
        used += (size_t)columns[i].width;
    }
    fputs("  ", stream);
    put_name(stream, row, answer->line_columns > used ? answer->line_columns - used
                          : answer->line_columns > 0  ? 1
                                                      : 0);
    fputs(answer->line_end, stream);
}

static void put_head(FILE *stream, const struct probity_top_answer *answer, uint64_t shown)
{
    static const char *const names[] = {"function", "block", "process, lock",
                                        "process, thread", "process"};
    time_t at = (time_t)(answer->at_ns / 1000000000);
    char text[32] = "";
    struct tm local;

    if (localtime_r(&at, &local) != NULL)
        strftime(text, sizeof text, "%H:%M:%S", &local);
    fprintf(stream, "%s  %zu program%s recording, %s by %s, last %.1f s%s", text,
            answer->programs, probity_text_s(answer->programs),
            probity_top_view_name(answer->view), probity_top_key_name(answer->key),
            (double)answer->interval_ns / 1e9, answer->line_end);
    fputs(answer->has_colour ? "\033[1m" : "", stream);
    probity_table_put_groups(stream, columns, COLUMNS, shown);
    fputs(answer->line_end, stream);
    fputs(answer->has_colour ? "\033[1m" : "", stream);
    probity_table_put_head(stream, columns, COLUMNS, shown);
    fprintf(stream, "  %s%s%s", names[answer->view], answer->has_colour ? "\033[0m" : "",
            answer->line_end);
}

int probity_top_text(FILE *stream, const struct probity_top_answer *answer)
{
    uint64_t shown = probity_table_fit(columns, COLUMNS, answer->line_columns);
    size_t count;
    struct probity_top_row *const *rows =
        probity_top_rows(answer->top, answer->view, answer->key, &count);

    if (rows == NULL)
        return PROBITY_ERROR_MEMORY;
    put_head(stream, answer, shown);
    for (size_t i = 0; i < count && (answer->limit == 0 || i < answer->limit); i++)
        put_row(stream, answer, shown, rows[i]);
    if (count == 0)
        fprintf(stream, "no %s%s so far%s", answer->view == PROBITY_TOP_LOCKS ? "waits for " : "",
                probity_top_view_name(answer->view), answer->line_end);
    return 0;
}
