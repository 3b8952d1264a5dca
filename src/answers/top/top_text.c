/* SPDX-License-Identifier: MIT
 *
 * top_text.c: prints the table: the last interval on the left, everything since the start on the
 * right. Columns that do not fit are omitted, and names are truncated.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "answers/report/report_text.h"
#include "answers/report/table.h"
#include "answers/top/top_print.h"
#include "print/text.h"
#include "probity.h"

#define INTERVAL "last interval"
#define ALL "since the start"

enum { COLUMNS = 12 };

static const struct probity_table_column columns[COLUMNS] = {
    {.width = 10, .title = "calls/s", .group = INTERVAL},
    {.width = 8, .title = "wall", .group = INTERVAL},
    {.width = 8, .rank = 2, .title = "CPU", .group = INTERVAL},
    {.width = 8, .rank = 3, .title = "off CPU", .group = INTERVAL},
    {.width = 8, .rank = 4, .title = "p50", .group = INTERVAL},
    {.width = 8, .rank = 1, .title = "p99", .group = INTERVAL},
    {.width = 8, .rank = 5, .title = "max", .group = INTERVAL},
    {.width = 12, .rank = 7, .title = "calls", .group = ALL},
    {.width = 8, .rank = 9, .title = "wall", .group = ALL},
    {.width = 8, .rank = 10, .title = "CPU", .group = ALL},
    {.width = 8, .rank = 8, .title = "p99", .group = ALL},
    {.width = 8, .rank = 6, .title = "max", .group = ALL}};

/* Formats a rate without the decimals that the JSON has. */
static const char *rate_text(const void *line, char *text)
{
    snprintf(text, PROBITY_TABLE_TEXT_BYTES, "%.0f",
             probity_top_columns[PROBITY_TOP_RATE].cell(line).fraction);
    return text;
}

static const struct probity_table_cell cells[COLUMNS] = {
    {.value = PROBITY_TOP_RATE, .text = rate_text},
    {.value = PROBITY_TOP_INTERVAL + PROBITY_TOP_WALL},
    {.value = PROBITY_TOP_INTERVAL + PROBITY_TOP_CPU},
    {.value = PROBITY_TOP_INTERVAL + PROBITY_TOP_OFF},
    {.value = PROBITY_TOP_INTERVAL + PROBITY_TOP_P50},
    {.value = PROBITY_TOP_INTERVAL + PROBITY_TOP_P99},
    {.value = PROBITY_TOP_INTERVAL + PROBITY_TOP_MAX},
    {.value = PROBITY_TOP_ALL + PROBITY_TOP_CALLS},
    {.value = PROBITY_TOP_ALL + PROBITY_TOP_WALL},
    {.value = PROBITY_TOP_ALL + PROBITY_TOP_CPU},
    {.value = PROBITY_TOP_ALL + PROBITY_TOP_P99},
    {.value = PROBITY_TOP_ALL + PROBITY_TOP_MAX}};

/* Prints a name, truncated to the space left by the columns. */
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

static void put_row(FILE *stream, const struct probity_table *table,
                    const struct probity_top_line *line)
{
    size_t used = 2, room = line->answer->line_columns;

    for (int i = 0; i < COLUMNS; i++)
        used += table->shown >> i & 1 ? (size_t)columns[i].width : 0;
    probity_table_put_cells(stream, table, line);
    fputs("  ", stream);
    put_name(stream, line->row, room > used ? room - used : room > 0 ? 1 : 0);
    fputs(line->answer->line_end, stream);
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
    fputs(answer->has_color ? "\033[1m" : "", stream);
    probity_table_put_groups(stream, columns, COLUMNS, shown);
    fputs(answer->line_end, stream);
    fputs(answer->has_color ? "\033[1m" : "", stream);
    probity_table_put_head(stream, columns, COLUMNS, shown);
    fprintf(stream, "  %s%s%s", names[answer->view], answer->has_color ? "\033[0m" : "",
            answer->line_end);
}

/* Prints that there are no rows. Many programs have only functions or only probes: if so, points to
 * the other view. */
static int put_none(FILE *stream, const struct probity_top_answer *answer)
{
    const enum probity_top_view other =
        answer->view == PROBITY_TOP_FUNCTIONS ? PROBITY_TOP_BLOCKS : PROBITY_TOP_FUNCTIONS;
    size_t others = 0;

    if (answer->view <= PROBITY_TOP_BLOCKS &&
        probity_top_rows(answer->top, other, answer->key, &others) == NULL)
        return PROBITY_ERROR_MEMORY;
    fprintf(stream, "no %s%s so far", answer->view == PROBITY_TOP_LOCKS ? "waits for " : "",
            probity_top_view_name(answer->view));
    if (others > 0 && answer->takes_keys)
        fprintf(stream, ", only %s: press %c", probity_top_view_name(other),
                probity_top_view_name(other)[0]);
    else if (others > 0)
        fprintf(stream, ", only %s: --by %s", probity_top_view_name(other),
                probity_top_view_name(other));
    fputs(answer->line_end, stream);
    return 0;
}

int probity_top_text(FILE *stream, const struct probity_top_answer *answer)
{
    const struct probity_table table = {
        .columns = columns,
        .cells = cells,
        .count = COLUMNS,
        .shown = probity_table_fit(columns, COLUMNS, answer->line_columns),
        .values = probity_top_columns};
    size_t count;
    struct probity_top_row *const *rows =
        probity_top_rows(answer->top, answer->view, answer->key, &count);

    if (rows == NULL)
        return PROBITY_ERROR_MEMORY;
    put_head(stream, answer, table.shown);
    for (size_t i = 0; i < count && (answer->limit == 0 || i < answer->limit); i++)
        put_row(stream, &table, &(const struct probity_top_line){answer, rows[i]});
    return count > 0 ? 0 : put_none(stream, answer);
}
