/* SPDX-License-Identifier: MIT
 *
 * table.h: what tables for people share: which columns there is room for, pictures of one line, and
 * colours by meaning.
 */
#ifndef PROBITY_OUTPUT_TABLE_H
#define PROBITY_OUTPUT_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "analysis/spread.h"

enum { PROBITY_TABLE_COLUMNS_MAX = 64, PROBITY_TABLE_NAME_COLUMNS = 18 };

struct probity_table_column {
    int width; /* 0: is not in this table */
    int rank;  /* those of the highest are given up first; 0: never */
    int what;  /* the table's own */
    const char *title;
    const char *name;          /* where it has no group beside it; NULL: the title */
    const char *group;         /* stands above all neighbours of one group; NULL: nothing does */
    const char *narrow;        /* stands there where they are not as wide */
};

/* Which of the columns, as bits, fit into a line of so many characters (0: of any length) before a
 * name of PROBITY_TABLE_NAME_COLUMNS. */
uint64_t probity_table_fit(const struct probity_table_column *columns, size_t count,
                           size_t line_columns);

/* The groups of those that are shown, without the end of the line: a title stands above the middle,
 * more to the right, as those of columns do. */
void probity_table_put_groups(FILE *stream, const struct probity_table_column *columns,
                              size_t count, uint64_t shown);

/* Their titles, each at the right of its column. Likewise. */
void probity_table_put_head(FILE *stream, const struct probity_table_column *columns, size_t count,
                            uint64_t shown);

/* A line that names those that are not shown, where there are such. hint: its end; may be "". */
void probity_table_put_left(FILE *stream, const struct probity_table_column *columns, size_t count,
                            uint64_t shown, const char *hint);

/* PROBITY_SPREAD_CELLS characters: blank where a cell has no count, else of eight heights, the
 * fullest cell's being the greatest. */
void probity_table_put_spread(FILE *stream, int is_utf8,
                              const uint64_t counts[PROBITY_SPREAD_CELLS]);

/* One line on the scale, for below the table. */
void probity_table_put_scale(FILE *stream, const struct probity_spread *spread);

/* Begins the colour of a share of all: hot from a quarter on, warm from a twentieth on; cold below
 * a thousandth. Returns what ends it; "" where it has none. */
const char *probity_table_begin_share(FILE *stream, double share);

#endif
