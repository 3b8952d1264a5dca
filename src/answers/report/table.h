/* SPDX-License-Identifier: MIT
 *
 * table.h: parts of text tables: which columns fit, their cells, one-line charts, and colors by
 * meaning.
 */
#ifndef PROBITY_ANSWERS_REPORT_TABLE_H
#define PROBITY_ANSWERS_REPORT_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "analysis/sparkline.h"
#include "print/columns.h"

enum {
    PROBITY_TABLE_COLUMNS_MAX = 64,
    PROBITY_TABLE_NAME_COLUMNS = 18,
    PROBITY_TABLE_TEXT_BYTES = 64
};

struct probity_table_column {
    int width; /* 0: not in this table */
    int rank;  /* the highest rank is dropped first; 0: never dropped */
    int what;  /* for the use of the table */
    const char *title;
    const char *name;          /* title without a group above it; NULL: `title` */
    const char *group;         /* title above adjacent columns of a group, or NULL */
    const char *narrow;        /* replaces `group` if the group is too narrow */
};

/* How the cells of a column are written. */
struct probity_table_cell {
    int value;   /* index of the column in probity_table.values */
    int is_left; /* left-aligned */
    int indent;  /* blanks before the cell, which are part of its column's width */
    /* Returns `text`, which has PROBITY_TABLE_TEXT_BYTES, or another text. If the pointer or its
     * result is NULL, the value is formatted as usual. */
    const char *(*text)(const void *row, char *text);
    const char *(*color)(const void *row); /* escape sequence of its color, or ""; NULL: none */
};

/* A table whose values are columns of a result, as in CSV and JSON. */
struct probity_table {
    const struct probity_table_column *columns;
    const struct probity_table_cell *cells; /* one per column */
    size_t count;
    uint64_t shown; /* one bit per column */
    const struct probity_column *values;
    int has_color;
};

/* Returns the columns, one bit each, that fit into line_columns characters (0: unlimited), leaving
 * PROBITY_TABLE_NAME_COLUMNS for a name. */
uint64_t probity_table_fit(const struct probity_table_column *columns, size_t count,
                           size_t line_columns);

/* Writes the group titles of the shown columns, without a line end. Titles are centered, or, if
 * that is not possible, one column further right, because column titles are right-aligned. */
void probity_table_put_groups(FILE *stream, const struct probity_table_column *columns,
                              size_t count, uint64_t shown);

/* Writes the column titles, right-aligned, without a line end. */
void probity_table_put_head(FILE *stream, const struct probity_table_column *columns, size_t count,
                            uint64_t shown);

/* Writes the column titles, aligned like the cells, or the cells of a row, without a line end. A
 * text that is too long shifts those after it. */
void probity_table_put_titles(FILE *stream, const struct probity_table *table);
void probity_table_put_cells(FILE *stream, const struct probity_table *table, const void *row);

/* Writes a line that names the columns not shown, if any. hint: the end of the line; may be "". */
void probity_table_put_left(FILE *stream, const struct probity_table_column *columns, size_t count,
                            uint64_t shown, const char *hint);

/* Writes PROBITY_SPARKLINE_CELLS characters: a blank for an empty cell, else one of eight heights
 * relative to the fullest cell. */
void probity_table_put_spread(FILE *stream, int is_utf8,
                              const uint64_t counts[PROBITY_SPARKLINE_CELLS]);

/* Writes the line below a table that explains the scale. */
void probity_table_put_scale(FILE *stream, const struct probity_sparkline *spread);

/* Starts the color for a share: hot from a quarter, warm from a twentieth, cold below a thousandth.
 * Returns the text that ends the color, or "". */
const char *probity_table_begin_share(FILE *stream, double share);

#endif
