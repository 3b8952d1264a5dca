/* SPDX-License-Identifier: MIT
 *
 * memory_text.c: the table of memory. Names come last in each row, because call paths are long.
 */
#include "answers/memory/memory_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "answers/report/table.h"
#include "print/bytes_text.h"
#include "print/text.h"
#include "print/time_text.h"

enum what { ALLOCATIONS, BYTES, PEAK, PEAK_BLOCKS, LIVE, LIVE_BLOCKS, LIFE, COLUMNS };

static const struct probity_table_column columns[COLUMNS] = {
    [ALLOCATIONS] = {.width = 11, .title = "allocations"},
    [BYTES] = {.width = 10, .rank = 1, .title = "bytes"},
    [PEAK] = {.width = 10, .title = "at peak"},
    [PEAK_BLOCKS] = {.width = 9, .rank = 4, .title = "blocks"},
    [LIVE] = {.width = 10, .title = "at end"},
    [LIVE_BLOCKS] = {.width = 9, .rank = 3, .title = "blocks"},
    [LIFE] = {.width = 10, .rank = 2, .title = "lifetime"}};

size_t probity_memory_shown(const struct probity_memory_answer *answer)
{
    return answer->limit > 0 && answer->limit < answer->rows->count ? answer->limit
                                                                    : answer->rows->count;
}

/* ---- Course of the live bytes ------------------------------------------------------------------
 */

static void put_course(FILE *stream, int is_utf8, const struct probity_memory_facts *facts)
{
    uint64_t cells[PROBITY_SPARKLINE_CELLS] = {0};
    char most[PROBITY_BYTES_TEXT_BYTES], end[PROBITY_BYTES_TEXT_BYTES];

    for (size_t i = 0; i < facts->moments; i++) {
        size_t cell = i * PROBITY_SPARKLINE_CELLS / facts->moments;
        if (facts->most[i] > cells[cell])
            cells[cell] = facts->most[i];
    }
    fputs("live bytes  ", stream);
    probity_table_put_spread(stream, is_utf8, cells);
    fprintf(stream, "  peak %s, at the end %s\n\n",
            probity_bytes_text(facts->sums.peak_bytes, most),
            probity_bytes_text(facts->sums.live_bytes, end));
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

struct table {
    FILE *stream;
    uint64_t shown; /* one bit per column */
};

static void put_count(const struct table *table, enum what column, uint64_t count)
{
    if (table->shown >> column & 1)
        fprintf(table->stream, "%*" PRIu64, columns[column].width, count);
}

static void put_bytes(const struct table *table, enum what column, uint64_t bytes)
{
    char text[PROBITY_BYTES_TEXT_BYTES];

    if (table->shown >> column & 1)
        fprintf(table->stream, "%*s", columns[column].width, probity_bytes_text(bytes, text));
}

static void put_sums(const struct table *table, const struct probity_memory_sums *sums)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    put_count(table, ALLOCATIONS, sums->allocations);
    put_bytes(table, BYTES, sums->bytes);
    put_bytes(table, PEAK, sums->peak_bytes);
    put_count(table, PEAK_BLOCKS, sums->peak_blocks);
    put_bytes(table, LIVE, sums->live_bytes);
    put_count(table, LIVE_BLOCKS, sums->live_blocks);
    if (table->shown >> LIFE & 1)
        fprintf(table->stream, "%*s", columns[LIFE].width,
                sums->frees > 0 ? probity_time_text(sums->lifetime_ns / sums->frees, text) : "-");
    fputs("  ", table->stream);
}

static void put_row(const struct table *table, const struct probity_memory_row *row, uint64_t all)
{
    const char *end = probity_table_begin_share(
        table->stream, all > 0 ? (double)row->sums.peak_bytes / (double)all : 0);

    put_sums(table, &row->sums);
    fputs(end, table->stream);
    probity_report_put_safe(table->stream, row->text, strlen(row->text));
    fputc('\n', table->stream);
}

static void put_plain_row(const struct table *table, const struct probity_memory_row *row)
{
    put_sums(table, &row->sums);
    probity_report_put_safe(table->stream, row->text, strlen(row->text));
    fputc('\n', table->stream);
}

/* ---- Notes -------------------------------------------------------------------------------------
 */

static void put_notes(FILE *stream, const struct probity_memory_facts *facts)
{
    if (facts->sums.failed > 0)
        fprintf(stream, "%" PRIu64 " allocation%s failed\n", facts->sums.failed,
                probity_text_s(facts->sums.failed));
    if (facts->counted_ns > 0)
        fprintf(stream, "allocations and frees were only counted from %.3f s after the first on, "
                "to keep within the budget: figures are as of then\n",
                (double)(facts->counted_ns - facts->start_ns) / 1e9);
    if (facts->unknown_frees > 0)
        fprintf(stream, "%" PRIu64 " block%s %s freed without a recorded allocation\n",
                facts->unknown_frees, probity_text_s(facts->unknown_frees),
                probity_text_were(facts->unknown_frees));
    if (facts->reused > 0)
        fprintf(stream, "%" PRIu64 " block%s %s not recorded as freed, though the address was "
                        "allocated again\n", facts->reused, probity_text_s(facts->reused),
                probity_text_were(facts->reused));
}

void probity_memory_text(FILE *stream, int has_color, int is_utf8, size_t line_columns,
                         const struct probity_memory_answer *answer)
{
    const struct table table = {stream, probity_table_fit(columns, COLUMNS, line_columns)};
    size_t shown = probity_memory_shown(answer);

    if (answer->facts->moments > 0)
        put_course(stream, is_utf8, answer->facts);
    fputs(has_color ? "\033[1m" : "", stream);
    probity_table_put_head(stream, columns, COLUMNS, table.shown);
    fprintf(stream, "  where%s\n", has_color ? "\033[0m" : "");
    for (size_t i = 0; i < shown; i++) {
        if (has_color)
            put_row(&table, answer->rows->rows[i], answer->facts->sums.peak_bytes);
        else
            put_plain_row(&table, answer->rows->rows[i]);
    }
    put_sums(&table, &answer->facts->sums);
    fputs("in all\n\n", stream);
    if (shown < answer->rows->count)
        fprintf(stream, "%zu more row%s\n", answer->rows->count - shown,
                probity_text_s(answer->rows->count - shown));
    probity_table_put_left(stream, columns, COLUMNS, table.shown, "");
    put_notes(stream, answer->facts);
    probity_report_foot(stream, has_color, answer->reader, answer->repairs);
}
