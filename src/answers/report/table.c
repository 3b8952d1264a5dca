/* SPDX-License-Identifier: MIT
 *
 * table.c: parts of tables. Color repeats what the text says, so nothing is lost without it.
 */
#include "answers/report/table.h"

#include <string.h>

#include "print/time_text.h"

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
        /* Rounded up, so that every count is visible. */
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
    const char *colour = share >= 0.25   ? "\033[1;31m"
                         : share >= 0.05 ? "\033[33m"
                         : share < 0.001 ? "\033[2m"
                                         : "";

    fputs(colour, stream);
    return *colour != '\0' ? "\033[0m" : "";
}
