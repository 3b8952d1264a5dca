/* SPDX-License-Identifier: MIT
 *
 * columns.h: columns of a result, stated once for CSV and JSON: a name, and the value in a row.
 */
#ifndef PROBITY_PRINT_COLUMNS_H
#define PROBITY_PRINT_COLUMNS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum probity_cell_kind {
    PROBITY_CELL_UNKNOWN = 0, /* empty in CSV, null in JSON */
    PROBITY_CELL_COUNT,       /* an integer: a number of things, or ns */
    PROBITY_CELL_FRACTION     /* with six decimals */
};

struct probity_cell {
    enum probity_cell_kind kind;
    uint64_t count;
    double fraction;
};

struct probity_column {
    const char *name;
    struct probity_cell (*cell)(const void *row);
};

static inline struct probity_cell probity_cell_unknown(void)
{
    return (struct probity_cell){PROBITY_CELL_UNKNOWN, 0, 0};
}

static inline struct probity_cell probity_cell_count(uint64_t count)
{
    return (struct probity_cell){PROBITY_CELL_COUNT, count, 0};
}

static inline struct probity_cell probity_cell_fraction(double fraction)
{
    return (struct probity_cell){PROBITY_CELL_FRACTION, 0, fraction};
}

/* Writes the names for the first line of CSV, with a comma before each. */
void probity_columns_put_names(FILE *stream, const struct probity_column *columns, size_t count);

/* Writes a row's values for CSV, with a comma before each. */
void probity_columns_put_csv(FILE *stream, const struct probity_column *columns, size_t count,
                             const void *row);

/* Writes a row's members of a JSON object, with commas between them. */
void probity_columns_put_json(FILE *stream, const struct probity_column *columns, size_t count,
                              const void *row);

#endif
