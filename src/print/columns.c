/* SPDX-License-Identifier: MIT
 *
 * columns.c: writes the columns of a result as CSV and JSON.
 */
#include "print/columns.h"

#include <inttypes.h>
#include <math.h>

#include "print/csv_cell.h"
#include "print/json.h"

/* ---- CSV ---------------------------------------------------------------------------------------
 */

static void put_csv(FILE *stream, struct probity_cell cell)
{
    switch (cell.kind) {
    case PROBITY_CELL_COUNT:
    case PROBITY_CELL_NS:
    case PROBITY_CELL_FLAG: fprintf(stream, "%" PRIu64, cell.count); break;
    case PROBITY_CELL_FRACTION: fprintf(stream, "%.6f", cell.fraction); break;
    case PROBITY_CELL_REAL:
    case PROBITY_CELL_WHOLE:
        if (!isnan(cell.fraction))
            fprintf(stream, "%.*g", (int)cell.digits, cell.fraction);
        break;
    case PROBITY_CELL_DECIMAL:
        if (isfinite(cell.fraction))
            fprintf(stream, "%.*f", (int)cell.digits, cell.fraction);
        break;
    case PROBITY_CELL_NUMBER:
        if (isfinite(cell.fraction))
            fprintf(stream, "%.*g", (int)cell.digits, cell.fraction);
        break;
    case PROBITY_CELL_TEXT:
        if (cell.text != NULL)
            probity_csv_cell_put(stream, cell.text);
        break;
    default: break;
    }
}

void probity_columns_put_names(FILE *stream, const struct probity_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputc(',', stream);
        probity_csv_cell_put(stream, columns[i].name);
    }
}

void probity_columns_put_csv(FILE *stream, const struct probity_column *columns, size_t count,
                             const void *row)
{
    for (size_t i = 0; i < count; i++) {
        fputc(',', stream);
        put_csv(stream, columns[i].cell(row));
    }
}

void probity_columns_put_head(FILE *stream, const struct probity_column *columns, size_t count)
{
    probity_csv_cell_put(stream, columns[0].name);
    probity_columns_put_names(stream, columns + 1, count - 1);
    fputc('\n', stream);
}

void probity_columns_put_line(FILE *stream, const struct probity_column *columns, size_t count,
                              const void *row)
{
    put_csv(stream, columns[0].cell(row));
    probity_columns_put_csv(stream, columns + 1, count - 1, row);
    fputc('\n', stream);
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

/* Above this, not every integer is a double. */
#define WHOLE_MAX 9e15

static int put_real(FILE *stream, struct probity_cell cell)
{
    double value = cell.fraction;

    if (!isfinite(value)) {
        fputs("null", stream);
    } else if (cell.kind == PROBITY_CELL_WHOLE && value == floor(value) &&
               fabs(value) < WHOLE_MAX) {
        fprintf(stream, "%" PRId64, (int64_t)value);
    } else {
        return probity_json_put_real(stream, value, cell.digits);
    }
    return 0;
}

/* Decimals and numbers have the same format as in CSV. */
static void put_finite(FILE *stream, struct probity_cell cell)
{
    if (isfinite(cell.fraction))
        put_csv(stream, cell);
    else
        fputs("null", stream);
}

int probity_cell_put_json(FILE *stream, struct probity_cell cell)
{
    switch (cell.kind) {
    case PROBITY_CELL_COUNT:
    case PROBITY_CELL_NS: fprintf(stream, "%" PRIu64, cell.count); break;
    case PROBITY_CELL_FLAG: fputs(cell.count != 0 ? "true" : "false", stream); break;
    case PROBITY_CELL_FRACTION: fprintf(stream, "%.6f", cell.fraction); break;
    case PROBITY_CELL_REAL:
    case PROBITY_CELL_WHOLE: return put_real(stream, cell);
    case PROBITY_CELL_DECIMAL:
    case PROBITY_CELL_NUMBER: put_finite(stream, cell); break;
    case PROBITY_CELL_TEXT: return probity_json_put_text(stream, cell.text);
    default: fputs("null", stream); break;
    }
    return 0;
}

/* *is_first: whether no member was written yet. */
static int put_member(FILE *stream, const struct probity_column *column, const void *row,
                      int *is_first)
{
    struct probity_cell cell = column->cell(row);

    if (cell.kind == PROBITY_CELL_NONE)
        return 0;
    fprintf(stream, "%s\"%s\": ", *is_first ? "" : ", ", column->name);
    *is_first = 0;
    return probity_cell_put_json(stream, cell);
}

int probity_columns_put_json(FILE *stream, const struct probity_column *columns, size_t count,
                             const void *row)
{
    int error = 0, is_first = 1;

    for (size_t i = 0; error == 0 && i < count; i++)
        error = put_member(stream, &columns[i], row, &is_first);
    return error;
}

int probity_columns_put_members(FILE *stream, const struct probity_column *columns,
                                const unsigned char *numbers, size_t count, const void *row)
{
    int error = 0, is_first = 1;

    for (size_t i = 0; error == 0 && i < count; i++)
        error = put_member(stream, &columns[numbers[i]], row, &is_first);
    return error;
}

static json_t *json_of(struct probity_cell cell)
{
    switch (cell.kind) {
    case PROBITY_CELL_COUNT:
    case PROBITY_CELL_NS: return probity_json_integer(cell.count);
    case PROBITY_CELL_FLAG: return json_boolean(cell.count != 0);
    case PROBITY_CELL_FRACTION:
    case PROBITY_CELL_REAL:
    case PROBITY_CELL_WHOLE:
    case PROBITY_CELL_DECIMAL:
    case PROBITY_CELL_NUMBER:
        return isfinite(cell.fraction) ? json_real(cell.fraction) : json_null();
    case PROBITY_CELL_TEXT:
        return cell.text != NULL ? probity_json_string(cell.text) : json_null();
    default: return json_null();
    }
}

void probity_columns_set_json(json_t *object, const struct probity_column *columns, size_t count,
                              const void *row)
{
    for (size_t i = 0; i < count; i++) {
        struct probity_cell cell = columns[i].cell(row);
        if (cell.kind != PROBITY_CELL_NONE)
            json_object_set_new(object, columns[i].name, json_of(cell));
    }
}
