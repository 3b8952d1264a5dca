/* SPDX-License-Identifier: MIT
 *
 * columns.c: writes the columns of a result as CSV and JSON.
 */
#include "print/columns.h"

#include <inttypes.h>

static void put_cell(FILE *stream, struct probity_cell cell, const char *unknown)
{
    switch (cell.kind) {
    case PROBITY_CELL_COUNT: fprintf(stream, "%" PRIu64, cell.count); break;
    case PROBITY_CELL_FRACTION: fprintf(stream, "%.6f", cell.fraction); break;
    default: fputs(unknown, stream); break;
    }
}

void probity_columns_put_names(FILE *stream, const struct probity_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(stream, ",%s", columns[i].name);
}

void probity_columns_put_csv(FILE *stream, const struct probity_column *columns, size_t count,
                             const void *row)
{
    for (size_t i = 0; i < count; i++) {
        fputc(',', stream);
        put_cell(stream, columns[i].cell(row), "");
    }
}

void probity_columns_put_json(FILE *stream, const struct probity_column *columns, size_t count,
                              const void *row)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(stream, "%s\"%s\": ", i > 0 ? ", " : "", columns[i].name);
        put_cell(stream, columns[i].cell(row), "null");
    }
}
