/* SPDX-License-Identifier: MIT
 *
 * table.h: shared by text tables: which columns fit, one-line pictures, and colours by meaning.
 */
#ifndef PROBITY_ANSWERS_REPORT_TABLE_H
#define PROBITY_ANSWERS_REPORT_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "analysis/sparkline.h"

enum { PROBITY_TABLE_COLUMNS_MAX = 64, PROBITY_TABLE_NAME_COLUMNS = 18 };

struct probity_table_column {
    int width; /* 0: not in this table */
    int rank;  /* columns of the highest rank are dropped first; 0: never dropped */
    int what;  /* for use by the table */
    const char *title;
    const char *name;          /* title when there is no group above it; NULL: `title` */
    const char *group;         /* title above all neighbours of one group; NULL: none */
    const char *narrow;        /* used instead if the group is too narrow */
};

/* Returns the columns, one bit each, that fit into a line of line_columns characters (0: unlimited)
 * before a name of PROBITY_TABLE_NAME_COLUMNS. */
uint64_t probity_table_fit(const struct probity_table_column *columns, size_t count,
                           size_t line_columns);

/* Writes the group titles of the shown columns, without a line end. Titles are centred; if that is
 * not exact, one column further right, as column titles are right-aligned. */
void probity_table_put_groups(FILE *stream, const struct probity_table_column *columns,
                              size_t count, uint64_t shown);

/* Writes the column titles, right-aligned, without a line end. */
void probity_table_put_head(FILE *stream, const struct probity_table_column *columns, size_t count,
                            uint64_t shown);

/* Writes a line with the names of the columns that are not shown, if any. hint: end of the line;
 * may be "". */
void probity_table_put_left(FILE *stream, const struct probity_table_column *columns, size_t count,
                            uint64_t shown, const char *hint);

/* Writes PROBITY_SPARKLINE_CELLS characters: blank for an empty cell, else one of eight heights,
 * scaled to the fullest cell. */
void probity_table_put_spread(FILE *stream, int is_utf8,
                              const uint64_t counts[PROBITY_SPARKLINE_CELLS]);

/* Writes one line that explains the scale, for below the table. */
void probity_table_put_scale(FILE *stream, const struct probity_sparkline *spread);

/* Begins the colour for a share: hot from a quarter on, warm from a twentieth on; cold below a
 * thousandth. Returns the text that ends the colour, or "" if there is none. */
const char *probity_table_begin_share(FILE *stream, double share);

#endif
