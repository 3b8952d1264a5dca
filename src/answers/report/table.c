/* SPDX-License-Identifier: MIT
 *
 * table.c: parts of tables. Colors only repeat information that is in the text.
 */
#include "answers/report/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "answers/report/safe_text.h"
#include "print/time_text.h"

_Static_assert((int)PROBITY_TABLE_TEXT_BYTES >= (int)PROBITY_TIME_TEXT_BYTES, "cell_text()");

uint64_t probity_table_fit(const struct probity_table_column *columns, size_t count,
                           size_t line_columns)
{
    size_t needed = PROBITY_TABLE_NAME_COLUMNS + 2;
    uint64_t shown = 0;

    for (size_t i = 0; i < count; i++) {
        needed += (size_t)columns[i].width;
        shown |= (uint64_t)(columns[i].width > 0) << i;
    }
    while (line_columns > 0 && needed > line_columns) {
        size_t worst = count;
        for (size_t i = 0; i < count; i++) {
            if (shown >> i & 1 && columns[i].rank > (worst < count ? columns[worst].rank : 0))
                worst = i;
        }
        if (worst == count)
            break;
        shown &= ~(UINT64_C(1) << worst);
        needed -= (size_t)columns[worst].width;
    }
    return shown;
}

void probity_table_put_groups(FILE *stream, const struct probity_table_column *columns,
                              size_t count, uint64_t shown)
{
    int at = 0, end = 0; /* columns so far, end of the groups so far */

    for (size_t i = 0, next; i < count; i = next) {
        const char *title = columns[i].group;
        int width = 0, members = 0;
        for (next = i; next < count && columns[next].group == columns[i].group; next++) {
            int is_shown = shown >> next & 1;
            width += is_shown ? columns[next].width : 0;
            members += is_shown;
        }
        end += width;
        if (title == NULL || members == 0)
            continue;
        title = (int)strlen(title) + members / 2 < width ? title : columns[i].narrow;
        fprintf(stream, "%*s", end - members / 2 - at, title);
        at = end - members / 2;
    }
}

void probity_table_put_head(FILE *stream, const struct probity_table_column *columns, size_t count,
                            uint64_t shown)
{
    for (size_t i = 0; i < count; i++) {
        if (shown >> i & 1)
            fprintf(stream, "%*s", columns[i].width, columns[i].title);
    }
}

void probity_table_put_left(FILE *stream, const struct probity_table_column *columns, size_t count,
                            uint64_t shown, const char *hint)
{
    size_t left = 0, named = 0;

    for (size_t i = 0; i < count; i++)
        left += columns[i].width > 0 && !(shown >> i & 1);
    for (size_t i = 0; i < count; i++) {
        if (columns[i].width == 0 || shown >> i & 1)
            continue;
        fprintf(stream, "%s%s%s", named > 0 ? "" : "hidden column",
                named > 0   ? ", "
                : left > 1 ? "s: "
                           : ": ",
                columns[i].name != NULL ? columns[i].name : columns[i].title);
        named++;
    }
    if (left > 0)
        fprintf(stream, "%s\n", hint);
}

/* ---- Values of columns -------------------------------------------------------------------------
 */

/* A share that is not 0 is never shown as 0. */
static void percent_text(double fraction, char *ret_text)
{
    double percent = 100 * fraction;

    if (percent > 0 && percent < 0.05)
        snprintf(ret_text, PROBITY_TABLE_TEXT_BYTES, "<0.1%%");
    else
        snprintf(ret_text, PROBITY_TABLE_TEXT_BYTES, "%.1f%%", percent);
}

/* Formats a value that is not a text from a trace. */
static const char *cell_text(struct probity_cell cell, char *ret_text)
{
    enum { ROOM = PROBITY_TABLE_TEXT_BYTES };

    switch (cell.kind) {
    case PROBITY_CELL_COUNT: snprintf(ret_text, ROOM, "%" PRIu64, cell.count); break;
    case PROBITY_CELL_NS: return probity_time_text(cell.count, ret_text);
    case PROBITY_CELL_FLAG: return cell.count != 0 ? "yes" : "NO";
    case PROBITY_CELL_FRACTION: percent_text(cell.fraction, ret_text); break;
    case PROBITY_CELL_REAL:
    case PROBITY_CELL_WHOLE:
    case PROBITY_CELL_NUMBER:
        if (isnan(cell.fraction))
            return "-";
        snprintf(ret_text, ROOM, "%.*g", (int)cell.digits, cell.fraction);
        break;
    case PROBITY_CELL_DECIMAL:
        if (!isfinite(cell.fraction))
            return "-";
        snprintf(ret_text, ROOM, "%.*f", (int)cell.digits, cell.fraction);
        break;
    default: return "-";
    }
    return ret_text;
}

