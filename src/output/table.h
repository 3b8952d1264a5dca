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
    int width;
    int rank; /* those of the highest are given up first; 0: never */
};

/* Which of the columns, as bits, fit into a line of so many characters (0: of any length) before a
 * name of PROBITY_TABLE_NAME_COLUMNS. */
uint64_t probity_table_fit(const struct probity_table_column *columns, size_t count,
                           size_t line_columns);

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
