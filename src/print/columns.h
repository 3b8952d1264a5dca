/* SPDX-License-Identifier: MIT
 *
 * columns.h: columns of a result, defined once for all output formats: a name, and the value in a
 * row. Text tables also take their values from here (answers/report/table.h).
 */
#ifndef PROBITY_PRINT_COLUMNS_H
#define PROBITY_PRINT_COLUMNS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum probity_cell_kind {
    PROBITY_CELL_UNKNOWN = 0, /* empty in CSV, null in JSON */
    PROBITY_CELL_NONE,        /* the row has no such value: empty in CSV, no member in JSON */
    PROBITY_CELL_COUNT,       /* an integer: a number of things, or ns */
    PROBITY_CELL_NS,          /* the same; in text with a unit */
    PROBITY_CELL_FLAG,        /* 0 or 1 in CSV, false or true in JSON */
    PROBITY_CELL_FRACTION,    /* with six decimals; in text as a percentage */
    PROBITY_CELL_REAL,        /* with `digits` significant digits; unknown if not a number */
    PROBITY_CELL_WHOLE,       /* the same, but an integer in JSON if it has no fraction */
    PROBITY_CELL_DECIMAL,     /* with `digits` decimals; unknown if not finite */
    PROBITY_CELL_NUMBER,      /* with `digits` significant digits, without a fraction if it has
                                 none; unknown if not finite */
    PROBITY_CELL_TEXT         /* from a trace, not escaped; NULL: unknown */
};

struct probity_cell {
    enum probity_cell_kind kind;
    unsigned digits;
    union {
        uint64_t count;
        double fraction;
        const char *text;
    };
};

struct probity_column {
    const char *name;
    struct probity_cell (*cell)(const void *row);
};

static inline struct probity_cell probity_cell_unknown(void)
{
    return (struct probity_cell){.kind = PROBITY_CELL_UNKNOWN};
}

static inline struct probity_cell probity_cell_none(void)
{
    return (struct probity_cell){.kind = PROBITY_CELL_NONE};
}

static inline struct probity_cell probity_cell_count(uint64_t count)
{
    return (struct probity_cell){.kind = PROBITY_CELL_COUNT, .count = count};
}

static inline struct probity_cell probity_cell_ns(uint64_t ns)
{
    return (struct probity_cell){.kind = PROBITY_CELL_NS, .count = ns};
}

static inline struct probity_cell probity_cell_flag(int is_set)
{
    return (struct probity_cell){.kind = PROBITY_CELL_FLAG, .count = is_set != 0};
}

static inline struct probity_cell probity_cell_fraction(double fraction)
{
    return (struct probity_cell){.kind = PROBITY_CELL_FRACTION, .fraction = fraction};
}

static inline struct probity_cell probity_cell_real(double value, unsigned digits)
{
    return (struct probity_cell){.kind = PROBITY_CELL_REAL, .digits = digits, .fraction = value};
}

static inline struct probity_cell probity_cell_whole(double value, unsigned digits)
{
    return (struct probity_cell){.kind = PROBITY_CELL_WHOLE, .digits = digits, .fraction = value};
}

static inline struct probity_cell probity_cell_decimal(double value, unsigned digits)
{
    return (struct probity_cell){.kind = PROBITY_CELL_DECIMAL, .digits = digits, .fraction = value};
}

static inline struct probity_cell probity_cell_number(double value, unsigned digits)
{
    return (struct probity_cell){.kind = PROBITY_CELL_NUMBER, .digits = digits, .fraction = value};
}

static inline struct probity_cell probity_cell_text(const char *text)
{
    return (struct probity_cell){.kind = PROBITY_CELL_TEXT, .text = text};
}

/* Defines a function for a column whose value is just taken from the row. NAME: the function; KIND:
 * count, ns, flag, fraction or text; FROM: an expression with `row`, a const TYPE pointer. */
#define PROBITY_COLUMN(NAME, KIND, TYPE, FROM)                                                     \
    static struct probity_cell NAME(const void *any)                                               \
    {                                                                                              \
        const TYPE *row = any;                                                                     \
        return probity_cell_##KIND(FROM);                                                          \
    }

/* ---- CSV ---------------------------------------------------------------------------------------
 */

/* Writes the header line of CSV, or the line of a row. */
void probity_columns_put_head(FILE *stream, const struct probity_column *columns, size_t count);
void probity_columns_put_line(FILE *stream, const struct probity_column *columns, size_t count,
                              const void *row);

/* Same as above, within a line: with a comma before each cell, and without a line feed. */
void probity_columns_put_names(FILE *stream, const struct probity_column *columns, size_t count);
void probity_columns_put_csv(FILE *stream, const struct probity_column *columns, size_t count,
                             const void *row);

/* ---- JSON --------------------------------------------------------------------------------------
 */

/* Writes a value, or null if the row does not have it. Returns the same as below. */
int probity_cell_put_json(FILE *stream, struct probity_cell cell);

/* Writes a row's members of a JSON object, with commas between them. Returns 0, or
 * PROBITY_ERROR_MEMORY, which only texts and reals can cause. */
int probity_columns_put_json(FILE *stream, const struct probity_column *columns, size_t count,
                             const void *row);

/* The same for some of the columns, given by number, in this order. */
int probity_columns_put_members(FILE *stream, const struct probity_column *columns,
                                const unsigned char *numbers, size_t count, const void *row);

#endif
