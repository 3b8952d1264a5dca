/* SPDX-License-Identifier: MIT
 *
 * csv_cell.c: escapes first, then quotes. The backslash is escaped, too, because an escaped line
 * feed must differ from a backslash followed by an n.
 */
#include "print/csv_cell.h"

#include <string.h>

#include "print/text.h"

int probity_csv_cell_is_quoted(const char *text, size_t bytes)
{
    return memchr(text, ',', bytes) != NULL || memchr(text, '"', bytes) != NULL;
}

char *probity_csv_cell_piece(char *at, const char **text, size_t *bytes)
{
    const char *from = *text, *quote;
    size_t left = *bytes < PROBITY_CSV_CELL_PIECE ? *bytes : PROBITY_CSV_CELL_PIECE;
    size_t whole = left < *bytes ? probity_text_whole(from, left) : left;

    left = whole > 0 ? whole : left;
    *text += left;
    *bytes -= left;
    const char *end = at + PROBITY_CSV_CELL_ROOM;
    while ((quote = memchr(from, '"', left)) != NULL) {
        size_t before = (size_t)(quote - from);
        at = probity_text_put(at, end, from, before, '\\');
        *at++ = '"';
        *at++ = '"';
        from = quote + 1;
        left -= before + 1;
    }
    return probity_text_put(at, end, from, left, '\\');
}

void probity_csv_cell_put(FILE *stream, const char *text)
{
    char piece[PROBITY_CSV_CELL_ROOM];
    size_t bytes = strlen(text);
    int is_quoted = probity_csv_cell_is_quoted(text, bytes);

    if (is_quoted)
        fputc('"', stream);
    while (bytes > 0) {
        const char *end = probity_csv_cell_piece(piece, &text, &bytes);
        fwrite(piece, 1, (size_t)(end - piece), stream);
    }
    if (is_quoted)
        fputc('"', stream);
}
