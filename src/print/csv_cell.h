/* SPDX-License-Identifier: MIT
 *
 * csv_cell.h: formats text as a CSV cell. The text comes from untrusted traces, so a row is always
 * a single line and contains nothing that controls a terminal.
 */
#ifndef PROBITY_PRINT_CSV_CELL_H
#define PROBITY_PRINT_CSV_CELL_H

#include <stddef.h>
#include <stdio.h>

/* Space for a piece: each byte becomes at most four characters. */
enum { PROBITY_CSV_CELL_PIECE = 128, PROBITY_CSV_CELL_ROOM = 4 * PROBITY_CSV_CELL_PIECE };

/* Whether RFC 4180 requires quotes around the cell: 1 or 0. The caller writes them. */
int probity_csv_cell_is_quoted(const char *text, size_t bytes);

/* Writes the next piece of a text and advances *text and *bytes. Control characters, invalid UTF-8
 * and backslashes become C escapes, quotes are doubled. Returns the end of the output. */
char *probity_csv_cell_piece(char *at, const char **text, size_t *bytes);

/* Writes a whole cell, quoted if necessary. */
void probity_csv_cell_put(FILE *stream, const char *text);

#endif