/* Returns the number of characters for a cell, after its indent. */
static int width_of(const struct probity_table *table, size_t at)
{
    return table->columns[at].width - table->cells[at].indent;
}

static void put_aligned(FILE *stream, const struct probity_table *table, size_t at,
                        const char *text)
{
    fprintf(stream, table->cells[at].is_left ? "%-*s" : "%*s", width_of(table, at), text);
}

/* Writes a text from a trace. */
static void put_safe(FILE *stream, const struct probity_table *table, size_t at, const char *text)
{
    size_t bytes = strlen(text), used = probity_report_safe_columns(text, bytes);
    size_t width = (size_t)width_of(table, at);
    int blanks = used < width ? (int)(width - used) : 0;

    fprintf(stream, "%*s", table->cells[at].is_left ? 0 : blanks, "");
    probity_report_put_safe(stream, text, bytes);
    fprintf(stream, "%*s", table->cells[at].is_left ? blanks : 0, "");
}

static void put_cell(FILE *stream, const struct probity_table *table, size_t at, const void *row)
{
    const struct probity_table_cell *cell = &table->cells[at];
    char text[PROBITY_TABLE_TEXT_BYTES];

    const char *special = cell->text != NULL ? cell->text(row, text) : NULL;
    if (special != NULL) {
        put_aligned(stream, table, at, special);
        return;
    }
    struct probity_cell value = table->values[cell->value].cell(row);
    if (value.kind == PROBITY_CELL_TEXT && value.text != NULL)
        put_safe(stream, table, at, value.text);
    else
        put_aligned(stream, table, at, cell_text(value, text));
}

void probity_table_put_titles(FILE *stream, const struct probity_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (!(table->shown >> i & 1))
            continue;
        fprintf(stream, "%*s", table->cells[i].indent, "");
        put_aligned(stream, table, i, table->columns[i].title);
    }
}

void probity_table_put_cells(FILE *stream, const struct probity_table *table, const void *row)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct probity_table_cell *cell = &table->cells[i];
        if (!(table->shown >> i & 1))
            continue;
        const char *color = table->has_color && cell->color != NULL ? cell->color(row) : "";
        fprintf(stream, "%*s%s", cell->indent, "", color);
        put_cell(stream, table, i, row);
        fputs(*color != '\0' ? "\033[0m" : "", stream);
    }
}

/* ---- Charts and colors -------------------------------------------------------------------------
 */

void probity_table_put_spread(FILE *stream, int is_utf8,
                              const uint64_t counts[PROBITY_SPARKLINE_CELLS])
{
    static const char *const blocks[] = {" ", "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    enum { HEIGHTS = 8 };
    uint64_t most = 1;

    for (int i = 0; i < PROBITY_SPARKLINE_CELLS; i++)
        most = counts[i] > most ? counts[i] : most;
    for (int i = 0; i < PROBITY_SPARKLINE_CELLS; i++) {
        /* Rounds up, so that every count is visible. */
        double share = (double)counts[i] / (double)most * HEIGHTS;
        int height = (int)share + (share > (int)share);
        fputs(is_utf8 ? blocks[height] : plain[height], stream);
    }
}

void probity_table_put_scale(FILE *stream, const struct probity_sparkline *spread)
{
    char from[PROBITY_TIME_TEXT_BYTES], to[PROBITY_TIME_TEXT_BYTES];

    probity_time_text(probity_sparkline_least(spread, 0), from);
    probity_time_text(probity_sparkline_least(spread, PROBITY_SPARKLINE_CELLS), to);
    fprintf(stream, "distribution: time per call from %s to %s, ", from, to);
    if (spread->bits > 0)
        fprintf(stream, "%u cells per doubling", 1u << spread->bits);
    else
        fprintf(stream, "each cell %g times as long as the previous",
                (double)(UINT64_C(1) << spread->each));
    fputs("; height: calls\n", stream);
}

const char *probity_table_begin_share(FILE *stream, double share)
{
    const char *color = share >= 0.25   ? "\033[1;31m"
                         : share >= 0.05 ? "\033[33m"
                         : share < 0.001 ? "\033[2m"
                                         : "";

    fputs(color, stream);
    return *color != '\0' ? "\033[0m" : "";
}
